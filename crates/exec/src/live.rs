//! A conversation with a job: both sides speak while it runs.
//!
//! Everything is pulled: nothing is read while nobody asks, so a job that prints without end waits for its
//! reader, and memory does not grow. When this value goes, the job and all its descendants are over.

use std::time::{Duration, Instant};

use crate::outcome::{ExecError, Finished};
use crate::run::{Running, Stream};

/// A job that runs. See [`crate::Runner::start`].
pub struct Live {
    running: Option<Running>,
    /// What came of the last step and was not handed out yet.
    waiting: Vec<Said>,
}

/// What a job has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It printed this to standard output.
    Output(Vec<u8>),
    /// It printed this to standard error.
    Errors(Vec<u8>),
    /// Nothing in the given time.
    Nothing,
    /// It has ended, and all its descendants with it. What it printed last was handed out before.
    Over(Box<Finished>),
}

impl Live {
    pub(crate) fn new(running: Running) -> Live {
        Live { running: Some(running), waiting: Vec::new() }
    }

    /// Gives the job more to read. Returns at once: it is written while [`Live::next`] waits.
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(running) = &mut self.running {
            running.send(bytes);
        }
    }

    /// Bytes that were given and are not taken yet.
    pub fn unread(&self) -> usize {
        self.running.as_ref().map_or(0, Running::unread)
    }

    /// The job reads what it was given, and then the end of it.
    pub fn close_input(&mut self) {
        if let Some(running) = &mut self.running {
            running.close_input();
        }
    }

    /// Waits for what the job says next, `most` at most. `stop` is asked often; when it says yes, the job is
    /// ended, and what is said next leads to [`Said::Over`].
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more. It is over then.
    pub fn next(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<Said, ExecError> {
        let until = Instant::now() + most;
        loop {
            if !self.waiting.is_empty() {
                return Ok(self.waiting.remove(0));
            }
            let Some(running) = &mut self.running else {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(ExecError::System { action: "talk with a process that has ended", source });
            };
            let waiting = &mut self.waiting;
            let watch = &mut |stream, bytes: &[u8]| {
                waiting.push(match stream {
                    Stream::Output => Said::Output(bytes.to_vec()),
                    Stream::Errors => Said::Errors(bytes.to_vec()),
                });
            };
            let left = until.saturating_duration_since(Instant::now());
            match running.step(stop, watch, left) {
                Ok(None) => {}
                Ok(Some(last)) => {
                    running.read_the_rest(watch);
                    if let Some(running) = self.running.take() {
                        let finished = running.finish(last, stop)?;
                        self.waiting.push(Said::Over(Box::new(finished)));
                    }
                }
                Err(error) => {
                    self.running = None;
                    return Err(error);
                }
            }
            if self.waiting.is_empty() && left.is_zero() {
                return Ok(Said::Nothing);
            }
        }
    }

    /// Ends the job and everything that it started, and says what came of it. `None` if it had ended.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(mut self) -> Result<Option<Finished>, ExecError> {
        if self.running.is_none() {
            let over = |said| if let Said::Over(finished) = said { Some(*finished) } else { None };
            return Ok(self.waiting.into_iter().find_map(over));
        }
        loop {
            match self.next(&|| true, Duration::from_secs(1))? {
                Said::Over(finished) => return Ok(Some(*finished)),
                // What it still prints is of no use to anybody, and kept as far as it is kept.
                Said::Output(_) | Said::Errors(_) | Said::Nothing => {}
            }
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("over", &self.running.is_none()).finish_non_exhaustive()
    }
}
