//! One or several friends around one project, asked the same at once: who they are, what each remembers, how long
//! they have, and one look at the project around all of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use relaycode_friend::ask::{AskError, AskOutcome};
use relaycode_friend::driver::parallel::run_parallel;
use relaycode_friend::friend::SessionSupport;
use relaycode_friend::friends::ResolvedFriend;
use relaycode_friend::session::{FriendSession, FriendSessionStore, FriendSessionUpdate};
use relaycode_friend::tree_check::{TreeCheck, TreeCheckError, TreeCheckGap, TreeCheckReport};
use relaycode_friend::{Friend, FriendContext, FriendEvent, FriendFailure as Friends, TurnMemory};
use relaycode_project::config;
use relaycode_project::git::Git;
use relaycode_project::root;

use super::args::{TargetArgs, timeout_from};
use super::event_printer::FriendEventPrinter;
use super::friend_context::{StopCheck, find_friends, known_friends, new_friend_context};
use crate::report::failure::CommandFailure;
use crate::wiring::context::CommandContext;

/// Friends who are asked the same.
pub(crate) struct FriendGroup<'a> {
    pub(crate) friend_context: FriendContext<'a>,
    pub(crate) root: PathBuf,
    pub(crate) total_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    friends: Vec<ResolvedFriend>,
    model: Option<String>,
    session: Option<GroupSession>,
    stream_text: bool,
}

/// A conversation that goes on by name.
struct GroupSession {
    name: String,
    store: FriendSessionStore,
    previous: Option<FriendSession>,
    remarks: Vec<String>,
}

/// What came of asking one of them.
pub(crate) struct FriendResult<T> {
    /// Who.
    pub(crate) friend_name: String,
    pub(crate) result: Result<T, AskError>,
    /// What there is to say of its session.
    pub(crate) remarks: Vec<String>,
}

/// What came of asking all of them.
pub(crate) struct GroupResult<T> {
    pub(crate) results: Vec<FriendResult<T>>,
    /// The words stand on the screen already.
    pub(crate) text_shown: bool,
    /// What was changed while several of them ran; of one alone its answer says so.
    pub(crate) tree_check: TreeCheckReport,
}

/// What a friend's answer was.
pub(crate) trait HasAskOutcome {
    fn ask_outcome(&self) -> &AskOutcome;
}

impl HasAskOutcome for AskOutcome {
    fn ask_outcome(&self) -> &AskOutcome {
        self
    }
}

/// What is particular to one of several friends.
pub(crate) struct FriendCall<'a> {
    pub(crate) friend: &'a dyn Friend,
    pub(crate) model: Option<String>,
    pub(crate) memory: TurnMemory,
    /// It has to look at the project itself, before and after.
    pub(crate) check_tree: bool,
}

impl<'a> FriendGroup<'a> {
    /// Finds everybody who is to be asked, and the project.
    pub(crate) fn resolve(
        whom: &TargetArgs,
        context: &CommandContext<'_>,
        stop: StopCheck<'a>,
    ) -> Result<FriendGroup<'a>, CommandFailure> {
        let home = context.home.path.as_deref();
        let root = project_root(context)?;
        let loaded = config::load(&root, home)?;
        let configured = &loaded.config.friends;
        let chosen = find_friends(&known_friends(context), &whom.friend_names(&loaded.config))?;
        let session = match (&whom.session, chosen.as_slice()) {
            (None, _) => None,
            (Some(name), [one]) => Some(GroupSession::open(name, one.friend(), &root, home)?),
            (Some(_), _) => {
                return Err(CommandFailure::usage(
                    "a conversation goes on with one friend, and several are named",
                )
                .with_hint("name one of them after --to, or leave --session out"));
            }
        };
        Ok(FriendGroup {
            friend_context: new_friend_context(context, stop)?,
            root,
            total_timeout: timeout_from(whom.timeout, configured.timeout)?,
            idle_timeout: timeout_from(whom.idle_timeout, configured.idle_timeout)?,
            friends: chosen,
            model: whom.model.clone(),
            session,
            stream_text: whom.stream,
        })
    }

    /// The only one, and its model; none if there are several.
    pub(crate) fn single_friend(&self) -> Option<(&dyn Friend, Option<String>)> {
        match self.friends.as_slice() {
            [one] => Some((one.friend(), self.model_of(one))),
            _ => None,
        }
    }

    fn model_of(&self, chosen: &ResolvedFriend) -> Option<String> {
        chosen.model.clone().or_else(|| self.model.clone())
    }

    /// Asks all of them, each by `ask`. The project is looked at around them if `check` says so.
    pub(crate) fn ask_all<T: HasAskOutcome + Send>(
        &self,
        check: bool,
        ask: impl Fn(&FriendCall<'_>, &FriendContext<'_>, &mut dyn FnMut(FriendEvent)) -> Result<T, AskError>
        + Sync,
        context: &mut CommandContext<'_>,
    ) -> Result<GroupResult<T>, CommandFailure> {
        let alone = self.friends.len() == 1;
        let before = if check && !alone { Some(self.start_tree_check()) } else { None };
        let names: Vec<String> = self.friends.iter().map(display_name).collect();
        let mut listener = FriendEventPrinter::new(names.clone(), self.stream_text, context);
        let results = run_parallel(
            self.friends.len(),
            |at, hear| {
                let chosen = &self.friends[at];
                let part = FriendCall {
                    friend: chosen.friend(),
                    model: self.model_of(chosen),
                    memory: self.memory_for(chosen.friend()),
                    check_tree: check && alone,
                };
                ask(&part, &self.friend_context, hear)
            },
            &mut |at, event| listener.print_event(at, &event, context),
        );
        listener.finish(context);
        let results = results.map_err(CommandFailure::usage)?;
        let heard = results.into_iter().zip(names).zip(&self.friends);
        let heard: Vec<FriendResult<T>> =
            heard.map(|((result, name), chosen)| self.save_answer(name, chosen.friend(), result)).collect();
        let looked = match before {
            None => TreeCheckReport::default(),
            Some(Ok(watch)) => watch.finish(self.friend_context.stop_requested),
            Some(Err(error)) => TreeCheckReport {
                gap: Some(TreeCheckGap::NoBaseline(error.to_string())),
                ..TreeCheckReport::default()
            },
        };
        Ok(GroupResult { results: heard, text_shown: listener.has_printed_text(), tree_check: looked })
    }

    fn start_tree_check(&self) -> Result<TreeCheck, TreeCheckError> {
        let git = Git::new(&self.friend_context.runner, &self.root);
        TreeCheck::begin(&self.root, Some(&git), &|| (self.friend_context.stop_requested)())
    }

    fn memory_for(&self, friend: &dyn Friend) -> TurnMemory {
        match &self.session {
            None => TurnMemory::None,
            Some(GroupSession { previous: Some(session), .. }) => session.memory(),
            Some(_) if friend.abilities().sessions == SessionSupport::Replayed => {
                TurnMemory::Replay(Vec::new())
            }
            Some(_) => TurnMemory::Begin,
        }
    }

    /// Remembers a good answer under the name of its conversation.
    fn save_answer<T: HasAskOutcome>(
        &self,
        name: String,
        friend: &dyn Friend,
        mut result: Result<T, AskError>,
    ) -> FriendResult<T> {
        let mut remarks = Vec::new();
        if let Some(session) = &self.session {
            remarks.extend(session.remarks.iter().cloned());
            match &mut result {
                Ok(answered) => {
                    let said = FriendSessionUpdate {
                        name: &session.name,
                        friend,
                        project: &self.root,
                        prompt: answered.ask_outcome().sent.prompt.as_deref().unwrap_or_default(),
                        answer: &answered.ask_outcome().answer,
                        at: Timestamp::now(),
                    };
                    match session.store.save(&said) {
                        Ok(more) => remarks.extend(more),
                        Err(error) => remarks.push(format!("this answer is not remembered: {error}")),
                    }
                }
                Err(AskError::Friend(failed)) => {
                    // The user knows it by its name, and not by the friend's id for it.
                    if let Friends::UnknownSession { id, .. } = &mut failed.failure {
                        id.clone_from(&session.name);
                    }
                }
                Err(_) => {}
            }
        }
        FriendResult { friend_name: name, result, remarks }
    }
}

impl GroupSession {
    fn open(
        name: &str,
        friend: &dyn Friend,
        root: &Path,
        home: Option<&Path>,
    ) -> Result<GroupSession, CommandFailure> {
        let store = FriendSessionStore::open(home);
        let found = store.find(name, friend.name(), root)?;
        Ok(GroupSession { name: name.to_string(), store, previous: found.session, remarks: found.remarks })
    }
}

/// What a friend is called, with the model that was named for it.
fn display_name(chosen: &ResolvedFriend) -> String {
    let name = chosen.friend().name();
    chosen.model.as_ref().map_or_else(|| name.to_string(), |model| format!("{name}/{model}"))
}

/// The project that the directory lies in; where there is none, the directory.
pub(crate) fn project_root(context: &CommandContext<'_>) -> Result<PathBuf, CommandFailure> {
    let directory = &context.options.directory;
    if let Ok(found) = root::find(directory, context.home.path.as_deref(), &context.home.ceilings) {
        return Ok(found.path);
    }
    let real = directory.canonicalize().ok().filter(|real| real.is_dir());
    real.ok_or_else(|| {
        CommandFailure::usage(format!("{} is no directory", directory.display()))
            .with_hint("give the project with `-C DIR`")
    })
}
