//! A child that speaks in lines: what it prints, a line at a time, and what is said to it.
//!
//! Invariant: memory is bounded on both sides. A line longer than [`MOST_LINE`], or one that would be more than
//! [`MOST_VALUES`] values, is not kept: it is told as [`Heard::TooLong`], and reading goes on behind it. To one that does
//! not read what it is told, nothing more is said: [`Heard::Deaf`].

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Finished, Job, Live, Runner, Said};

/// Bytes of one line at most: the largest answer and the largest file that are taken have 16 MiB, and may be twice as
/// long in JSON.
pub const MOST_LINE: usize = 32 << 20;

/// Values in one line of JSON at most. A value that takes two bytes in a line takes up to half a kilobyte in memory.
pub const MOST_VALUES: usize = 100_000;

/// Bytes that may wait for the child to read them when more is said.
pub const MOST_UNREAD: usize = 32 << 20;

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
    /// It does not read what it is told.
    deaf: bool,
}

/// Bytes of standard error that are kept for whoever asks; the beginning goes first.
const MOST_ERRORS: usize = 64 << 10;

/// What a child that speaks in lines has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A line of standard output, without its end.
    Line(Vec<u8>),
    /// A line was longer than any may be, or had more values, and was passed over.
    TooLong,
    /// It does not read what it was told, and has not been told everything ([`MOST_UNREAD`]). Said once.
    Deaf,
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
        let (part, ready, errors) = (Vec::new(), VecDeque::new(), Vec::new());
        Ok(Lines { live, part, overlong: false, ready, errors, deaf: false })
    }

    /// Says a line. Returns at once; it is written while [`Lines::next`] waits. A line of any length is taken, unless
    /// too much of the earlier ones still waits to be read.
    pub fn say(&mut self, line: &[u8]) {
        if self.live.unread() > MOST_UNREAD {
            if !std::mem::replace(&mut self.deaf, true) {
                self.ready.push_front(Heard::Deaf);
            }
            return;
        }
        self.live.send(line);
        self.live.send(b"\n");
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
                as_heard(line)
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
            self.ready.push_back(as_heard(std::mem::take(&mut self.part)));
        }
    }
}

fn as_heard(line: Vec<u8>) -> Heard {
    if has_too_many_values(&line) { Heard::TooLong } else { Heard::Line(line) }
}

/// Whether a line of JSON has more values than are read, by what stands between them. What is no JSON has none.
fn has_too_many_values(line: &[u8]) -> bool {
    // Each value but the first has something before it that is counted here.
    let is_json = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
    if line.len() < MOST_VALUES || !is_json {
        return false;
    }
    let (mut rest, mut values) = (line, 0);
    while let Some(string) = memchr::memchr(b'"', rest) {
        values += between(&rest[..string]);
        rest = behind_string(&rest[string + 1..]);
        if values > MOST_VALUES {
            return true;
        }
    }
    values + between(rest) > MOST_VALUES
}

fn between(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// What follows a string whose beginning was passed.
fn behind_string(mut bytes: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', bytes) {
        if bytes[at] == b'"' {
            return &bytes[at + 1..];
        }
        bytes = bytes.get(at + 2..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let line = |inside: &str, times: usize| format!("{{\"a\":[{}0]}}", inside.repeat(times)).into_bytes();
        assert!(!has_too_many_values(&line("0,", MOST_VALUES - 10)));
        for many in ["0,", "[],", "{\"\":0},", "\"\",", "{\"a\\\"\":\",\\\\\"},"] {
            assert!(has_too_many_values(&line(many, MOST_VALUES)), "{many}");
            let shown = serde_json::Value::from(many.repeat(MOST_VALUES)).to_string();
            let text = format!("{{\"text\":{shown}}}");
            assert!(!has_too_many_values(text.as_bytes()), "a text of {many}");
        }
        assert!(!has_too_many_values(",".repeat(2 * MOST_VALUES).as_bytes()), "it is no JSON");
        assert!(!has_too_many_values(format!("{{{}", "\\".repeat(MOST_VALUES)).as_bytes()));
    }
}
