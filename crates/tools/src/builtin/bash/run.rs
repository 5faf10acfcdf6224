//! A command on a thread of its own: it outlives its call when it goes on in the background. Whatever way it ends, what it changed
//! is recorded before anybody hears of the end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use relaycode_door::GitGuardReport;
use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use relaycode_llm::CancelToken;
use relaycode_project::fence::ProjectFence;

use crate::command_recorder::{CommandChanges, CommandRecorder, RecorderStart};
use crate::jobs::{BackgroundJobs, TooManyJobsError};
use crate::tool::{ToolError, ToolOutput};

/// Bytes of live output.
const MAX_TAIL: usize = 4 << 10;

/// A command that is ready to run.
pub(super) struct CommandOrder {
    pub runner: Runner,
    pub scratch: PathBuf,
    pub job: Job,
    pub fence: Option<ProjectFence>,
    /// `None`: it cannot change the project.
    pub record: Option<RecorderStart>,
    pub recorder: Arc<CommandRecorder>,
    pub cancel: CancelToken,
}

/// What came of a command.
pub(super) struct CommandRun {
    /// `Err` with a sentence: it did not begin.
    pub outcome: Result<JobOutcome, CommandRunError>,
    pub fence: Option<ProjectFence>,
    /// What steers git and is as before again.
    pub git: GitGuardReport,
    /// `Err`: what it changed is not recorded, and why.
    pub changes: Result<CommandChanges, String>,
    /// Line feeds that it printed.
    pub lines: u64,
}

/// Why a command did not begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandRunError {
    #[error("the project could not be backed up before the command, so it did not run: {0}")]
    NotSecured(String),
    #[error(transparent)]
    Exec(#[from] ExecError),
}

/// What a command printed last, for whoever watches it.
#[derive(Default)]
pub(super) struct LiveOutput(Mutex<LiveTail>);

#[derive(Default)]
struct LiveTail {
    bytes: VecDeque<u8>,
    lines: u64,
    is_new: bool,
}

impl LiveOutput {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        tail.is_new = true;
        let last = &bytes[bytes.len().saturating_sub(MAX_TAIL)..];
        let over = (tail.bytes.len() + last.len()).saturating_sub(MAX_TAIL);
        tail.bytes.drain(..over);
        tail.bytes.extend(last);
    }

    fn lines(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lines
    }

    /// The end of what it printed, if there is more than last time.
    pub(super) fn news(&self) -> Option<String> {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut tail.is_new) {
            return None;
        }
        Some(String::from_utf8_lossy(tail.bytes.make_contiguous()).into_owned())
    }
}

/// Who is told of the end.
enum RunListener {
    Call(SyncSender<CommandRun>),
    Job(String),
}

/// A command that runs, seen from its call.
pub(super) struct RunningCommand {
    pub result: Receiver<CommandRun>,
    pub live: Arc<LiveOutput>,
    listener: Arc<Mutex<Option<RunListener>>>,
    jobs: Arc<BackgroundJobs>,
    cancel: CancelToken,
    label: String,
    began: Instant,
    thread: JoinHandle<()>,
}

impl RunningCommand {
    /// Starts it. `report` makes the result of a job of what came of it.
    pub(super) fn start(
        order: CommandOrder,
        jobs: Arc<BackgroundJobs>,
        label: &str,
        report: impl FnOnce(&CommandRun) -> Result<ToolOutput, ToolError> + Send + 'static,
    ) -> RunningCommand {
        let (sender, result) = sync_channel(1);
        let live = Arc::new(LiveOutput::default());
        let listener = Arc::new(Mutex::new(Some(RunListener::Call(sender))));
        let cancel = order.cancel.clone();
        let thread = {
            let (live, listener, jobs) = (live.clone(), listener.clone(), jobs.clone());
            std::thread::spawn(move || {
                let run = order.run(&live);
                let listener = listener.lock().unwrap_or_else(PoisonError::into_inner).take();
                match listener {
                    // Whoever called may be gone.
                    Some(RunListener::Call(sender)) => drop(sender.send(run)),
                    Some(RunListener::Job(id)) => jobs.complete(&id, job_result(report(&run))),
                    None => {}
                }
            })
        };
        let began = Instant::now();
        RunningCommand { result, live, listener, jobs, cancel, label: label.to_string(), began, thread }
    }

    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Lets it go on in the background. `Ok(Err)`: it has just ended, and its result is here.
    ///
    /// # Errors
    /// If too many do already. It goes on for its call.
    pub(super) fn move_to_background(self) -> Result<Result<String, Self>, (TooManyJobsError, Self)> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.is_none() {
            drop(listener);
            return Ok(Err(self));
        }
        match self.jobs.register("bash", &self.label, self.began, self.cancel.clone()) {
            Ok(id) => {
                *listener = Some(RunListener::Job(id.clone()));
                drop(listener);
                self.jobs.keep_thread(self.thread);
                Ok(Ok(id))
            }
            Err(error) => {
                drop(listener);
                Err((error, self))
            }
        }
    }
}

/// As a list of jobs shows it.
fn job_result(result: Result<ToolOutput, ToolError>) -> Result<String, String> {
    match result {
        Ok(output) => Ok(output.to_text()),
        Err(error) => Err(error.to_string()),
    }
}

impl CommandOrder {
    fn run(mut self, live: &LiveOutput) -> CommandRun {
        let record = self.record.take();
        let call = record.as_ref().map(|start| start.call.clone());
        if let Some(start) = record {
            match self.recorder.begin(start) {
                Ok(keep_open) => self.job.keep_open = keep_open,
                Err(error) => {
                    let outcome = Err(CommandRunError::NotSecured(error));
                    let changes = Ok(CommandChanges::default());
                    return CommandRun {
                        outcome,
                        fence: self.fence,
                        changes,
                        git: GitGuardReport::default(),
                        lines: 0,
                    };
                }
            }
        }
        let door = self.recorder.door().clone();
        let guard = self.fence.as_mut().and_then(|fence| fence.git.take());
        let guard = guard.map(|found| door.guard_git(found));
        let stop = || self.cancel.is_cancelled();
        let mut watch = |bytes: &[u8]| live.push(bytes);
        self.job.fence = self.fence.as_ref().map(|fence| Box::new(fence.fence.clone()));
        let outcome = match self.job.fence {
            Some(_) => self.runner.run_fenced(&mut self.job, &self.scratch, &stop, &mut watch),
            None => self.runner.run(&self.job, &stop, &mut watch),
        };
        // The recording holds its own lock until here.
        self.job.keep_open = None;
        // Before anything else runs, also before another command that goes on has ended.
        let ran = outcome.as_ref().ok();
        let git = guard.map(|guard| guard.finish(self.job.fence.as_deref(), ran)).unwrap_or_default();
        let changes = match call {
            Some(call) => self.recorder.end(&call, outcome.as_ref().ok(), !git.is_empty()),
            None => Ok(CommandChanges::default()),
        };
        CommandRun {
            outcome: outcome.map_err(CommandRunError::from),
            fence: self.fence,
            git,
            changes,
            lines: live.lines(),
        }
    }
}

/// The words that run a command in bash: nothing of the user's start-up files, and what the wrapper is told.
pub(super) fn bash_words(
    own: &std::path::Path,
    (mode, number, startup): (&str, u64, bool),
    command: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["bash", "--noprofile", "--norc", "-c", include_str!("shell.sh"), "bash"]
        .map(OsString::from)
        .to_vec();
    words.push(own.into());
    words.push(mode.into());
    words.push(number.to_string().into());
    words.push(if startup { "startup" } else { "plain" }.into());
    words.push(command.into());
    words.extend(variables.map(|(name, value)| OsString::from(format!("{name}={value}"))));
    words
}
