//! A conversation with a job: both sides speak while it runs.
//!
//! Everything is pulled: nothing is read while nobody asks, so a job that prints without end waits for its
//! reader, and memory does not grow. When this value goes, the job and all its descendants are over.

use std::time::{Duration, Instant};

use crate::runner::{OutputStream, RunningJob};
use crate::{ExecError, JobOutcome};

/// A job that runs. See [`crate::Runner::start`].
pub struct LiveJob {
    running: Option<RunningJob>,
    /// What came of the last step and was not handed out yet.
    pending_events: Vec<ProcessEvent>,
}

/// What a job has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It printed this to standard output.
    Stdout(Vec<u8>),
    /// It printed this to standard error.
    Stderr(Vec<u8>),
    /// Nothing in the given time.
    Timeout,
    /// It has ended, and all its descendants with it. What it printed last was handed out before.
    Finished(Box<JobOutcome>),
}

impl LiveJob {
    pub(crate) fn new(running: RunningJob) -> LiveJob {
        LiveJob { running: Some(running), pending_events: Vec::new() }
    }

    /// Gives the job more to read. Returns at once: it is written while [`LiveJob::next`] waits.
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(running) = &mut self.running {
            running.send(bytes);
        }
    }

    /// Bytes that were given and are not taken yet.
    pub fn unsent_bytes(&self) -> usize {
        self.running.as_ref().map_or(0, RunningJob::unsent_bytes)
    }

    /// The job reads what it was given, and then the end of it.
    pub fn close_input(&mut self) {
        if let Some(running) = &mut self.running {
            running.close_input();
        }
    }

    /// Waits for what the job says next, `most` at most. `stop` is asked often; when it says yes, the job is
    /// ended, and what is said next leads to [`ProcessEvent::Finished`].
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more. It is over then.
    pub fn next_event(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<ProcessEvent, ExecError> {
        let until = Instant::now() + most;
        loop {
            if !self.pending_events.is_empty() {
                return Ok(self.pending_events.remove(0));
            }
            let Some(running) = &mut self.running else {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(ExecError::System { action: "talk with a process that has ended", source });
            };
            let waiting = &mut self.pending_events;
            let watch = &mut |stream, bytes: &[u8]| {
                waiting.push(match stream {
                    OutputStream::Stdout => ProcessEvent::Stdout(bytes.to_vec()),
                    OutputStream::Stderr => ProcessEvent::Stderr(bytes.to_vec()),
                });
            };
            let left = until.saturating_duration_since(Instant::now());
            match running.step(stop, watch, left) {
                Ok(None) => {}
                Ok(Some(last)) => {
                    running.drain_output(watch);
                    if let Some(running) = self.running.take() {
                        let finished = running.finish(last, stop)?;
                        self.pending_events.push(ProcessEvent::Finished(Box::new(finished)));
                    }
                }
                Err(error) => {
                    self.running = None;
                    return Err(error);
                }
            }
            if self.pending_events.is_empty() && left.is_zero() {
                return Ok(ProcessEvent::Timeout);
            }
        }
    }

    /// Ends the job and everything that it started, and says what came of it. `None` if it had ended.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(mut self) -> Result<Option<JobOutcome>, ExecError> {
        if self.running.is_none() {
            let over =
                |said| if let ProcessEvent::Finished(finished) = said { Some(*finished) } else { None };
            return Ok(self.pending_events.into_iter().find_map(over));
        }
        loop {
            match self.next_event(&|| true, Duration::from_secs(1))? {
                ProcessEvent::Finished(finished) => return Ok(Some(*finished)),
                // What it still prints is of no use to anybody, and kept as far as it is kept.
                ProcessEvent::Stdout(_) | ProcessEvent::Stderr(_) | ProcessEvent::Timeout => {}
            }
        }
    }
}

impl std::fmt::Debug for LiveJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveJob").field("over", &self.running.is_none()).finish_non_exhaustive()
    }
}
