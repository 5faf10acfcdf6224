//! One or several friends around one project, asked the same at once: who they are, what each remembers, how long
//! they have, and one look at the project around all of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use relaycode_friend::ask::{AskError, Asked};
use relaycode_friend::friend::Sessions;
use relaycode_friend::friends::Chosen;
use relaycode_friend::session::{Said, Session, Store};
use relaycode_friend::several::several;
use relaycode_friend::tree::{Looked, TreeError, Unseen, Watch};
use relaycode_friend::{Event, Failure as Friends, Friend, Memory, World};
use relaycode_project::config;
use relaycode_project::git::Git;
use relaycode_project::root;

use super::arguments::{Whom, seconds};
use super::listen::Listener;
use super::world::{Stop, chosen, friends, world};
use crate::context::Context;
use crate::failure::Failure;

/// Friends who are asked the same.
pub(crate) struct Circle<'a> {
    pub(crate) world: World<'a>,
    pub(crate) root: PathBuf,
    pub(crate) total: Duration,
    pub(crate) idle: Duration,
    chosen: Vec<Chosen>,
    model: Option<String>,
    session: Option<Named>,
    stream: bool,
}

/// A conversation that goes on by name.
struct Named {
    name: String,
    store: Store,
    before: Option<Session>,
    remarks: Vec<String>,
}

/// What came of asking one of them.
pub(crate) struct Heard<T> {
    /// Who.
    pub(crate) name: String,
    pub(crate) result: Result<T, AskError>,
    /// What there is to say of its session.
    pub(crate) remarks: Vec<String>,
}

/// What came of asking all of them.
pub(crate) struct Round<T> {
    pub(crate) heard: Vec<Heard<T>>,
    /// The words stand on the screen already.
    pub(crate) shown: bool,
    /// What was changed while several of them ran; of one alone its answer says so.
    pub(crate) looked: Looked,
}

/// What a friend's answer was.
pub(crate) trait Answered {
    fn asked(&self) -> &Asked;
}

impl Answered for Asked {
    fn asked(&self) -> &Asked {
        self
    }
}

/// What is particular to one of several friends.
pub(crate) struct Part<'a> {
    pub(crate) friend: &'a dyn Friend,
    pub(crate) model: Option<String>,
    pub(crate) memory: Memory,
    /// It has to look at the project itself, before and after.
    pub(crate) check_tree: bool,
}

impl<'a> Circle<'a> {
    /// Finds everybody who is to be asked, and the project.
    pub(crate) fn gather(whom: &Whom, context: &Context<'_>, stop: Stop<'a>) -> Result<Circle<'a>, Failure> {
        let home = context.home.path.as_deref();
        let root = project(context)?;
        let loaded = config::load(&root, home)?;
        let configured = &loaded.config.friends;
        let chosen = chosen(&friends(context), &whom.names(&loaded.config))?;
        let session = match (&whom.session, chosen.as_slice()) {
            (None, _) => None,
            (Some(name), [one]) => Some(Named::find(name, one.friend(), &root, home)?),
            (Some(_), _) => {
                return Err(Failure::usage("a conversation goes on with one friend, and several are named")
                    .hint("name one of them after --to, or leave --session out"));
            }
        };
        Ok(Circle {
            world: world(context, stop)?,
            root,
            total: seconds(whom.timeout, configured.timeout)?,
            idle: seconds(whom.idle_timeout, configured.idle_timeout)?,
            chosen,
            model: whom.model.clone(),
            session,
            stream: whom.stream,
        })
    }

    /// The only one, and its model; none if there are several.
    pub(crate) fn only(&self) -> Option<(&dyn Friend, Option<String>)> {
        match self.chosen.as_slice() {
            [one] => Some((one.friend(), self.model_of(one))),
            _ => None,
        }
    }

    fn model_of(&self, chosen: &Chosen) -> Option<String> {
        chosen.model.clone().or_else(|| self.model.clone())
    }

    /// Asks all of them, each by `ask`. The project is looked at around them if `check` says so.
    pub(crate) fn ask<T: Answered + Send>(
        &self,
        check: bool,
        ask: impl Fn(&Part<'_>, &World<'_>, &mut dyn FnMut(Event)) -> Result<T, AskError> + Sync,
        context: &mut Context<'_>,
    ) -> Result<Round<T>, Failure> {
        let alone = self.chosen.len() == 1;
        let before = if check && !alone { Some(self.look()) } else { None };
        let names: Vec<String> = self.chosen.iter().map(name).collect();
        let mut listener = Listener::begin(names.clone(), self.stream, context);
        let results = several(
            self.chosen.len(),
            |at, hear| {
                let chosen = &self.chosen[at];
                let part = Part {
                    friend: chosen.friend(),
                    model: self.model_of(chosen),
                    memory: self.memory(chosen.friend()),
                    check_tree: check && alone,
                };
                ask(&part, &self.world, hear)
            },
            &mut |at, event| listener.hear(at, &event, context),
        );
        listener.end(context);
        let results = results.map_err(Failure::usage)?;
        let heard = results.into_iter().zip(names).zip(&self.chosen);
        let heard: Vec<Heard<T>> =
            heard.map(|((result, name), chosen)| self.remembered(name, chosen.friend(), result)).collect();
        let looked = match before {
            None => Looked::default(),
            Some(Ok(watch)) => watch.end(self.world.stop),
            Some(Err(error)) => {
                Looked { unseen: Some(Unseen::Blind(error.to_string())), ..Looked::default() }
            }
        };
        Ok(Round { heard, shown: listener.has_shown(), looked })
    }

    fn look(&self) -> Result<Watch, TreeError> {
        let git = Git::new(&self.world.runner, &self.root);
        Watch::begin(&self.root, Some(&git), &|| (self.world.stop)())
    }

    fn memory(&self, friend: &dyn Friend) -> Memory {
        match &self.session {
            None => Memory::None,
            Some(Named { before: Some(session), .. }) => session.memory(),
            Some(_) if friend.abilities().sessions == Sessions::Replayed => Memory::Replay(Vec::new()),
            Some(_) => Memory::Begin,
        }
    }

    /// Remembers a good answer under the name of its conversation.
    fn remembered<T: Answered>(
        &self,
        name: String,
        friend: &dyn Friend,
        mut result: Result<T, AskError>,
    ) -> Heard<T> {
        let mut remarks = Vec::new();
        if let Some(session) = &self.session {
            remarks.extend(session.remarks.iter().cloned());
            match &mut result {
                Ok(answered) => {
                    let said = Said {
                        name: &session.name,
                        friend,
                        project: &self.root,
                        asked: answered.asked().sent.prompt.as_deref().unwrap_or_default(),
                        answer: &answered.asked().answer,
                        at: Timestamp::now(),
                    };
                    match session.store.save(&said) {
                        Ok(more) => remarks.extend(more),
                        Err(error) => remarks.push(format!("this answer is not remembered: {error}")),
                    }
                }
                Err(AskError::Friend(failed)) => {
                    // The user knows it by its name, and not by the friend's id for it.
                    if let Friends::NoSession { id, .. } = &mut failed.failure {
                        id.clone_from(&session.name);
                    }
                }
                Err(_) => {}
            }
        }
        Heard { name, result, remarks }
    }
}

impl Named {
    fn find(name: &str, friend: &dyn Friend, root: &Path, home: Option<&Path>) -> Result<Named, Failure> {
        let store = Store::open(home);
        let found = store.find(name, friend.name(), root)?;
        Ok(Named { name: name.to_string(), store, before: found.session, remarks: found.remarks })
    }
}

/// What a friend is called, with the model that was named for it.
fn name(chosen: &Chosen) -> String {
    let name = chosen.friend().name();
    chosen.model.as_ref().map_or_else(|| name.to_string(), |model| format!("{name}/{model}"))
}

/// The project that the directory lies in; where there is none, the directory.
pub(crate) fn project(context: &Context<'_>) -> Result<PathBuf, Failure> {
    let directory = &context.options.directory;
    if let Ok(found) = root::find(directory, context.home.path.as_deref(), &context.home.ceilings) {
        return Ok(found.path);
    }
    let real = directory.canonicalize().ok().filter(|real| real.is_dir());
    real.ok_or_else(|| {
        Failure::usage(format!("{} is no directory", directory.display()))
            .hint("give the project with `-C DIR`")
    })
}
