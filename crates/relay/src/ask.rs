//! Questions to the person at the terminal: on the terminal itself, whatever stdin and stdout are.
//!
//! Nothing that was typed before a question appeared counts as its answer. A process that is not in
//! the terminal's foreground has nobody to ask.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

use crate::failure::{Exit, Failure, State};
use crate::signals::Held;

/// The terminal that relay was started from.
pub(crate) struct Terminal {
    file: File,
}

/// Bytes of an answer that are looked at.
const ANSWER_BYTES: usize = 256;

/// A signal that comes just before the wait begins does not end it: it is seen after this long.
const GLANCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

impl Terminal {
    /// The terminal, if there is one with somebody at it.
    pub(crate) fn open() -> Option<Terminal> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let foreground = tcgetpgrp(&file).ok()?;
        (foreground == getpgrp()).then_some(Terminal { file })
    }

    /// Writes text, which is safe already.
    pub(crate) fn say(&mut self, text: &str) {
        // A terminal that is gone shows when it is read from.
        let _ = self.file.write_all(text.as_bytes());
    }

    /// Asks, and reads one line. The end of input is an empty line: the safe answer.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let signals = Held::begin()?;
        // Before the question stands there: whoever answers at once is heard.
        let _ = tcflush(&self.file, QueueSelector::IFlush);
        self.say(question);
        let answer = self.line(&signals);
        if signals.asked() {
            self.say("\n");
            return Err(Failure::new(Exit::Interrupted, "interrupted", "interrupted").left(State::Unchanged));
        }
        answer.map_err(|error| {
            Failure::unexpected(format!("the terminal cannot be read: {error}")).left(State::Unchanged)
        })
    }

    fn line(&mut self, signals: &Held) -> io::Result<String> {
        let mut poll_on = [PollFd::new(&self.file, PollFlags::IN)];
        loop {
            if signals.asked() {
                return Ok(String::new());
            }
            match poll(&mut poll_on, Some(&GLANCE)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        // The terminal hands out whole lines.
        let mut bytes = [0; ANSWER_BYTES];
        let count = (&self.file).read(&mut bytes)?;
        if count == 0 {
            self.say("\n");
        }
        Ok(String::from_utf8_lossy(&bytes[..count]).trim().to_string())
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
