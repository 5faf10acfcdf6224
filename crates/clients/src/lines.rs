//! A child that speaks in lines: what it prints, a line at a time, and what is said to it.
//!
//! A line longer than [`MOST_LINE`] is not kept: it is told as [`Heard::TooLong`], and reading goes on behind it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Finished, Job, Live, Runner, Said};

/// Bytes of one line at most.
pub const MOST_LINE: usize = 64 << 20;

/// A child that speaks in lines.
#[derive(Debug)]
pub struct Lines {
    live: Live,
    /// The line that is being read.
    part: Vec<u8>,
    /// It is longer than any line may be.
    overlong: bool,
    ready: VecDeque<Heard>,
    /// Bytes of standard error since they were last taken, at most [`MOST_ERRORS`].
    errors: Vec<u8>,
}

/// Bytes of standard error that are kept for whoever asks; the beginning goes first.
const MOST_ERRORS: usize = 64 << 10;

/// What a child that speaks in lines has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A line of standard output, without its end.
    Line(Vec<u8>),
    /// A line was longer than any may be, and was passed over.
    TooLong,
    /// Nothing in the given time; also: only something on standard error.
    Nothing,
    /// It has ended.
    Over(Box<Finished>),
}

impl Lines {
    /// Starts the child. Its [`Job::input`] should be [`relaycode_exec::Input::Open`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job) -> Result<Lines, ExecError> {
        let live = runner.start(job)?;
        Ok(Lines { live, part: Vec::new(), overlong: false, ready: VecDeque::new(), errors: Vec::new() })
    }

    /// Says a line. Returns at once; it is written while [`Lines::next`] waits.
    pub fn say(&mut self, line: &[u8]) {
        self.live.send(line);
        self.live.send(b"\n");
    }

    /// Bytes that were said and are not taken yet.
    pub fn unread(&self) -> usize {
        self.live.unread()
    }

    /// Says nothing more.
    pub fn close(&mut self) {
        self.live.close_input();
    }

    /// Waits for the next line, `most` at most. `stop` is asked often; when it says yes, the child is ended,
    /// and what is heard next leads to [`Heard::Over`].
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more.
    pub fn next(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<Heard, ExecError> {
        let until = Instant::now() + most;
        loop {
            if let Some(heard) = self.ready.pop_front() {
                return Ok(heard);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.live.next(stop, left)? {
                Said::Output(bytes) => self.split(&bytes),
                Said::Errors(bytes) => {
                    self.errors.extend_from_slice(&bytes);
                    let over = self.errors.len().saturating_sub(MOST_ERRORS);
                    self.errors.drain(..over);
                    return Ok(Heard::Nothing);
                }
                Said::Nothing => return Ok(Heard::Nothing),
                Said::Over(finished) => {
                    self.last_line();
                    self.ready.push_back(Heard::Over(finished));
                }
            }
        }
    }

    /// What the child printed to standard error since this was last asked, as far as it was kept.
    pub fn take_errors(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.errors)
    }

    /// Ends the child and everything that it started. `None` if it had ended before, and was heard.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(self) -> Result<Option<Finished>, ExecError> {
        let over = |heard| if let Heard::Over(finished) = heard { Some(*finished) } else { None };
        if let Some(finished) = self.ready.into_iter().find_map(over) {
            return Ok(Some(finished));
        }
        self.live.end()
    }

    fn split(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.add(&bytes[..end]);
            self.ready.push_back(if std::mem::take(&mut self.overlong) {
                self.part.clear();
                Heard::TooLong
            } else {
                let mut line = std::mem::take(&mut self.part);
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                Heard::Line(line)
            });
            bytes = &bytes[end + 1..];
        }
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.overlong || self.part.len() + bytes.len() > MOST_LINE {
            self.overlong = true;
            self.part = Vec::new();
        } else {
            self.part.extend_from_slice(bytes);
        }
    }

    /// A last line without an end is one, too.
    fn last_line(&mut self) {
        if self.overlong {
            self.ready.push_back(Heard::TooLong);
        } else if !self.part.is_empty() {
            self.ready.push_back(Heard::Line(std::mem::take(&mut self.part)));
        }
    }
}
