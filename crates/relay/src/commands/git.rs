//! `relay git commit`: what relay applied becomes a commit, and nothing else does.

use clap::Subcommand;
use relaycode_door::Door;
use relaycode_door::git::commit_plan::{self, CommitError, CommitPlan};
use relaycode_ledger::TxId;
use relaycode_ledger::record::Record;
use relaycode_project::git::{Git, GitError};
use relaycode_project::trust::TrustRequest;
use relaycode_tui::{clock, pluralize, views};
use serde_json::json;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, SignalGuard, questions};

/// Work with git
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    command: GitCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum GitCommand {
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

impl GitArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let GitCommand::Commit(args) = &self.command;
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let ids = args.change_ids(&project)?.into_iter();
        let mut records = ids.map(|id| project.ledger.record(id)).collect::<Result<Vec<_>, _>>()?;
        records.sort_by_key(|record| record.number);
        let door = project.into_door(ctx)?;
        args.commit(&door, &records, ctx)
    }
}

impl CommitArgs {
    /// The changes that are meant.
    fn change_ids(&self, project: &Project) -> CommandResult<Vec<TxId>> {
        if self.names.is_empty() {
            return latest_change(project);
        }
        let mut ids = Vec::new();
        for name in &self.names {
            ids.extend(project.find_target(name)?.ids());
        }
        Ok(ids)
    }

    fn commit(&self, door: &Door, records: &[Record], ctx: &mut CommandContext<'_>) -> CommandResult {
        // Hooks may take long: whoever stops them gets the index back as it was.
        let signals = SignalGuard::acquire()?;
        let stopped = || signals.stop_requested();
        let git = door.git().with_stop(&stopped);
        let plan = commit_plan::plan_commit(door, &git, records)?;
        if plan.nothing_left {
            ctx.print_success(
                "nothing of it is left to commit: its files are as they are in the last commit",
            );
            return Ok(print_commit(door, records, None, ctx));
        }
        let message = self.message.clone().or_else(|| plan.message.clone()).ok_or_else(|| {
            CommandFailure::usage("these changes have no message").hint("give one with `-m`")
        })?;
        ensure_trusted(door, &git, ctx)?;
        let look = ctx.console.err_style();
        let card = views::commit::text(&plan, &message, &door.head(), &look);
        self.ask_consent(&plan, &card, ctx)?;
        let paths: Vec<&str> = plan.paths.iter().map(String::as_str).collect();
        let committed = git.commit(&paths, &message)?;
        let look = ctx.style();
        if !committed.output.trim().is_empty() {
            ctx.print_info(&views::gate::output_tail(&committed.output, &look));
        }
        ctx.print_info(&views::commit::committed_line(&committed.id, paths.len(), &door.head(), &look));
        Ok(print_commit(door, records, Some((&committed.id, &paths, &message)), ctx))
    }

    /// Asks about the commit, and about edits in it that are not relay's.
    fn ask_consent(&self, plan: &CommitPlan, card: &str, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let mixed = !plan.mixed_paths.is_empty() && !self.with_edits;
        if self.yes && !mixed {
            ctx.print_info(card);
            return Ok(());
        }
        let Some(terminal) = questions::open_terminal() else {
            ctx.print_info(card);
            return Err(match mixed {
                true => {
                    let said = "files of this commit also hold other edits";
                    questions::nobody_to_ask(said, "`--with-edits` commits them as they are")
                }
                false => questions::nobody_to_say_yes("`-y` commits without asking"),
            });
        };
        terminal.write_text(card);
        let question = if mixed { "  commit it with the other edits? [y/N]  " } else { "  commit? [y/N]  " };
        questions::confirm(&terminal, question, "not committed")
    }
}

/// The object of a commit; `None`: all of it is committed already.
fn print_commit(
    door: &Door,
    records: &[Record],
    commit: Option<(&str, &[&str], &str)>,
    ctx: &mut CommandContext<'_>,
) -> Exit {
    let (id, files, message) =
        commit.map_or((None, &[][..], None), |(id, files, message)| (Some(id), files, Some(message)));
    ctx.print_result(
        Exit::Done,
        json!({
            "project": door.root.to_string_lossy(), "commit": id, "files": files, "message": message,
            "ids": records.iter().map(|record| record.uuid.to_string()).collect::<Vec<_>>(),
        }),
    )
}

/// The latest change that is still in.
fn latest_change(project: &Project) -> CommandResult<Vec<TxId>> {
    /// Entries that are looked at.
    const NEAR: usize = 100;
    let page = project.ledger.log_page(0, NEAR)?;
    let still_in = page.entries.iter().find(|entry| {
        entry.members.iter().all(|item| !item.undone && item.revert_of.is_empty() && item.damage.is_none())
    });
    let target = still_in.and_then(|entry| entry.target()).ok_or_else(|| {
        CommandFailure::usage("there is no change to commit").hint("`relay log` lists what was applied")
    })?;
    Ok(target.ids())
}

/// What the repository would run must be trusted: a commit runs its hooks and filters.
fn ensure_trusted(door: &Door, git: &Git<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let wants = TrustRequest { git: git.commands_on_commit()?, ..TrustRequest::default() };
    let trust = door.trust();
    if trust.git_state(&door.root, &wants).allows() {
        return Ok(());
    }
    let text = views::trust::text(&wants, None, &ctx.console.err_style());
    let Some(terminal) = questions::open_terminal() else {
        ctx.eprint_at(LogLevel::Error, &text);
        let programs = pluralize(wants.git.len(), "program");
        let said = format!("a commit here runs {programs} of the repository, which you have not trusted yet");
        return Err(CommandFailure::new(Exit::NotTrusted, "notTrusted", said)
            .hint("`relay trust` shows what would run, and asks")
            .unchanged());
    };
    terminal.write_text(&text);
    questions::confirm(&terminal, "  run them on every `relay git commit`? [y/N]  ", "not committed")?;
    trust.grant_git(&door.root, &wants, &clock::now_utc()).map_err(CommandFailure::unexpected)
}

impl From<CommitError> for CommandFailure {
    fn from(error: CommitError) -> CommandFailure {
        match error {
            CommitError::Git(error) => error.into(),
            CommitError::Ledger(error) => error.into(),
        }
    }
}

impl From<GitError> for CommandFailure {
    fn from(error: GitError) -> CommandFailure {
        let exit = match &error {
            GitError::NoGit
            | GitError::TooOld { .. }
            | GitError::NotARepository { .. }
            | GitError::Bare { .. }
            | GitError::OtherWorkTree { .. }
            | GitError::DubiousOwner { .. }
            | GitError::NoCommits { .. }
            | GitError::NoBase { .. }
            | GitError::NoMergeBase { .. }
            | GitError::NothingToCommit
            | GitError::EmptyMessage => Exit::Usage,
            GitError::BadPath { .. }
            | GitError::Directory { .. }
            | GitError::Ignored { .. }
            | GitError::Conflicted { .. }
            | GitError::ManyNewFiles { .. }
            | GitError::LimitExceeded { .. } => Exit::Refused,
            GitError::Stopped { .. } => return CommandFailure::interrupted().unchanged(),
            // A hook said no, as a rule.
            GitError::Failed { what, .. } if what == "commit" => Exit::GateFailed,
            _ => Exit::Unexpected,
        };
        let hint = match &error {
            GitError::NoCommits { .. } => Some("commit something first"),
            GitError::NoBase { .. } | GitError::NoMergeBase { .. } => {
                Some("`--base REF` names a branch, a tag or a commit that is here")
            }
            GitError::ManyNewFiles { .. } => {
                Some("`.gitignore` leaves a directory out; `relay review PATH` takes only what is below it")
            }
            _ => None,
        };
        CommandFailure {
            hint: hint.map(str::to_string),
            ..CommandFailure::new(exit, "git", error).unchanged()
        }
    }
}
