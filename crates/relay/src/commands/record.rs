//! `relay record`: any command, run in the project as it is, on this terminal; what it changed can be undone.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use relaycode_door::{
    Adoption, CommandEnd, Door, DoorError, GitGuardReport, GitPutBack, ProtectedChange, ProtectedFile,
    RecordedCommand, SetAsideReport, SetAsideRun,
};
use relaycode_exec::{ExecError, ExitReason, FenceLevel, Job, JobEnvironment, JobOutcome, JobOutput, Runner};
use relaycode_ledger::record::FileRecord;
use relaycode_ledger::recording::Omission;
use relaycode_ledger::{LedgerError, SecureProgress, SecureReport};
use relaycode_project::access::Access;
use relaycode_project::protected::SECRET_VARIABLES;
use relaycode_tui::{clock, pluralize, views};
use serde_json::{Value, json};

use crate::command_fence::{self, FencedCommand};
use crate::friends::args::parse_access;
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, SignalGuard, UserPrograms,
    project, questions, start_spinner,
};

/// Run any command, and make what it changes undoable
///
/// The command runs as if it had been started by hand: on this terminal, or with its streams redirected as
/// they are. Before it begins, the project's files are secured; afterwards, everything that changed is one entry
/// of `relay log`, which `relay revert` takes back. Works for another agent's own screen too: `relay record -- codex`.
///
/// Ends with the command's own exit code (0 to 255; 128 and the signal's number if a signal ended it), unless
/// recording failed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordArgs {
    /// What `relay log` calls it, instead of the command
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// What the command may do: read-only, ask, workspace or full
    ///
    /// Below full it runs in a fence: it changes only the project (with read-only nothing), sees no secrets and no network, and
    /// never writes git hooks, editor settings and the like. What it needs more is asked about.
    #[arg(long, value_name = "ACCESS", value_parser = parse_access, default_value = "full")]
    access: Access,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// How the command ended.
    #[arg(skip)]
    code: Cell<Option<u8>>,
}

impl RecordArgs {
    /// How the recorded command ended.
    pub(super) fn exit_code(&self) -> Option<u8> {
        self.code.get()
    }

    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let wanted = FencedCommand {
            root: &project.root,
            config: project.config()?,
            words: &self.command,
            access: self.access,
        };
        let reading = wanted.reading(ctx);
        let mut fence = if self.access == Access::Full { None } else { wanted.permit(ctx)? };
        // From here to the end: whatever is typed is meant for the command, and what it did is always recorded.
        SignalGuard::hold_until_exit()?;
        let signals = SignalGuard::acquire()?;
        ignore_sigquit()?;
        let door = project.into_door(ctx)?;
        let what = RecordedCommand {
            argv: &self.command,
            message: self.message.as_deref(),
            now: clock::now_utc(),
            origin: "record",
            decided_by: None,
            is_fenced: fence.is_some(),
        };

        let began = Instant::now();
        let waiting = start_spinner(ctx, "backing up the project's files");
        let mut watch = door.watch_commands(None)?;
        let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &|| signals.stop_requested() };
        let secured = watch.begin(&what, &door.expected_losses(&reading), &mut progress).cloned();
        drop(waiting);
        let secured = secured?;
        let text = views::recording::secured_line(&secured, began.elapsed(), &ctx.console.err_style());
        let level = if secured.unsecured.is_empty() { LogLevel::Info } else { LogLevel::Warn };
        ctx.eprint_at(level, &text);
        ctx.console.flush();

        let at_a_terminal = questions::open_terminal().is_some();
        signals.clear_interrupt();
        let mut job = Job {
            fence: fence.as_ref().map(|fence| Box::new(fence.project.fence.clone())),
            environment: JobEnvironment {
                remove: fence.iter().flat_map(|_| SECRET_VARIABLES).map(OsString::from).collect(),
                set: fence.as_ref().map_or(Vec::new(), |fence| fence.project.environment.clone()),
                ..JobEnvironment::default()
            },
            output: JobOutput::Inherited { stdout_to_stderr: ctx.is_json() },
            keep_open: watch.recording.liveness_fd().map(Arc::new),
            ..Job::argv(self.command.iter().cloned(), ctx.options.directory.clone())
        };
        // A Ctrl-C at a terminal reaches the command by itself; without one, nobody else would tell it.
        let stop = || if at_a_terminal { signals.termination_requested() } else { signals.stop_requested() };
        let scratch = UserPrograms::from_env().scratch_dir;
        let guard = fence.as_mut().and_then(|fence| fence.project.git.take());
        let guard = guard.map(|found| door.guard_git(found));
        let ran = door.runner.run_fenced(&mut job, &scratch, &stop, &mut |_| {});
        // Before anything of relay's own asks git.
        let git =
            guard.map(|guard| guard.finish(job.fence.as_deref(), ran.as_ref().ok())).unwrap_or_default();

        let waiting = start_spinner(ctx, "looking at what changed");
        let (secured_at, outside) = watch.recording.storage_path().unwrap_or_default();
        let secured_at = if outside { PathBuf::from(secured_at) } else { door.root.join(secured_at) };
        // A command may remove anything that is the user's.
        let is_secured_gone = !secured_at.exists();
        let end = CommandEnd { finished: ran.as_ref().ok(), now: &clock::now_utc() };
        let adoption = watch.finish(&end);
        // What cannot be cleared away now, the next command clears.
        let _ = watch.close();
        drop(waiting);
        let adoption = adoption.map_err(|error| not_recorded_failure(error, &door.root, &secured_at))?;
        let line = what.command_line();
        let finished =
            ran.map_err(|error| not_run_failure(&error, adoption.committed.is_some(), &door.runner))?;
        report(&door, &line, &secured, &finished, &adoption, &git, ctx);
        if fence.is_some() {
            report_fence(&git, &job, &finished, ctx);
        }
        let asked = decide_set_aside(&door, &adoption.set_aside, ctx);
        if let Some(committed) = &adoption.committed
            && let Some(said) = &committed.durability_doubt
        {
            return Err(project::disk_doubt_failure(&committed.record.uuid.short(), said));
        }
        if adoption.history.lost > 0 {
            return Err(history_lost_failure(adoption.history.lost));
        }
        if is_secured_gone {
            return Err(secured_lost_failure(&adoption, &secured_at));
        }
        asked?;
        self.exit_as_command(&finished, adoption.committed.is_some())
    }
}

impl RecordArgs {
    /// How relay ends: as the command did.
    fn exit_as_command(&self, finished: &JobOutcome, recorded: bool) -> CommandResult {
        match exit_code(finished) {
            Some(code) => {
                self.code.set(Some(code));
                Ok(Exit::Done)
            }
            None if finished.reason == ExitReason::Stopped => Ok(Exit::Interrupted),
            None => Err(CommandFailure::unexpected(
                "the process that watched the command was ended, and the command with it",
            )
            .hint(recorded_hint(recorded))),
        }
    }
}

/// Tells what the fence did not stop, and what it may have stopped.
fn report_fence(git: &GitGuardReport, job: &Job, finished: &JobOutcome, ctx: &mut CommandContext<'_>) {
    if job.fence.as_ref().is_some_and(|fence| fence.level == FenceLevel::Rules) {
        let said = "the fence was one of level 2, which keeps nothing in the project from changes; what makes git run \
                    something is as before";
        ctx.eprint_remark(LogLevel::Warn, said);
        ctx.eprint_detail(LogLevel::Warn, "`relay doctor` says why");
    }
    for file in &git.files {
        ctx.eprint_remark(LogLevel::Warn, &file.sentence());
        match &file.kept {
            Ok(Some(kept)) => {
                ctx.eprint_detail(LogLevel::Warn, &format!("the command's is kept: {}", kept.display()));
            }
            Ok(None) => {}
            Err(_) => ctx.eprint_detail(LogLevel::Warn, "look at it before you run git here"),
        }
    }
    if git.is_cut {
        ctx.eprint_remark(
            LogLevel::Warn,
            "not all repositories in the project were looked at: there are too many directories",
        );
    }
    if let Some(hint) = command_fence::failure_hint(finished, job) {
        ctx.eprint_detail(LogLevel::Info, hint);
    }
}

/// Tells what was set aside, and asks of each file whether it stays. Without anybody to ask it stays aside.
fn decide_set_aside(
    door: &Door,
    set_aside: &SetAsideReport,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let look = ctx.console.err_style();
    ctx.eprint_at(LogLevel::Warn, &views::recording::not_set_aside(set_aside, &look));
    let mut terminal = if ctx.is_json() { None } else { questions::open_terminal() };
    for (file, by) in &set_aside.files {
        ctx.eprint_at(LogLevel::Warn, &views::recording::set_aside_line(file, &look));
        ctx.console.flush();
        let question = match file.change {
            ProtectedChange::Removed => "  remove it? [y/N] ",
            _ => "  keep it? [y/N] ",
        };
        match terminal.as_ref().map(|terminal| questions::ask_line(terminal, question)) {
            Some(Ok(answer)) if questions::is_yes(&answer) => {
                let now = clock::now_utc();
                SetAsideRun { ledger: &door.ledger, root: &door.root, now: &now }.keep(*by)?;
                continue;
            }
            // Whoever interrupts it wants no more questions.
            Some(Err(_)) => terminal = None,
            _ => {}
        }
        ctx.eprint_at(LogLevel::Warn, &views::recording::keep_line(*by, &look));
    }
    Ok(())
}

/// Tells what was recorded.
fn report(
    door: &Door,
    line: &str,
    secured: &SecureReport,
    finished: &JobOutcome,
    adoption: &Adoption,
    git: &GitGuardReport,
    ctx: &mut CommandContext<'_>,
) {
    let code = exit_code(finished).unwrap_or(Exit::Interrupted as u8);
    let signal = if let ExitReason::Signalled(signal) = finished.reason { Some(signal) } else { None };
    let record = adoption.committed.as_ref().map(|committed| &committed.record);
    ctx.print_json(&json!({
            "ok": code == 0, "code": code, "command": "record", "project": door.root.to_string_lossy(), "ran": line,
            "exit": { "code": code, "signal": signal, "seconds": seconds(finished.took), "leftBehind": finished.left_behind, "escaped": finished.escaped },
            "id": record.map(|record| record.uuid.to_string()),
            "files": record.map_or(Vec::new(), |record| record.result.iter().map(file_json).collect()),
            "secured": { "files": secured.files, "bytes": secured.bytes, "copied": secured.copied },
            "notSecured": left_json(&secured.omissions),
            "unsecured": left_json(&secured.unsecured),
            "notUndoable": left_json(&adoption.irreversible),
            "gitChanges": adoption.git_changes,
            "setAside": set_aside_json(&adoption.set_aside),
            "notSetAside": not_set_aside_json(&adoption.set_aside),
            "movedAway": moved_away_json(&adoption.set_aside),
            "gitPutBack": git.files.iter().map(put_back_json).collect::<Vec<_>>(),
            "earlierRecords": { "restored": adoption.history.restored, "lost": adoption.history.lost },
        }));
    let look = ctx.console.err_style();
    if finished.left_behind > 0 {
        let left = match finished.left_behind {
            1 => "a process".to_owned(),
            count => format!("{count} processes"),
        };
        ctx.eprint_remark(LogLevel::Warn, &format!("ended {left} that it left running"));
    }
    if let Some(note) = finished.escaped_note() {
        ctx.eprint_remark(LogLevel::Warn, &note);
    }
    let text = views::recording::adoption_report(adoption, line, &look);
    let level = if adoption.irreversible.is_empty() { LogLevel::Info } else { LogLevel::Warn };
    ctx.eprint_at(level, &text);
}

fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The command's own exit code, as a shell would say it; `None` if it was ended by relay.
fn exit_code(finished: &JobOutcome) -> Option<u8> {
    match finished.reason {
        ExitReason::Exited(code) => Some(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        ExitReason::Signalled(signal) => Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        _ => None,
    }
}

fn file_json(file: &FileRecord) -> Value {
    let change = match (file.before, file.after) {
        (None, _) => "A",
        (_, None) => "D",
        _ if file.renamed_from.is_some() => "R",
        _ => "M",
    };
    json!({
        "path": file.path, "from": file.renamed_from, "change": change, "added": file.added, "removed": file.removed,
    })
}

/// What was set aside, each with the change that did it.
pub(super) fn set_aside_json(report: &SetAsideReport) -> Vec<Value> {
    report
        .files
        .iter()
        .map(|(file, by)| json!({"path": file.path, "why": file.why, "by": by.to_string()}))
        .collect()
}

/// What stood at protected names and has no place in a record, and where it is.
fn moved_away_json(report: &SetAsideReport) -> Vec<Value> {
    let one =
        |(file, place): &(ProtectedFile, String)| json!({"path": file.path, "why": file.why, "place": place});
    report.moved.iter().map(one).collect()
}

/// What is protected and as the command left it.
pub(super) fn not_set_aside_json(report: &SetAsideReport) -> Vec<Value> {
    report.failed.iter().map(|(file, why)| json!({"path": file.path, "why": why})).collect()
}

fn put_back_json(file: &GitPutBack) -> Value {
    let kept = file.kept.as_ref().ok().and_then(Option::as_ref);
    json!({"path": file.path, "what": file.verb, "kept": kept.map(|path| path.to_string_lossy()), "error": file.kept.as_ref().err()})
}

fn left_json(all: &[Omission]) -> Vec<Value> {
    let one = |left: &Omission| json!({"path": left.path, "why": left.reason, "files": left.files, "bytes": left.bytes});
    all.iter().map(one).collect()
}

/// The command ran, and what it changed is not in the ledger: what is true of the project now, and what to do.
fn not_recorded_failure(error: DoorError, root: &Path, secured_at: &Path) -> CommandFailure {
    let gone = matches!(error, DoorError::Ledger(LedgerError::RootGone { .. }));
    let mut failure = CommandFailure::from(error);
    // Whatever the ledger says of its own part: the command ran.
    failure.state = None;
    let own = root.join(".relaycode");
    let foreign = std::fs::symlink_metadata(&own).is_ok_and(|found| !found.is_dir());
    let next = if !secured_at.join("manifest").exists() {
        "the command ran, and the backup made before it is gone as well: what it changed cannot be undone"
            .to_string()
    } else {
        let first = if gone {
            // So that it is the project, whatever it lies in.
            format!("`mkdir -p {}`, or move it back", own.display())
        } else if foreign {
            format!("{} is not relay's directory any more: move it away", own.display())
        } else {
            "fix what failed (permissions, disk space)".to_string()
        };
        format!(
            "the command ran, and what it changed is not recorded yet; the backup is in {}. {first}, \
             then `relay recover` there records it and `relay undo` undoes it",
            secured_at.display()
        )
    };
    failure.hint(next)
}

/// The command took records of earlier changes with it.
fn history_lost_failure(records: usize) -> CommandFailure {
    let said = format!("the history of {} went with .relaycode", pluralize(records, "earlier change"));
    CommandFailure::new(Exit::DiskDoubt, "historyLost", said)
        .hint("there was no copy, so they can no longer be undone; what the command changed can")
}

/// The command took with it what was secured before it ran.
fn secured_lost_failure(adoption: &Adoption, secured_at: &Path) -> CommandFailure {
    let said = match adoption.irreversible.len() {
        0 => "the command removed the backup made before it ran".to_string(),
        count => {
            let changes = pluralize(count, "change");
            format!("the command removed the backup made before it ran: {changes} cannot be undone")
        }
    };
    let where_it_was = secured_at.display();
    CommandFailure::new(Exit::DiskDoubt, "securedLost", said).hint(format!(
        "it was in {where_it_was}; your own directory holds trust, keys and the copies of earlier changes as well"
    ))
}

/// What became of what had changed, if the command was cut short.
fn recorded_hint(recorded: bool) -> &'static str {
    match recorded {
        true => "what had changed is recorded: `relay log`",
        false => "nothing had changed that could be recorded",
    }
}

fn not_run_failure(error: &ExecError, recorded: bool, runner: &Runner) -> CommandFailure {
    match error {
        ExecError::NotFound { .. } => CommandFailure::new(Exit::Usage, "notRun", error)
            .hint("check its name and PATH; nothing was run or recorded"),
        ExecError::CannotRun { .. } | ExecError::Directory { .. } => {
            CommandFailure::new(Exit::Usage, "notRun", error).hint("nothing was run or recorded")
        }
        ExecError::Fence { .. } => command_fence::no_fence_failure(error, runner),
        _ => CommandFailure::unexpected(error).hint(recorded_hint(recorded)),
    }
}

/// Ctrl-\ is meant for the command as well.
fn ignore_sigquit() -> CommandResult<()> {
    let caught = signal_hook::flag::register(signal_hook::consts::SIGQUIT, Arc::new(AtomicBool::new(false)));
    caught.map(drop).map_err(|error| CommandFailure::unexpected(format!("signals cannot be caught: {error}")))
}
