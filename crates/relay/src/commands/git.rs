//! `relay git commit`: what relay applied becomes a commit, and nothing else does.

use clap::Subcommand;
use relaycode_door::Door;
use relaycode_door::commit::{self, CommitError, CommitPlan};
use relaycode_ledger::TxId;
use relaycode_ledger::record::Record;
use relaycode_project::config::LogLevel;
use relaycode_project::git::{Git, GitError};
use relaycode_tui as view;
use relaycode_tui::clock;
use serde_json::json;

use crate::ask::{self, is_yes};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::project::Project;
use crate::signals::Held;

/// Work with git
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    Commit(CommitArgs),
}

/// Commit what changes of the ledger did, with the message of their author
///
/// Only the files of these changes go into the commit, whatever else is staged or edited. The repository's
/// hooks, filters and signing run, once you trust them. A file that also holds other edits is named and
/// asked about.
#[derive(Debug, Clone, clap::Args)]
struct CommitArgs {
    /// Changes: numbers of `relay log` or ids; the latest if none is named
    #[arg(value_name = "ID|N")]
    names: Vec<String>,

    /// The message, instead of the author's
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// Commit files that also hold other edits, with these
    #[arg(long)]
    with_edits: bool,

    /// Do not ask whether to commit
    #[arg(short, long)]
    yes: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "git"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let What::Commit(args) = &self.what;
        let project = Project::open(context)?;
        project.recover(context)?;
        let ids = args.ids(&project)?;
        let mut records = Vec::new();
        for id in ids {
            records.push(project.ledger.record(id)?);
        }
        records.sort_by_key(|record| record.number);
        let door = project.door(context)?;
        args.commit(&door, &records, context)
    }
}

impl CommitArgs {
    /// The changes that are meant.
    fn ids(&self, project: &Project) -> Result<Vec<TxId>, Failure> {
        let mut ids = Vec::new();
        for name in &self.names {
            ids.extend(project.find(name)?.ids());
        }
        if self.names.is_empty() {
            ids = latest(project)?;
        }
        Ok(ids)
    }

    fn commit(&self, door: &Door, records: &[Record], context: &mut Context<'_>) -> Result<Exit, Failure> {
        // Hooks may take long: whoever stops them gets the index back as it was.
        let signals = Held::begin()?;
        let stopped = || signals.asked();
        let git = door.git().with_stop(&stopped);
        let plan = commit::plan(door, &git, records)?;
        if plan.nothing_left {
            return Ok(nothing_left(door, records, context));
        }
        let message = match self.message.clone().or_else(|| plan.message.clone()) {
            Some(message) => message,
            None => return Err(Failure::usage("these changes have no message").hint("give one with `-m`")),
        };
        trusted(door, &git, context)?;
        let look = context.console.err_look();
        let card = view::commit::text(&plan, &message, &door.head(), &look);
        self.consent(&plan, &card, context)?;
        let paths: Vec<&str> = plan.paths.iter().map(String::as_str).collect();
        let committed = git.commit(&paths, &message)?;
        let look = context.look();
        if !committed.output.trim().is_empty() {
            context.say(&view::gate::tail(&committed.output, &look));
        }
        context.say(&view::commit::done(&committed.id, paths.len(), &door.head(), &look));
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "git", "project": door.root.to_string_lossy(),
            "commit": committed.id, "files": paths, "message": message,
            "ids": records.iter().map(|record| record.uuid.to_string()).collect::<Vec<_>>(),
        }));
        Ok(Exit::Done)
    }

    /// Asks about the commit, and about edits in it that are not relay's.
    fn consent(&self, plan: &CommitPlan, card: &str, context: &mut Context<'_>) -> Result<(), Failure> {
        let mixed = !plan.mixed.is_empty() && !self.with_edits;
        if self.yes && !mixed {
            context.say(card);
            return Ok(());
        }
        let Some(terminal) = ask::terminal() else {
            context.say(card);
            let (said, hint) = if mixed {
                ("files of this commit also hold other edits", "`--with-edits` commits them as they are")
            } else {
                ("somebody has to say yes, and there is no terminal to ask on", "`-y` commits without asking")
            };
            return Err(ask::nobody(said, hint));
        };
        terminal.say(card);
        let question = if mixed { "  commit it with the other edits? [y/N]  " } else { "  commit? [y/N]  " };
        if is_yes(&ask::ask(&terminal, question)?) {
            return Ok(());
        }
        Err(Failure::new(Exit::Declined, "declined", "not committed").left(State::Unchanged))
    }
}

/// All of it is committed already.
fn nothing_left(door: &Door, records: &[Record], context: &mut Context<'_>) -> Exit {
    let said = "nothing of it is left to commit: its files are as they are in the last commit";
    let look = context.look();
    context.say(&view::outcome::done(&look, said));
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "git", "project": door.root.to_string_lossy(),
        "commit": null, "files": [], "message": null,
        "ids": records.iter().map(|record| record.uuid.to_string()).collect::<Vec<_>>(),
    }));
    Exit::Done
}

/// The latest change that is still in.
fn latest(project: &Project) -> Result<Vec<TxId>, Failure> {
    /// Entries that are looked at.
    const NEAR: usize = 100;
    let page = project.ledger.page(0, NEAR)?;
    let still_in = page.entries.iter().find(|entry| {
        entry.members.iter().all(|item| !item.undone && item.revert_of.is_empty() && item.damage.is_none())
    });
    let target = still_in.and_then(|entry| entry.target()).ok_or_else(|| {
        Failure::usage("there is no change to commit").hint("`relay log` lists what was applied")
    })?;
    Ok(target.ids())
}

/// What the repository would run must be trusted: a commit runs its hooks and filters.
fn trusted(door: &Door, git: &Git<'_>, context: &mut Context<'_>) -> Result<(), Failure> {
    let wants = relaycode_project::trust::Wants { git: git.what_would_run()?, ..Default::default() };
    let trust = door.trust();
    if trust.git_state(&door.root, &wants).allows() {
        return Ok(());
    }
    let look = context.console.err_look();
    let text = view::trust::text(&wants, None, &look);
    let Some(terminal) = ask::terminal() else {
        context.beside(LogLevel::Error, &text);
        let said = format!(
            "a commit here runs {} of the repository, which you have not trusted yet",
            view::number(wants.git.len(), "program")
        );
        return Err(Failure::new(Exit::NotTrusted, "notTrusted", said)
            .hint("`relay trust` shows what would run, and asks")
            .left(State::Unchanged));
    };
    terminal.say(&text);
    if !is_yes(&ask::ask(&terminal, "  run them on every `relay git commit`? [y/N]  ")?) {
        return Err(Failure::new(Exit::Declined, "declined", "not committed").left(State::Unchanged));
    }
    trust.grant_git(&door.root, &wants, &clock::now()).map_err(Failure::unexpected)
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Failure {
        match error {
            CommitError::Git(error) => error.into(),
            CommitError::Ledger(error) => error.into(),
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Failure {
        let exit = match &error {
            GitError::NoGit
            | GitError::TooOld { .. }
            | GitError::NotARepository { .. }
            | GitError::Bare { .. }
            | GitError::Elsewhere { .. }
            | GitError::Dubious { .. }
            | GitError::NoCommits { .. }
            | GitError::NoBase { .. }
            | GitError::NoFork { .. }
            | GitError::NothingToCommit
            | GitError::EmptyMessage => Exit::Usage,
            GitError::BadPath { .. }
            | GitError::Directory { .. }
            | GitError::Ignored { .. }
            | GitError::Conflicted { .. }
            | GitError::ManyNewFiles { .. }
            | GitError::TooMuch { .. } => Exit::Refused,
            GitError::Stopped { .. } => {
                return Failure::new(Exit::Interrupted, "interrupted", "interrupted").left(State::Unchanged);
            }
            // A hook said no, as a rule.
            GitError::Failed { what, .. } if what == "commit" => Exit::GateFailed,
            _ => Exit::Unexpected,
        };
        let hint = match &error {
            GitError::NoCommits { .. } => Some("commit something first"),
            GitError::NoBase { .. } | GitError::NoFork { .. } => {
                Some("`--base REF` names a branch, a tag or a commit that is here")
            }
            GitError::ManyNewFiles { .. } => {
                Some("`.gitignore` leaves a directory out; `relay review PATH` takes only what is below it")
            }
            _ => None,
        };
        let failure = Failure::new(exit, "git", error).left(State::Unchanged);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
