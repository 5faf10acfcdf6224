//! `relay git commit`: what relay applied becomes a commit, and nothing else does.

use std::rc::Rc;

use clap::Subcommand;
use relaycode_door::Door;
use relaycode_door::git::commit_plan::{self, CommitError, CommitPlan};
use relaycode_ledger::record::{Record, title};
use relaycode_ledger::{HistoryKind, InstanceClaim, Ledger, LogEntry, TxId, UndoState};
use relaycode_project::git::{CommitNotes, CommitRemains, Git, GitError};
use relaycode_project::trust::{TrustRequest, TrustState};
use relaycode_tui::{clock, pluralize, views};
use serde_json::json;

use crate::approver::edit::edit_text;
use crate::approver::terminal_program_runner;
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, SignalGuard, UserPrograms,
    process_runner, questions,
};

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

/// Commit what changes did, with the message of their author
///
/// Only the files of these changes go into the commit, whatever else is staged or edited. Where the author gave no
/// message, your editor opens with the change's title. What is undone is left out. The repository's
/// hooks, filters and signing run, once you trust them. A file that also holds other edits is named and
/// asked about.
#[derive(Debug, Clone, clap::Args)]
struct CommitArgs {
    /// Changes: numbers of `relay log` or ids; the latest if none is named
    #[arg(value_name = "ID|N", allow_negative_numbers = true)]
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
        let _alone = claim_commit(&project.ledger)?;
        mend_commit(&project, ctx)?;
        let records = args.changes(&project, ctx)?;
        let door = project.into_door(ctx)?;
        args.commit(&door, &records, ctx)
    }
}

impl CommitArgs {
    /// The changes that are meant, oldest first. What is undone is left out, and so is what undid it.
    fn changes(&self, project: &Project, ctx: &mut CommandContext<'_>) -> CommandResult<Vec<Record>> {
        let mut ids = Vec::new();
        for name in &self.names {
            ids.extend(project.find_target(name)?.ids());
        }
        if self.names.is_empty() {
            ids = latest_change(project)?;
        }
        let records = ids.iter().map(|id| project.ledger.record(*id)).collect::<Result<Vec<_>, _>>()?;
        let states = project.ledger.undo_states(&ids)?;
        let is_undone = |id: &TxId| states.get(id) == Some(&UndoState::Undone);
        let cancels_out = |record: &Record| {
            is_undone(&record.uuid)
                || (!record.revert_of.is_empty() && record.revert_of.iter().all(is_undone))
        };
        let (undone, mut left): (Vec<Record>, Vec<Record>) = records.into_iter().partition(cancels_out);
        left.sort_by_key(|record| record.number);
        let titles: Vec<String> = undone
            .iter()
            .filter(|record| is_undone(&record.uuid))
            .map(|record| format!("\"{}\"", title::title(record)))
            .collect();
        if left.is_empty() {
            let is = if titles.len() == 1 { "is" } else { "are" };
            let said = format!("{} {is} undone: there is nothing to commit", titles.join(", "));
            return Err(CommandFailure::usage(said).hint("`relay redo` brings back what was undone last"));
        }
        if !titles.is_empty() && !self.names.is_empty() {
            ctx.eprint_remark(LogLevel::Warn, &format!("left out, because undone: {}", titles.join(", ")));
        }
        Ok(left)
    }

    fn commit(&self, door: &Door, records: &[Record], ctx: &mut CommandContext<'_>) -> CommandResult {
        // Hooks may take long: whoever stops them gets the index back as it was.
        let signals = SignalGuard::acquire()?;
        let stopped = || signals.stop_requested();
        let notes = CommitNotes::new(ctx.home.path.as_deref());
        let git = door.git().with_stop(&stopped).with_notes(notes);
        let plan = commit_plan::plan_commit(door, &git, records)?;
        if plan.nothing_left {
            ctx.print_success("nothing left to commit: the last commit already has its files as they are");
            return Ok(print_commit(door, records, None, ctx));
        }
        ensure_trusted(door, &git, ctx)?;
        let message = match self.message.clone().or_else(|| plan.message.clone()) {
            Some(message) => message,
            None => self.edit_message(&plan, door, &git, ctx)?,
        };
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

    /// The message of changes whose authors gave none: their title, as the user edits it.
    fn edit_message(
        &self,
        plan: &CommitPlan,
        door: &Door,
        git: &Git<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<String> {
        let Some(terminal) = (!self.yes).then(questions::open_terminal).flatten() else {
            return Ok(plan.title.clone());
        };
        ctx.console.flush();
        let programs = UserPrograms::from_env().with_git_editor(git.user_editor()?);
        let run = terminal_program_runner(door.runner.clone(), Rc::new(SignalGuard::acquire()?));
        let paths: Vec<String> =
            plan.paths.iter().map(|path| format!("#   {}", ctx.console.err_style().safe(path))).collect();
        let text = format!("{}\n{MESSAGE_HELP}{}\n", plan.title, paths.join("\n"));
        let lent = terminal.lend();
        let edited = edit_text(&programs, &run, MESSAGE_FILE, text.as_bytes());
        drop(lent);
        let edited = edited.map_err(|said| {
            CommandFailure::new(Exit::Unexpected, "editor", format!("{said}; nothing was committed"))
                .hint("`-m TEXT` gives the message without an editor")
        })?;
        let edited = String::from_utf8_lossy(&edited).into_owned();
        let lines: Vec<&str> = edited.lines().filter(|line| !line.starts_with('#')).collect();
        match lines.join("\n").trim() {
            "" => Err(CommandFailure::declined("not committed: the message is empty")),
            message => Ok(message.to_string()),
        }
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
                    let said = "files in this commit also have other edits";
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

/// The name of the file with the message, which editors know.
const MESSAGE_FILE: &str = "COMMIT_EDITMSG";
/// What the file says below the message.
const MESSAGE_HELP: &str = "
# The message of the commit. Lines that begin with # are left out;
# an empty message stops the commit. Files:
";

/// Two commits of relay at once would each take the other's for one that was cut short.
fn claim_commit(ledger: &Ledger) -> CommandResult<InstanceClaim> {
    let said = format!("process {}", std::process::id());
    match ledger.claim_instance("commit", &said)? {
        InstanceClaim::HeldBy(by) => {
            Err(CommandFailure::usage(format!("another `relay git commit` runs here ({by})"))
                .hint("try again when it is done"))
        }
        ours => Ok(ours),
    }
}

/// Takes away what a commit left in the repository that was cut short, and says so on stderr.
pub(crate) fn mend_commit(project: &Project, ctx: &mut CommandContext<'_>) -> CommandResult<CommitRemains> {
    let runner = process_runner()?;
    let git = Git::new(&runner, &project.root);
    let remains = CommitNotes::new(ctx.home.path.as_deref()).mend(&git)?;
    let look = ctx.console.err_style();
    ctx.eprint_at(LogLevel::Error, &views::commit::remains_text(&remains, &look));
    Ok(remains)
}

/// The same, where no commit is being made.
pub(crate) fn recover_commit(
    project: &Project,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<CommitRemains> {
    if !CommitNotes::new(ctx.home.path.as_deref()).has_note(&project.root) {
        return Ok(CommitRemains::default());
    }
    match claim_commit(&project.ledger) {
        Ok(_alone) => mend_commit(project, ctx),
        // It is still being made, or there is no place for a claim.
        Err(_) => Ok(CommitRemains::default()),
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
    let takes_back = |entry: &LogEntry| entry.members.iter().any(|item| !item.revert_of.is_empty());
    let still_in = page
        .entries
        .iter()
        .find(|entry| entry.is_in() && !takes_back(entry) && entry.history_kind() != HistoryKind::Unknown);
    let target = still_in.and_then(|entry| entry.target()).ok_or_else(|| {
        CommandFailure::usage("there is no change to commit").hint("`relay log` lists what was applied")
    })?;
    Ok(target.ids())
}

/// What the repository would run must be trusted: a commit runs its hooks and filters.
fn ensure_trusted(door: &Door, git: &Git<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    let wants = TrustRequest { git: git.commands_on_commit()?, ..TrustRequest::default() };
    let trust = door.trust();
    let before = match trust.git_state(&door.root, &wants) {
        state if state.allows() => return Ok(()),
        TrustState::Changed { before } => Some(before),
        _ => None,
    };
    let text = views::trust::text(&wants, before.as_ref(), &ctx.console.err_style());
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
            GitError::EmptyMessage => Some("`-m TEXT` gives the message"),
            GitError::NoCommits { .. } => Some("make a first commit, then try again"),
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
