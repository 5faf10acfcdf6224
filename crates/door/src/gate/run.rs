//! Running the project's commands: one at a time, in the project's directory, under the keeper, with a
//! deadline; errors are counted as the output streams by.

use relaycode_exec::{
    CaptureLimits, CapturedOutput, Deadlines, ExecError, ExitReason, FenceAccess, Job, JobEnvironment,
    JobOutcome,
};
use relaycode_project::access::Access;
use relaycode_project::fence::{CommandFence, FenceGrants, FencePlace};
use relaycode_project::permissions::{PermissionEngine, PermissionPlace, PermissionStore};
use relaycode_project::protected::SECRET_VARIABLES;
use relaycode_text::redact::redact;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use super::{GateStep, StepReport, StepResult};
use crate::approval::approver::{Approver, DoorEvent};
use crate::door::Door;
use crate::linter::{LinterCount, LinterCounter};

/// Set for every command of a gate: the project that it judges. `relay apply` in there would be judged by the
/// same command again, and so on.
pub const GATE_VARIABLE: &str = "RELAY_GATE";

/// Bytes of a command's output that a report keeps, from its end.
const OUTPUT_BYTES: usize = 8 << 10;
/// Bytes before these that are looked at with them: a secret that began there would not be known by its rest.
const BEFORE_BYTES: usize = 72 << 10;

/// Runs one command of the project; the linter's errors are counted.
pub(crate) fn run_step(
    door: &Door,
    step: GateStep,
    command: &str,
    approver: &mut dyn Approver,
) -> (StepReport, Option<LinterCount>) {
    approver.on_event(&DoorEvent::StepStarted { step, command: &redact(command) });
    let mut job = Job {
        deadlines: Deadlines { total: Some(door.command_timeout()), ..Deadlines::default() },
        capture: CaptureLimits { head: 0, tail: BEFORE_BYTES + OUTPUT_BYTES, spill: None },
        environment: JobEnvironment {
            set: vec![(GATE_VARIABLE.into(), door.root.clone().into_os_string())],
            ..JobEnvironment::default()
        },
        ..Job::shell(command, &door.root)
    };
    let mut counter = LinterCounter::new(command);
    let ran = {
        // Both closures want the approver: the one asks it, the other tells it.
        let approver = std::cell::RefCell::new(&mut *approver);
        let stop = || approver.borrow().stop_requested();
        let mut watch = |bytes: &[u8]| {
            counter.feed(bytes);
            approver.borrow_mut().on_event(&DoorEvent::StepOutput { bytes });
        };
        match &door.gate_fence {
            Some(fence) => fence.run(door, &mut job, &stop, &mut watch),
            None => door.runner.run(&job, &stop, &mut watch),
        }
    };
    let report = step_report(step, command, ran);
    let judged = matches!(report.result, StepResult::Exited { code } if !could_not_run(code));
    let counted = judged.then(|| without_secrets(counter.finish(report.succeeded())));
    approver.on_event(&DoorEvent::StepFinished { report: &report });
    (report, counted)
}

/// What a fence around the project's commands needs of the machine. They run without a question: the user trusted exactly them.
#[derive(Debug, Clone)]
pub struct GateFence {
    pub access: FenceAccess,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// Where directories for temporary files are made.
    pub scratch: PathBuf,
    /// What the user's environment holds.
    pub variable: fn(&str) -> Option<OsString>,
}

impl GateFence {
    fn run(
        &self,
        door: &Door,
        job: &mut Job,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<JobOutcome, ExecError> {
        let place = FencePlace {
            root: &door.root,
            user_home: self.user_home.as_deref(),
            relay_home: door.home(),
            temp: &self.scratch,
            listings: None,
        };
        let grants = FenceGrants { hidden: self.denied_reads(door), ..FenceGrants::default() };
        let fence = CommandFence::new(&place, self.access, &grants, &self.variable);
        let mut fence =
            fence.map_err(|source| ExecError::System { action: "make a directory for the fence", source })?;
        let guard = fence.project.git.take().map(|found| door.guard_git(found));
        job.environment.remove.extend(SECRET_VARIABLES.iter().map(OsString::from));
        job.environment.set.extend(fence.project.environment.iter().cloned());
        job.fence = Some(Box::new(fence.project.fence.clone()));
        let ran = door.runner.run_fenced(job, &self.scratch, stop, watch);
        if let Some(guard) = guard {
            let report = guard.finish(job.fence.as_deref(), ran.as_ref().ok());
            report.files.iter().for_each(|file| watch(format!("{}\n", file.sentence()).as_bytes()));
        }
        ran
    }
}

impl GateFence {
    /// What the user's rules say is never read. Where they cannot be read, the command runs as without any.
    fn denied_reads(&self, door: &Door) -> Vec<PathBuf> {
        let layers = PermissionStore::new(door.home()).load(&door.root, &door.loaded).unwrap_or_default();
        let place = PermissionPlace {
            root: door.root.clone(),
            directory: door.root.clone(),
            home: self.user_home.clone(),
            temporary: Vec::new(),
            access: Access::Workspace,
            is_fenced: true,
        };
        PermissionEngine::new(layers, place).denied_reads()
    }
}

/// What a shell says when there is no such command.
const COMMAND_NOT_FOUND: i32 = 127;
/// What a shell says when a command may not or cannot be executed.
const CANNOT_EXECUTE: i32 = 126;
/// What a shell adds to the number of the signal that ended a command.
const BY_SIGNAL: i32 = 128;
/// The highest number of a signal.
const LAST_SIGNAL: i32 = 64;

/// Whether a shell says with this code that nothing ran to its end: then nothing was judged, and the same
/// failure before and after a change speaks for nothing.
fn could_not_run(code: i32) -> bool {
    matches!(code, CANNOT_EXECUTE | COMMAND_NOT_FOUND) || signal_of_code(code).is_some()
}

/// The signal that a shell speaks of.
fn signal_of_code(code: i32) -> Option<i32> {
    (BY_SIGNAL + 1..=BY_SIGNAL + LAST_SIGNAL).contains(&code).then(|| code - BY_SIGNAL)
}

fn step_report(step: GateStep, command: &str, ran: Result<JobOutcome, ExecError>) -> StepReport {
    let (took, output, left_behind) = match &ran {
        Ok(finished) => (finished.took, output_tail(&finished.stdout), finished.left_behind),
        Err(_) => Default::default(),
    };
    let escaped = ran.as_ref().ok().and_then(JobOutcome::escaped_note);
    let escaped = escaped.map(|note| format!("; {note}")).unwrap_or_default();
    let cannot_run =
        |text: &str| StepResult::CannotRun { text: redact(&format!("{text}{escaped}")).into_owned() };
    let result = match ran.map(|finished| finished.reason) {
        Ok(ExitReason::Exited(code)) => StepResult::Exited { code },
        Ok(ExitReason::Signalled(signal)) => StepResult::Signalled { signal },
        Ok(ExitReason::DeadlinePassed) => StepResult::TooLong,
        Ok(ExitReason::Idle) => StepResult::Silent,
        Ok(ExitReason::Stopped) => StepResult::Stopped,
        Ok(ExitReason::KeeperLost) => cannot_run("the process that watched it was ended"),
        Err(error) => cannot_run(&error.to_string()),
    };
    StepReport { step, command: redact(command).into_owned(), result, took, output, left_behind }
}

/// The end of what a command printed, with its secrets blacked out before anything is cut off.
fn output_tail(captured: &CapturedOutput) -> String {
    // All of it is the beginning, where nothing was dropped.
    let all = [captured.head.as_slice(), &captured.tail].concat();
    let mut bytes = all.as_slice();
    let whole_lines = bytes.iter().position(|byte| *byte == b'\n').filter(|at| *at < BEFORE_BYTES);
    if let Some(at) = whole_lines.filter(|_| captured.dropped > 0) {
        bytes = &bytes[at + 1..];
    }
    let text = String::from_utf8_lossy(bytes);
    let text = redact(&text);
    let mut from = text.len().saturating_sub(OUTPUT_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_string()
}

/// The errors with their secrets blacked out: they are shown, and told to machines.
fn without_secrets(mut counted: LinterCount) -> LinterCount {
    for diagnostic in &mut counted.diagnostics {
        for text in [&mut diagnostic.file, &mut diagnostic.code, &mut diagnostic.message] {
            if let Cow::Owned(clean) = redact(text) {
                *text = clean;
            }
        }
    }
    counted
}

impl StepReport {
    /// It ended by itself and says that all is well.
    pub fn succeeded(&self) -> bool {
        self.result == StepResult::Exited { code: 0 }
    }

    /// What went wrong before anything was changed: `linter `ruff` not found in PATH`.
    pub fn failure_sentence(&self) -> String {
        let name = match self.step {
            GateStep::Baseline => GateStep::Linter.name(),
            step => step.name(),
        };
        match self.missing_program() {
            Some(program) => format!("{name} `{program}` not found in PATH"),
            None => format!("{name} `{}` {}", self.command, self.result_phrase()),
        }
    }

    /// The program that the shell did not find, where the command is nothing but a program and its arguments.
    pub fn missing_program(&self) -> Option<&str> {
        let is_plain = |c: char| c.is_alphanumeric() || " -_./=:,@+".contains(c);
        let program = self.command.split(' ').next().filter(|program| !program.contains(['/', '=']))?;
        let not_found = self.result == StepResult::Exited { code: COMMAND_NOT_FOUND };
        (not_found && self.command.chars().all(is_plain)).then_some(program)
    }

    /// How it went, as the end of a sentence that begins with the command.
    pub fn result_phrase(&self) -> String {
        match &self.result {
            StepResult::Exited { code: 0 } => "succeeded".to_string(),
            StepResult::Exited { code: COMMAND_NOT_FOUND } => "failed: command not found".to_string(),
            StepResult::Exited { code: CANNOT_EXECUTE } => "cannot be executed".to_string(),
            StepResult::Exited { code } => match signal_of_code(*code) {
                Some(signal) => format!("was ended by signal {signal}"),
                None => format!("ended with code {code}"),
            },
            StepResult::Signalled { signal } => format!("was ended by signal {signal}"),
            StepResult::TooLong => format!("was ended after {} s", self.took.as_secs()),
            StepResult::Silent => "printed nothing for too long and was ended".to_string(),
            StepResult::Stopped => "was stopped".to_string(),
            StepResult::CannotRun { text } => format!("could not be run: {text}"),
        }
    }
}
