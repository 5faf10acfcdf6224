//! Questions to the person at the terminal: on the terminal itself, whatever stdin and stdout are.
//!
//! Nothing that was typed before a question appeared counts as its answer, and nothing that was not
//! finished with Enter does. A process that is not in the terminal's foreground has nobody to ask.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use terminal_size::terminal_size_of;

use crate::failure::{Exit, Failure, State};
use crate::signals::Held;

/// The terminal that relay was started from.
pub(crate) struct Terminal {
    file: File,
}

/// What came when a question was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A line, without blanks around it; perhaps an empty one.
    Line(String),
    /// The end of input, also in the middle of a line.
    End,
    /// A signal asked to stop.
    Stopped,
    /// The terminal is gone, or cannot be read.
    Gone(String),
}

/// Bytes of an answer that are looked at. A terminal hands out no longer lines.
const ANSWER_BYTES: usize = 4_096;

/// A signal that comes just before the wait begins does not end it: it is seen after this long.
const GLANCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

impl Terminal {
    /// The terminal, if there is one with somebody at it.
    pub(crate) fn open() -> Option<Terminal> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let foreground = tcgetpgrp(&file).ok()?;
        (foreground == getpgrp()).then_some(Terminal { file })
    }

    /// A terminal that is open already.
    #[cfg(test)]
    pub(crate) fn over(file: File) -> Terminal {
        Terminal { file }
    }

    /// The terminal as a stream.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The lines that it shows at once.
    pub(crate) fn rows(&self) -> Option<usize> {
        terminal_size_of(&self.file).map(|(_, height)| usize::from(height.0)).filter(|rows| *rows > 0)
    }

    /// Writes text, which is safe already.
    pub(crate) fn say(&mut self, text: &str) {
        // A terminal that is gone shows when it is read from.
        let _ = self.file.write_all(text.as_bytes());
    }

    /// Asks, and reads one line. The end of input is an empty line: the safe answer.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let signals = Held::begin()?;
        match self.prompt(question, &|| signals.asked()) {
            Answer::Line(line) => Ok(line),
            Answer::End => Ok(String::new()),
            Answer::Stopped => {
                Err(Failure::new(Exit::Interrupted, "interrupted", "interrupted").left(State::Unchanged))
            }
            Answer::Gone(said) => {
                let message = format!("the terminal cannot be read: {said}");
                Err(Failure::unexpected(message).left(State::Unchanged))
            }
        }
    }

    /// Asks, and waits for what comes. `stopped` is asked now and then, and after every signal.
    pub(crate) fn prompt(&mut self, question: &str, stopped: &dyn Fn() -> bool) -> Answer {
        // Before the question stands there: whoever answers at once is heard.
        let _ = tcflush(&self.file, QueueSelector::IFlush);
        self.say(question);
        let answer = self.line(stopped).unwrap_or_else(|error| Answer::Gone(error.to_string()));
        // Also when it came together with the line.
        let answer = if stopped() { Answer::Stopped } else { answer };
        if matches!(answer, Answer::Stopped | Answer::End) {
            self.say("\n");
        }
        answer
    }

    fn line(&self, stopped: &dyn Fn() -> bool) -> io::Result<Answer> {
        let mut poll_on = [PollFd::new(&self.file, PollFlags::IN)];
        loop {
            if stopped() {
                return Ok(Answer::Stopped);
            }
            match poll(&mut poll_on, Some(&GLANCE)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        if poll_on[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Answer::Gone("it was closed".to_string()));
        }
        // The terminal hands out whole lines.
        let mut bytes = [0; ANSWER_BYTES];
        let count = (&self.file).read(&mut bytes)?;
        match bytes[..count].strip_suffix(b"\n") {
            Some(line) => Ok(Answer::Line(String::from_utf8_lossy(line).trim().to_string())),
            None => Ok(Answer::End),
        }
    }
}

/// Whether an answer is a yes; anything else is not.
pub(crate) fn is_yes(answer: &str) -> bool {
    answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes")
}

/// There is no terminal to ask on.
pub(crate) fn nobody(message: &str, hint: &str) -> Failure {
    Failure::new(Exit::NobodyToAsk, "nobodyToAsk", message).hint(hint).left(State::Unchanged)
}
