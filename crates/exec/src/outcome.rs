//! How a job ended and what it printed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A job that was started and has ended, with all its descendants (but see [`JobOutcome::escaped`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOutcome {
    /// How it ended.
    pub reason: ExitReason,
    /// What it printed to standard output (or to both, or to its terminal).
    pub stdout: CapturedOutput,
    /// What it printed to standard error.
    pub stderr: CapturedOutput,
    /// How long it took.
    pub took: Duration,
    /// Processes that it left behind and that were ended then.
    pub left_behind: usize,
    /// Processes whose end was not seen, at least: of another user (`sudo`), hanging in the kernel, or what a lost
    /// keeper kept where nobody can look for it.
    pub escaped: usize,
    /// What its fence was to protect and could not, because it did not exist or is a link: whoever wants to know whether it
    /// was made has to look. Of a fence of level 1 only.
    pub unprotected: Vec<PathBuf>,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which relay did not send.
    Signalled(i32),
    /// It took too long in all, and was ended.
    DeadlinePassed,
    /// It printed nothing for too long, and was ended.
    Idle,
    /// Whoever wanted it no longer did, and it was ended.
    Stopped,
    /// The keeper was ended by somebody, maybe by the job itself; relay ended what it kept (but see
    /// [`JobOutcome::escaped`]).
    KeeperLost,
}

impl ExitReason {
    /// Whether it ended by itself and says that all is well.
    pub fn is_success(self) -> bool {
        self == ExitReason::Exited(0)
    }
}

impl JobOutcome {
    /// What is known of those that were not seen to end, as the end of a sentence.
    pub fn escaped_note(&self) -> Option<String> {
        match self.escaped {
            0 => None,
            1 => Some("a process it started could not be stopped and may still be running".to_string()),
            count => {
                Some(format!("{count} processes it started could not be stopped and may still be running"))
            }
        }
    }
}

/// What one stream brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Its beginning; all of it if nothing was dropped.
    pub head: Vec<u8>,
    /// Its end, if not all of it is in `head`.
    pub tail: Vec<u8>,
    /// Bytes between the two that were not kept in memory.
    pub dropped: u64,
    /// The file with all of it, as far as it may grow. There is none if nothing was dropped, or if it
    /// could not be written.
    pub spill_file: Option<PathBuf>,
}

impl CapturedOutput {
    /// What was kept, as text: with a line that says how much is missing, if something is.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.dropped > 0 {
            text.push_str(&format!("\n… {} bytes left out …\n", self.dropped));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

/// A job that could not be started, or not be watched.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There is no such program.
    #[error("program `{program}` not found")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// There is one, and it cannot be run.
    #[error("`{program}` cannot be run: {source}")]
    CannotRun {
        /// Its name.
        program: String,
        source: io::Error,
    },
    /// The directory to run it in cannot be entered.
    #[error("the directory {} cannot be entered: {source}", directory.display())]
    Directory { directory: PathBuf, source: io::Error },
    /// The keeper, which is relay itself, could not be started or understood.
    #[error("relay could not start the process that keeps watch over `{program}`: {source}")]
    Keeper {
        /// What was to be run.
        program: String,
        source: io::Error,
    },
    /// Its fence could not be built, and it did not run.
    #[error("the fence around `{program}` cannot be built: {step}: {said}")]
    Fence {
        /// What was to be run.
        program: String,
        /// What was being done.
        step: String,
        /// What the system said.
        said: String,
    },
    /// There is no terminal.
    #[error("`{program}` needs a terminal, and there is none")]
    NoTerminal {
        /// Its name.
        program: String,
    },
    /// Anything else that the system said.
    #[error("cannot {action}: {source}")]
    System {
        /// What could not be done.
        action: &'static str,
        source: io::Error,
    },
}
