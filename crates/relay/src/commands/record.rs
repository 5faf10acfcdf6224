//! `relay record`: any command, run in the project as it is, on this terminal; what it changed can be undone.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use relaycode_door::{Adoption, Door, DoorError, Recordable};
use relaycode_exec::{End, ExecError, Finished, Job, Output};
use relaycode_ledger::record::FileRecord;
use relaycode_ledger::recording::Left;
use relaycode_ledger::{LedgerError, Secured};
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use relaycode_tui::clock;
use serde_json::{Value, json};

use crate::ask;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::providers::spinner;
use crate::signals::Held;

/// Run any command, and make what it changes undoable
///
/// The command runs as if it had been started by hand: on this terminal, or with its streams redirected as
/// they are. Before it begins, the project's files are secured; afterwards, everything that changed is one entry
/// of `relay log`, which `relay revert` takes back. Works for another agent's own screen too: `relay record -- codex`.
///
/// Ends with the command's own exit code (0 to 255; 128 and the signal's number if a signal ended it), unless
/// recording failed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
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

impl Act for Args {
    fn name(&self) -> &'static str {
        "record"
    }

    fn writes(&self) -> bool {
        true
    }

    fn passes_on(&self) -> Option<u8> {
        self.code.get()
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.recover(context)?;
        // From here to the end: whatever is typed is meant for the command, and what it did is always recorded.
        Held::until_the_end()?;
        let signals = Held::begin()?;
        outlive_quit()?;
        let door = project.door(context)?;
        let what = Recordable { words: &self.command, message: self.message.as_deref(), now: clock::now() };

        let began = Instant::now();
        let waiting = spinner(context, "securing the project's files");
        let watched = door.secure(&what, &mut |_, _| {}, &|| signals.asked());
        drop(waiting);
        let watched = watched?;
        let secured = watched.secured().clone();
        let text = view::recording::secured(&secured, began.elapsed(), &context.console.err_look());
        context.beside(LogLevel::Info, &text);
        context.console.flush();

        let at_a_terminal = ask::terminal().is_some();
        signals.forget_interrupt();
        let job = Job {
            output: Output::Streams { aside: context.json() },
            held: watched.sign_of_life().map(Arc::new),
            ..Job::argv(self.command.iter().cloned(), context.options.directory.clone())
        };
        // A Ctrl-C at a terminal reaches the command by itself; without one, nobody else would tell it.
        let stop = || if at_a_terminal { signals.told_to_end() } else { signals.asked() };
        let ran = door.runner.run(&job, &stop, &mut |_| {});

        let waiting = spinner(context, "looking at what changed");
        let (secured_at, outside) = watched.secured_at();
        let secured_at = if outside { PathBuf::from(secured_at) } else { door.root.join(secured_at) };
        let adoption = door.adopt(watched, ran.as_ref().ok());
        drop(waiting);
        let adoption = adoption.map_err(|error| not_recorded(error, &door.root, &secured_at))?;
        let line = what.line();
        let finished = ran.map_err(|error| not_run(&error, adoption.committed.is_some()))?;
        self.report(
            &door,
            &Recorded { line: &line, secured: &secured, finished: &finished, adoption: &adoption },
            context,
        );
        if let Some(committed) = &adoption.committed
            && let Some(said) = &committed.doubt
        {
            return Err(project::doubt(&committed.record.uuid.short(), said));
        }
        if adoption.history.lost > 0 {
            return Err(lost(adoption.history.lost));
        }
        self.exit(&finished, adoption.committed.is_some())
    }
}

/// What there is to tell.
struct Recorded<'r> {
    line: &'r str,
    secured: &'r Secured,
    finished: &'r Finished,
    adoption: &'r Adoption,
}

impl Args {
    /// How relay ends: as the command did.
    fn exit(&self, finished: &Finished, recorded: bool) -> Result<Exit, Failure> {
        match code(finished) {
            Some(code) => {
                self.code.set(Some(code));
                Ok(Exit::Done)
            }
            None if finished.end == End::Stopped => Ok(Exit::Interrupted),
            None => Err(Failure::unexpected(
                "the process that watched the command was ended, and the command with it",
            )
            .hint(what_changed(recorded))),
        }
    }

    fn report(&self, door: &Door, recorded: &Recorded<'_>, context: &mut Context<'_>) {
        let Recorded { line, secured, finished, adoption } = recorded;
        let code = code(finished).unwrap_or(Exit::Interrupted as u8);
        let signal = if let End::Signalled(signal) = finished.end { Some(signal) } else { None };
        let record = adoption.committed.as_ref().map(|committed| &committed.record);
        context.object(&json!({
            "ok": code == 0,
            "code": code,
            "command": "record",
            "project": door.root.to_string_lossy(),
            "ran": line,
            "exit": { "code": code, "signal": signal, "seconds": seconds(finished.took), "leftBehind": finished.left_behind },
            "id": record.map(|record| record.uuid.to_string()),
            "files": record.map_or(Vec::new(), |record| record.result.iter().map(file).collect()),
            "secured": { "files": secured.files, "bytes": secured.bytes, "copied": secured.copied },
            "notSecured": left(&secured.left),
            "notUndoable": left(&adoption.left),
            "earlierRecords": { "restored": adoption.history.restored, "lost": adoption.history.lost },
        }));
        let look = context.console.err_look();
        if finished.left_behind > 0 {
            let said =
                format!("{} that it left behind: ended", view::number(finished.left_behind, "process"));
            context.beside(LogLevel::Warn, &view::outcome::remark(&look, &said));
        }
        let text = view::recording::adopted(adoption, line, &look);
        let level = if adoption.left.is_empty() { LogLevel::Info } else { LogLevel::Warn };
        context.beside(level, &text);
    }
}

fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The command's own exit code, as a shell would say it; `None` if it was ended by relay.
fn code(finished: &Finished) -> Option<u8> {
    match finished.end {
        End::Exited(code) => Some(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        End::Signalled(signal) => Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        _ => None,
    }
}

fn file(file: &FileRecord) -> Value {
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

fn left(all: &[Left]) -> Vec<Value> {
    let one =
        |left: &Left| json!({"path": left.path, "why": left.why, "files": left.files, "bytes": left.bytes});
    all.iter().map(one).collect()
}

/// The command ran, and what it changed is not in the ledger: what is true of the project now, and what to do.
fn not_recorded(error: DoorError, root: &Path, secured_at: &Path) -> Failure {
    let gone = matches!(error, DoorError::Ledger(LedgerError::RootGone { .. }));
    let mut failure = Failure::from(error);
    // Whatever the ledger says of its own part: the command ran.
    failure.state = None;
    let own = root.join(".relaycode");
    let foreign = std::fs::symlink_metadata(&own).is_ok_and(|found| !found.is_dir());
    let next = if !secured_at.join("manifest").exists() {
        "the command ran, and what was secured before it is gone as well: what it changed cannot be undone"
            .to_string()
    } else {
        let first = if gone {
            // So that it is the project, whatever it lies in.
            format!("`mkdir -p {}`, or move it back", own.display())
        } else if foreign {
            format!("{} is not relay's directory any more: move it away", own.display())
        } else {
            "see to what failed (permissions, room on the disk)".to_string()
        };
        format!(
            "the command ran, and what it changed is not recorded yet; what was secured is in {}. {first}, \
             then `relay recover` there records it and `relay revert` undoes it",
            secured_at.display()
        )
    };
    failure.hint(next)
}

/// The command took records of earlier changes with it.
fn lost(records: usize) -> Failure {
    let said = format!("{} of earlier changes went with .relaycode", view::number(records, "record"));
    Failure::new(Exit::Doubt, "historyLost", said).hint(
        "there was no copy of them: what they did cannot be undone any more; what the command changed can",
    )
}

/// What became of what had changed, if the command was cut short.
fn what_changed(recorded: bool) -> &'static str {
    if recorded {
        "what had changed is recorded: `relay log`"
    } else {
        "nothing had changed that could be recorded"
    }
}

fn not_run(error: &ExecError, recorded: bool) -> Failure {
    match error {
        ExecError::NotFound { .. } | ExecError::CannotRun { .. } | ExecError::Directory { .. } => {
            Failure::new(Exit::Usage, "notRun", error).hint("nothing was run, and nothing is recorded")
        }
        _ => Failure::unexpected(error).hint(what_changed(recorded)),
    }
}

/// Ctrl-\ is meant for the command as well.
fn outlive_quit() -> Result<(), Failure> {
    let caught = signal_hook::flag::register(signal_hook::consts::SIGQUIT, Arc::new(AtomicBool::new(false)));
    caught.map(drop).map_err(|error| Failure::unexpected(format!("signals cannot be caught: {error}")))
}
