//! `relay record`: any command, run in the project as it is, on this terminal; what it changed can be undone.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use relaycode_door::{Adoption, Door, DoorError, RecordedCommand};
use relaycode_exec::{ExecError, ExitReason, Job, JobOutcome, JobOutput};
use relaycode_ledger::record::FileRecord;
use relaycode_ledger::recording::Omission;
use relaycode_ledger::{LedgerError, SecureReport};
use relaycode_tui::{clock, pluralize, views};
use serde_json::{Value, json};

use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, SignalGuard, project, questions,
    start_spinner,
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
        // From here to the end: whatever is typed is meant for the command, and what it did is always recorded.
        SignalGuard::hold_until_exit()?;
        let signals = SignalGuard::acquire()?;
        ignore_sigquit()?;
        let door = project.into_door(ctx)?;
        let what =
            RecordedCommand { argv: &self.command, message: self.message.as_deref(), now: clock::now_utc() };

        let began = Instant::now();
        let waiting = start_spinner(ctx, "backing up the project's files");
        let watched = door.secure(&what, &mut |_, _| {}, &|| signals.stop_requested());
        drop(waiting);
        let watched = watched?;
        let secured = watched.recording.secure_report().clone();
        let text = views::recording::secured_line(&secured, began.elapsed(), &ctx.console.err_style());
        ctx.eprint_at(LogLevel::Info, &text);
        ctx.console.flush();

        let at_a_terminal = questions::open_terminal().is_some();
        signals.clear_interrupt();
        let job = Job {
            output: JobOutput::Inherited { stdout_to_stderr: ctx.is_json() },
            keep_open: watched.recording.liveness_fd().map(Arc::new),
            ..Job::argv(self.command.iter().cloned(), ctx.options.directory.clone())
        };
        // A Ctrl-C at a terminal reaches the command by itself; without one, nobody else would tell it.
        let stop = || if at_a_terminal { signals.termination_requested() } else { signals.stop_requested() };
        let ran = door.runner.run(&job, &stop, &mut |_| {});

        let waiting = start_spinner(ctx, "looking at what changed");
        let (secured_at, outside) = watched.recording.storage_path();
        let secured_at = if outside { PathBuf::from(secured_at) } else { door.root.join(secured_at) };
        // A command may remove anything that is the user's.
        let is_secured_gone = !secured_at.exists();
        let adoption = door.adopt(watched, ran.as_ref().ok());
        drop(waiting);
        let adoption = adoption.map_err(|error| not_recorded_failure(error, &door.root, &secured_at))?;
        let line = what.command_line();
        let finished = ran.map_err(|error| not_run_failure(&error, adoption.committed.is_some()))?;
        report(&door, &line, &secured, &finished, &adoption, ctx);
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

/// Tells what was recorded.
fn report(
    door: &Door,
    line: &str,
    secured: &SecureReport,
    finished: &JobOutcome,
    adoption: &Adoption,
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
            "notUndoable": left_json(&adoption.irreversible),
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

fn not_run_failure(error: &ExecError, recorded: bool) -> CommandFailure {
    match error {
        ExecError::NotFound { .. } => CommandFailure::new(Exit::Usage, "notRun", error)
            .hint("check its name and PATH; nothing was run or recorded"),
        ExecError::CannotRun { .. } | ExecError::Directory { .. } => {
            CommandFailure::new(Exit::Usage, "notRun", error).hint("nothing was run or recorded")
        }
        _ => CommandFailure::unexpected(error).hint(recorded_hint(recorded)),
    }
}

/// Ctrl-\ is meant for the command as well.
fn ignore_sigquit() -> CommandResult<()> {
    let caught = signal_hook::flag::register(signal_hook::consts::SIGQUIT, Arc::new(AtomicBool::new(false)));
    caught.map(drop).map_err(|error| CommandFailure::unexpected(format!("signals cannot be caught: {error}")))
}
