//! One or several friends around one project, asked the same at once: who they are, what each remembers, how long
//! they have, and one look at the project around all of them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use relaycode_friend::friend::SessionSupport;
use relaycode_friend::friends::ResolvedFriend;
use relaycode_friend::session::{FriendSession, FriendSessionStore, FriendSessionUpdate};
use relaycode_friend::tree_check::{TreeCheck, TreeCheckGap, TreeCheckReport};
use relaycode_friend::{
    AnswerFormat, AskError, AskRequest, Friend, FriendContext, FriendFailure, FriendResult, TurnLimits,
    TurnMemory, ask, run_parallel,
};
use relaycode_project::checkout::{CheckoutKey, CheckoutKeys};
use relaycode_project::config::Config;
use relaycode_project::git::Git;
use relaycode_project::root;

use super::args::{FriendArgs, timeout_from};
use super::event_printer::FriendEventPrinter;
use super::friend_context::{StopCheck, find_friends, known_friends, new_friend_context};
use crate::{CommandContext, CommandFailure, CommandResult};

pub(crate) struct FriendGroup<'a> {
    pub(crate) friend_context: FriendContext<'a>,
    friends: Vec<ResolvedFriend>,
    session: Option<GroupSession>,
    args: FriendArgs,
}

struct GroupSession {
    name: String,
    store: FriendSessionStore,
    /// What must not be kept: the key of this checkout, which prompts name and answers repeat.
    hidden: Option<CheckoutKey>,
    previous: Option<FriendSession>,
    remarks: Vec<String>,
}

pub(crate) struct GroupResult {
    pub(crate) results: Vec<FriendResult>,
    pub(crate) text_shown: bool,
    pub(crate) tree_check: TreeCheckReport,
}

impl<'a> FriendGroup<'a> {
    /// Finds everybody who is to be asked, and begins the request: in which project, with which model, how long.
    pub(crate) fn resolve(
        args: &FriendArgs,
        session: Option<&str>,
        root: PathBuf,
        config: &Config,
        ctx: &CommandContext<'_>,
        stop: StopCheck<'a>,
    ) -> CommandResult<(FriendGroup<'a>, AskRequest)> {
        let home = ctx.home.path.as_deref();
        let configured = &config.friends;
        let chosen = find_friends(&known_friends(ctx), &args.friend_names(config))?;
        let session = match (session, chosen.as_slice()) {
            (None, _) => None,
            (Some(name), [one]) => Some(GroupSession::open(name, one.friend(), &root, home)?),
            (Some(_), _) => {
                return Err(CommandFailure::usage(
                    "a conversation is with one friend, but several are named",
                )
                .hint("name one of them after --to, or leave --session out"));
            }
        };
        let friend_context = new_friend_context(ctx, stop)?;
        let total = timeout_from(args.timeout, configured.timeout)?;
        let limits = TurnLimits::new(total, timeout_from(args.idle_timeout, configured.idle_timeout)?);
        let request = AskRequest { model: args.model.clone(), ..AskRequest::new("", root, limits) };
        let group = FriendGroup { friend_context, friends: chosen, session, args: args.clone() };
        Ok((group, request))
    }

    /// The only one, with the request for it; none if there are several.
    pub(crate) fn single_friend(&self, request: &AskRequest) -> Option<(&dyn Friend, AskRequest)> {
        match self.friends.as_slice() {
            [one] => Some((one.friend(), self.request_for(one, request))),
            _ => None,
        }
    }

    /// The request as it goes to one of them, whose time begins now.
    fn request_for(&self, chosen: &ResolvedFriend, request: &AskRequest) -> AskRequest {
        AskRequest {
            model: chosen.model.clone().or_else(|| request.model.clone()),
            memory: self.memory_for(chosen.friend()),
            limits: request.limits.restarted(),
            // Of several, once around all of them.
            check_tree: request.check_tree && self.friends.len() == 1,
            ..request.clone()
        }
    }

    /// Asks all of them at once.
    pub(crate) fn ask_all(
        &self,
        request: &AskRequest,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<GroupResult> {
        let stop = self.friend_context.stop_requested;
        let before = (request.check_tree && self.friends.len() != 1).then(|| {
            let git = Git::new(&self.friend_context.runner, &request.directory);
            TreeCheck::begin(&request.directory, Some(&git), stop)
        });
        let names: Vec<String> = self.friends.iter().map(display_name).collect();
        // JSON that is asked for is checked before anybody reads it.
        let shows_words = self.args.shows_words(request.format == AnswerFormat::Text, ctx);
        let request = &AskRequest { live_text: shows_words, ..request.clone() };
        let mut listener = FriendEventPrinter::new(names.clone(), shows_words, ctx);
        let results = run_parallel(
            self.friends.len(),
            |at, hear| {
                let chosen = &self.friends[at];
                let request = self.request_for(chosen, request);
                ask(chosen.friend(), &request, &self.friend_context, hear)
            },
            &mut |at, event| listener.print_event(at, &event, ctx),
        );
        listener.finish(ctx);
        let mut results = results.map_err(CommandFailure::usage)?;
        for ((result, name), chosen) in results.iter_mut().zip(names).zip(&self.friends) {
            result.friend = name;
            if let Some(session) = &self.session {
                session.save(chosen.friend(), &request.directory, result);
            }
        }
        let mut tree_check = match before {
            None => TreeCheckReport::default(),
            Some(Ok(watch)) => watch.finish(stop),
            Some(Err(error)) => TreeCheckReport {
                gap: Some(TreeCheckGap::NoBaseline(error.to_string())),
                ..TreeCheckReport::default()
            },
        };
        for FriendResult { tree_check: looked, .. } in &mut results {
            tree_check.changes.append(&mut looked.changes);
            tree_check.gap = tree_check.gap.take().or_else(|| looked.gap.take());
        }
        Ok(GroupResult { results, text_shown: listener.has_printed_text(), tree_check })
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
}

impl GroupSession {
    fn open(name: &str, friend: &dyn Friend, root: &Path, home: Option<&Path>) -> CommandResult<Self> {
        let store = FriendSessionStore::open(home);
        let found = store.find(name, friend.name(), root)?;
        // A key that cannot be read is none that a prompt could have named.
        let hidden = CheckoutKeys::new(home).key(root).ok().flatten();
        let (name, previous, remarks) = (name.to_string(), found.session, found.remarks);
        Ok(GroupSession { name, store, hidden, previous, remarks })
    }

    fn save(&self, friend: &dyn Friend, project: &Path, result: &mut FriendResult) {
        result.remarks.extend(self.remarks.iter().cloned());
        match &mut result.answer {
            Ok(answer) => {
                let prompt = result.sent.as_ref().and_then(|sent| sent.prompt.as_deref());
                let (mut prompt, mut answer) = (prompt.unwrap_or_default().to_string(), answer.clone());
                if let Some(key) = &self.hidden {
                    key.redact(&mut prompt);
                    key.redact(&mut answer.text);
                }
                let (name, prompt, answer, at) = (&self.name, &prompt, &answer, Timestamp::now());
                match self.store.save(&FriendSessionUpdate { name, friend, project, prompt, answer, at }) {
                    Ok(more) => result.remarks.extend(more),
                    Err(error) => result.remarks.push(format!("this answer is not remembered: {error}")),
                }
            }
            // The user knows it by its name, and not by the friend's id for it.
            Err(AskError::Friend(FriendFailure::UnknownSession { id, .. })) => id.clone_from(&self.name),
            Err(_) => {}
        }
    }
}

fn display_name(chosen: &ResolvedFriend) -> String {
    let name = chosen.friend().name();
    chosen.model.as_ref().map_or_else(|| name.to_string(), |model| format!("{name}/{model}"))
}

/// The project that the directory lies in; where there is none, the directory.
pub(crate) fn project_root(ctx: &CommandContext<'_>) -> CommandResult<PathBuf> {
    let directory = &ctx.options.directory;
    if let Ok(found) = root::find(directory, ctx.home.path.as_deref(), &ctx.home.ceilings) {
        return Ok(found.path);
    }
    let real = directory.canonicalize().ok().filter(|real| real.is_dir());
    real.ok_or_else(|| {
        CommandFailure::usage(format!("{} is no directory", directory.display()))
            .hint("give the project with `-C DIR`")
    })
}
