//! A child process that speaks in lines.
//!
//! Invariant: memory is bounded on both sides. A line longer than [`MAX_LINE_BYTES`], or with more than
//! [`MAX_LINE_VALUES`] JSON values, is not kept: it is reported as [`LineEvent::LineTooLong`], and reading
//! goes on after it. A child that does not read its input is sent nothing more: [`LineEvent::NotReading`].

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Job, JobOutcome, LiveJob, ProcessEvent, Runner};

/// The largest answer and the largest file accepted have 16 MiB, and may be twice as long in JSON.
pub const MAX_LINE_BYTES: usize = 32 << 20;

/// A value that takes two bytes in a line takes up to half a kilobyte in memory.
pub const MAX_LINE_VALUES: usize = 100_000;

/// Most bytes that may wait for the child to read them.
pub const MAX_UNREAD_BYTES: usize = 32 << 20;

/// How often a wait checks whether to go on.
pub(crate) const TICK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct LineProcess {
    live: LiveJob,
    partial_line: Vec<u8>,
    /// The current line is over the limit.
    overlong: bool,
    ready: VecDeque<LineEvent>,
    /// Standard error since it was last taken, at most [`MAX_STDERR_BYTES`].
    errors: Vec<u8>,
    not_reading: bool,
}

/// Bytes of standard error that are kept; the oldest go first.
const MAX_STDERR_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineEvent {
    /// A line of standard output, without its line end.
    Line(Vec<u8>),
    /// A line over a limit, which was skipped.
    LineTooLong,
    /// The child does not read its input, so part of it was never sent ([`MAX_UNREAD_BYTES`]). Reported
    /// once.
    NotReading,
    /// Nothing on standard output within the time.
    Idle,
    Exited(Box<JobOutcome>),
}

impl LineProcess {
    /// Its [`Job::input`] should be [`relaycode_exec::JobInput::Piped`].
    pub fn start(runner: &Runner, job: &Job) -> Result<LineProcess, ExecError> {
        let (live, ready) = (runner.start(job)?, VecDeque::new());
        let (partial_line, errors) = (Vec::new(), Vec::new());
        Ok(LineProcess { live, partial_line, overlong: false, ready, errors, not_reading: false })
    }

    /// Returns at once; the line is written while [`LineProcess::next`] waits. A line of any length is
    /// taken, unless too much of the earlier ones still waits to be read.
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

    pub fn close_input(&mut self) {
        self.live.close_input();
    }

    /// Waits for the next line, at most `most`.
    pub fn next(&mut self, most: Duration) -> Result<LineEvent, ExecError> {
        let until = Instant::now() + most;
        loop {
            if let Some(heard) = self.ready.pop_front() {
                return Ok(heard);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.live.next_event(&|| false, left)? {
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

    /// Standard error since the last call, as far as it was kept.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.errors)
    }

    /// Closes the input and lets the child exit by itself, so that it can save its state. After `most`, or when
    /// `stop` says so, it is ended. The result is that of [`LineProcess::end`].
    pub fn shut_down(
        mut self,
        most: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<JobOutcome>, ExecError> {
        self.close_input();
        let until = Instant::now() + most;
        while Instant::now() < until && !stop() {
            if let LineEvent::Exited(finished) = self.next(TICK)? {
                return Ok(Some(*finished));
            }
        }
        self.end()
    }

    /// Ends the child and everything it started. `None` if its exit was reported before.
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

    /// Output may end without a line end.
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

/// Whether a line of JSON has more than [`MAX_LINE_VALUES`] values, judged by its separators. Other lines
/// have none.
fn has_too_many_values(line: &[u8]) -> bool {
    // Each value but the first is preceded by something counted here.
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

/// The bytes after a string whose opening quote was passed.
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
