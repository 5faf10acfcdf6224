//! A child that speaks in lines: what it prints, a line at a time, and what is said to it.
//!
//! Invariant: memory is bounded on both sides. A line longer than [`MAX_LINE_BYTES`], or one that would be more than
//! [`MAX_LINE_VALUES`] values, is not kept: it is told as [`LineEvent::LineTooLong`], and reading goes on behind it. To one that does
//! not read what it is told, nothing more is said: [`LineEvent::NotReading`].

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Job, JobOutcome, LiveJob, ProcessEvent, Runner};

/// Bytes of one line at most: the largest answer and the largest file that are taken have 16 MiB, and may be twice as
/// long in JSON.
pub const MAX_LINE_BYTES: usize = 32 << 20;

/// Values in one line of JSON at most. A value that takes two bytes in a line takes up to half a kilobyte in memory.
pub const MAX_LINE_VALUES: usize = 100_000;

/// Bytes that may wait for the child to read them when more is said.
pub const MAX_UNREAD_BYTES: usize = 32 << 20;

/// A child that speaks in lines.
#[derive(Debug)]
pub struct LineProcess {
    live: LiveJob,
    /// The line that is being read.
    partial_line: Vec<u8>,
    /// It is longer than any line may be.
    overlong: bool,
    ready: VecDeque<LineEvent>,
    /// Bytes of standard error since they were last taken, at most [`MAX_STDERR_BYTES`].
    errors: Vec<u8>,
    /// It does not read what it is told.
    not_reading: bool,
}

/// Bytes of standard error that are kept for whoever asks; the beginning goes first.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// What a child that speaks in lines has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineEvent {
    /// A line of standard output, without its end.
    Line(Vec<u8>),
    /// A line was longer than any may be, or had more values, and was passed over.
    LineTooLong,
    /// It does not read what it was told, and has not been told everything ([`MAX_UNREAD_BYTES`]). Said once.
    NotReading,
    /// Nothing in the given time; also: only something on standard error.
    Idle,
    /// It has ended.
    Exited(Box<JobOutcome>),
}

impl LineProcess {
    /// Starts the child. Its [`Job::input`] should be [`relaycode_exec::Input::Open`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job) -> Result<LineProcess, ExecError> {
        let live = runner.start(job)?;
        let (part, ready, errors) = (Vec::new(), VecDeque::new(), Vec::new());
        Ok(LineProcess { live, partial_line: part, overlong: false, ready, errors, not_reading: false })
    }

    /// Says a line. Returns at once; it is written while [`LineProcess::next`] waits. A line of any length is taken, unless
    /// too much of the earlier ones still waits to be read.
    pub fn send_line(&mut self, line: &[u8]) {
        if self.live.unsent_bytes() > MAX_UNREAD_BYTES {
            if !std::mem::replace(&mut self.not_reading, true) {
                self.ready.push_front(LineEvent::NotReading);
            }
            return;
        }
        self.live.send(line);
        self.live.send(b"\n");
    }

    /// Says nothing more.
    pub fn close_input(&mut self) {
        self.live.close_input();
    }

    /// Waits for the next line, `most` at most. `stop` is asked often; when it says yes, the child is ended,
    /// and what is heard next leads to [`LineEvent::Finished`].
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more.
    pub fn next(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<LineEvent, ExecError> {
        let until = Instant::now() + most;
        loop {
            if let Some(heard) = self.ready.pop_front() {
                return Ok(heard);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.live.next_event(stop, left)? {
                ProcessEvent::Stdout(bytes) => self.split(&bytes),
                ProcessEvent::Stderr(bytes) => {
                    self.errors.extend_from_slice(&bytes);
                    let over = self.errors.len().saturating_sub(MAX_STDERR_BYTES);
                    self.errors.drain(..over);
                    return Ok(LineEvent::Idle);
                }
                ProcessEvent::Timeout => return Ok(LineEvent::Idle),
                ProcessEvent::Finished(finished) => {
                    self.flush_last_line();
                    self.ready.push_back(LineEvent::Exited(finished));
                }
            }
        }
    }

    /// What the child printed to standard error since this was last asked, as far as it was kept.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.errors)
    }

    /// Ends the child and everything that it started. `None` if it had ended before, and was heard.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(self) -> Result<Option<JobOutcome>, ExecError> {
        let over = |heard| if let LineEvent::Exited(finished) = heard { Some(*finished) } else { None };
        if let Some(finished) = self.ready.into_iter().find_map(over) {
            return Ok(Some(finished));
        }
        self.live.end()
    }

    fn split(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.append_bytes(&bytes[..end]);
            self.ready.push_back(if std::mem::take(&mut self.overlong) {
                self.partial_line.clear();
                LineEvent::LineTooLong
            } else {
                let mut line = std::mem::take(&mut self.partial_line);
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                line_event(line)
            });
            bytes = &bytes[end + 1..];
        }
        self.append_bytes(bytes);
    }

    fn append_bytes(&mut self, bytes: &[u8]) {
        if self.overlong || self.partial_line.len() + bytes.len() > MAX_LINE_BYTES {
            self.overlong = true;
            self.partial_line = Vec::new();
        } else {
            self.partial_line.extend_from_slice(bytes);
        }
    }

    /// A last line without an end is one, too.
    fn flush_last_line(&mut self) {
        if self.overlong {
            self.ready.push_back(LineEvent::LineTooLong);
        } else if !self.partial_line.is_empty() {
            self.ready.push_back(line_event(std::mem::take(&mut self.partial_line)));
        }
    }
}

fn line_event(line: Vec<u8>) -> LineEvent {
    if has_too_many_values(&line) { LineEvent::LineTooLong } else { LineEvent::Line(line) }
}

/// Whether a line of JSON has more values than are read, by what stands between them. What is no JSON has none.
fn has_too_many_values(line: &[u8]) -> bool {
    // Each value but the first has something before it that is counted here.
    let is_json = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
    if line.len() < MAX_LINE_VALUES || !is_json {
        return false;
    }
    let (mut rest, mut values) = (line, 0);
    while let Some(string) = memchr::memchr(b'"', rest) {
        values += count_separators(&rest[..string]);
        rest = skip_string(&rest[string + 1..]);
        if values > MAX_LINE_VALUES {
            return true;
        }
    }
    values + count_separators(rest) > MAX_LINE_VALUES
}

fn count_separators(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// What follows a string whose beginning was passed.
fn skip_string(mut bytes: &[u8]) -> &[u8] {
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
        assert!(!has_too_many_values(&line("0,", MAX_LINE_VALUES - 10)));
        for many in ["0,", "[],", "{\"\":0},", "\"\",", "{\"a\\\"\":\",\\\\\"},"] {
            assert!(has_too_many_values(&line(many, MAX_LINE_VALUES)), "{many}");
            let shown = serde_json::Value::from(many.repeat(MAX_LINE_VALUES)).to_string();
            let text = format!("{{\"text\":{shown}}}");
            assert!(!has_too_many_values(text.as_bytes()), "a text of {many}");
        }
        assert!(!has_too_many_values(",".repeat(2 * MAX_LINE_VALUES).as_bytes()), "it is no JSON");
        assert!(!has_too_many_values(format!("{{{}", "\\".repeat(MAX_LINE_VALUES)).as_bytes()));
    }
}
