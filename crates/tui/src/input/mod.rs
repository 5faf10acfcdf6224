//! The terminal that relay was started from: questions and keys, whatever stdin and stdout are.
//!
//! Nothing that was typed before a question appeared counts as its answer, nothing that was not finished
//! with Enter does, and nothing that was pasted does either: that waits, and is taken for a change that
//! comes in. A process that is not in the terminal's foreground has nobody to ask.

pub mod decode;
mod line;
mod modes;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::unistd::{getpgrp, tcgetpgrp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use terminal_size::terminal_size_of;

use crate::look::Look;
use decode::{Decoder, Expect, Input, Key, Paste};
use line::{Line, Step};
pub use modes::{Lent, Listening};

/// The terminal that relay was started from. Clones are the same terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    file: Rc<File>,
    modes: Rc<modes::Modes>,
    heard: Rc<RefCell<Heard>>,
}

/// What came and was not taken yet.
#[derive(Debug, Default)]
struct Heard {
    decoder: Decoder,
    keys: VecDeque<Key>,
    pastes: VecDeque<Paste>,
    /// Pastes that came, and those for which there was no room.
    came: usize,
    lost: usize,
}

/// What came when a question was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A line, without blanks around it; perhaps an empty one.
    Line(String),
    /// The end of input.
    End,
    /// A signal asked to stop.
    Stopped,
    /// The terminal is gone, or cannot be read.
    Gone(String),
}

/// What came while relay listened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A key.
    Key(Key),
    /// Text was pasted.
    Paste(Paste),
    /// What else was waited for is there.
    Woken,
    /// It is time.
    Late,
    /// The terminal is gone, or cannot be read.
    Gone(String),
}

/// Pastes that wait while a question is open; more are not taken.
const PASTES: usize = 4;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// What came in so long is forgotten, or it goes on as a paste.
const FORGET: Duration = Duration::from_secs(1);
/// A signal that comes just before the wait begins does not end it: it is seen after this long.
const GLANCE: Duration = Duration::from_secs(1);

/// Whether this terminal listens to this process, and not to another job of its shell.
///
/// In a sandbox with process numbers of its own, relay may belong to a group that was started outside of it: its
/// number, and that of the group in front, are both 0 then. `rustix` takes neither.
///
/// # Errors
/// When it is no terminal, or not the one that this process was started from.
pub fn in_front(terminal: impl AsFd) -> io::Result<bool> {
    Ok(tcgetpgrp(terminal)? == getpgrp())
}

impl Terminal {
    /// The terminal, if there is one with somebody at it. `plain`: it understands no sequences.
    pub fn open(plain: bool) -> Option<Terminal> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        in_front(&file).ok()?.then(|| Terminal::over(file, plain))
    }

    /// A terminal that is open already.
    pub fn over(file: File, plain: bool) -> Terminal {
        let file = Rc::new(file);
        let modes = Rc::new(modes::Modes::new(Rc::clone(&file), !plain));
        Terminal { file, modes, heard: Rc::default() }
    }

    /// The terminal as a stream.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The lines that it shows at once.
    pub fn rows(&self) -> Option<usize> {
        terminal_size_of(&*self.file).map(|(_, height)| usize::from(height.0)).filter(|rows| *rows > 0)
    }

    /// Writes text, which is safe already.
    pub fn say(&self, text: &str) {
        // A terminal that is gone shows when it is read from.
        let _ = (&*self.file).write_all(text.as_bytes());
    }

    /// From now on keys come one by one, unseen, and pasted text is marked.
    pub fn listen(&self) -> Listening {
        modes::listen(&self.modes)
    }

    /// Lends the terminal to another program, as it was before relay listened.
    pub fn lend(&self) -> Lent {
        modes::lend(&self.modes)
    }

    /// Text that was pasted while something else was asked.
    pub fn pasted(&self) -> Option<Paste> {
        self.heard.borrow_mut().pastes.pop_front()
    }

    /// Forgets what was typed up to now. What was pasted is kept, and so it is read: were it thrown away unread, what
    /// comes behind would look as if it had been typed.
    pub fn forget(&self) {
        let until = Instant::now() + FORGET;
        while Instant::now() < until {
            let (patience, pasting) = {
                let heard = self.heard.borrow();
                (heard.decoder.patience(), heard.decoder.in_paste())
            };
            let patience = patience.or(pasting.then_some(decode::QUIET)).unwrap_or(Duration::ZERO);
            match wait(&self.file, None, Some(Instant::now() + patience)) {
                Ok(Ready { terminal: true, .. }) if self.take(Expect::Keys).is_ok() => {}
                _ => break,
            }
        }
        let mut heard = self.heard.borrow_mut();
        if let Some(input) = heard.decoder.forget() {
            heard.keep(input);
        }
        heard.keys.clear();
    }

    /// Asks, and waits for what comes. `stopped` is asked now and then, and after every signal.
    pub fn prompt(&self, question: &str, look: &Look, stopped: &dyn Fn() -> bool) -> Answer {
        let _listening = self.listen();
        // Before the question stands there: whoever answers at once is heard.
        self.forget();
        self.say(question);
        let answer =
            self.line(question, look, stopped).unwrap_or_else(|error| Answer::Gone(error.to_string()));
        // Also when it came together with the line.
        let answer = if stopped() { Answer::Stopped } else { answer };
        self.say("\n");
        answer
    }

    /// Asks for something that nobody is to see: nothing of it appears. What is pasted is part of the answer.
    pub fn secret(&self, question: &str, look: &Look, stopped: &dyn Fn() -> bool) -> Answer {
        let _listening = self.listen();
        self.forget();
        // What was pasted before the question is no answer to it.
        self.heard.borrow_mut().pastes.clear();
        self.say(question);
        let answer =
            self.unseen(question, look, stopped).unwrap_or_else(|error| Answer::Gone(error.to_string()));
        let answer = if stopped() { Answer::Stopped } else { answer };
        self.say("\n");
        answer
    }

    fn unseen(&self, question: &str, look: &Look, stopped: &dyn Fn() -> bool) -> io::Result<Answer> {
        let mut line = Line::default();
        loop {
            if stopped() {
                return Ok(Answer::Stopped);
            }
            if let Err(said) = self.hear_line(&|| question.to_owned())? {
                return Ok(Answer::Gone(said));
            }
            while let Some(paste) = self.pasted() {
                for c in String::from_utf8_lossy(&paste.bytes).trim_end().chars() {
                    let _ = line.key(Key::Char(c), look);
                }
            }
            while let Some(key) = { self.heard.borrow_mut().keys.pop_front() } {
                match line.key(key, look) {
                    Step::Echo(_) => {}
                    Step::Done => return Ok(Answer::Line(line.text().to_string())),
                    Step::End => return Ok(Answer::End),
                }
            }
        }
    }

    /// Waits for a key, a paste, `woken` to become readable, or the time.
    pub fn next(&self, woken: BorrowedFd<'_>, until: Option<Instant>) -> Next {
        loop {
            let mut heard = self.heard.borrow_mut();
            if let Some(paste) = heard.pastes.pop_front() {
                return Next::Paste(paste);
            }
            if let Some(key) = heard.keys.pop_front() {
                return Next::Key(key);
            }
            let quiet = heard.decoder.patience().map(|patience| Instant::now() + patience);
            drop(heard);
            let first = [until, quiet].into_iter().flatten().min();
            match wait(&self.file, Some(woken), first) {
                Ok(Ready { terminal: true, .. }) => {
                    if let Err(said) = self.take(Expect::Keys) {
                        return Next::Gone(said);
                    }
                }
                Ok(Ready { woken: true, .. }) => return Next::Woken,
                Ok(_) => {
                    if quiet.is_some() && quiet == first {
                        self.is_quiet();
                    } else if until.is_some_and(|until| Instant::now() >= until) {
                        return Next::Late;
                    }
                }
                Err(error) => return Next::Gone(error.to_string()),
            }
        }
    }

    /// Takes in what is typed for a line, or looks up after a moment without any. `again` is what stands there, and is said once
    /// more to a terminal that somebody else had meanwhile. The inner error: the terminal is gone.
    fn hear_line(&self, again: &dyn Fn() -> String) -> io::Result<Result<(), String>> {
        let begun = self.heard.borrow().decoder.patience();
        let ready = wait(&self.file, None, Some(Instant::now() + begun.unwrap_or(GLANCE)))?;
        if ready.terminal {
            return Ok(self.take(Expect::Line));
        }
        if begun.is_some() {
            self.is_quiet();
        } else if self.modes.mend() {
            // relay was stopped for a while: whoever had the terminal left it in another way.
            self.say(&format!("\r{}", again()));
        }
        Ok(Ok(()))
    }

    fn line(&self, question: &str, look: &Look, stopped: &dyn Fn() -> bool) -> io::Result<Answer> {
        let mut line = Line::default();
        loop {
            if stopped() {
                return Ok(Answer::Stopped);
            }
            let before = self.heard.borrow().counts();
            if let Err(said) = self.hear_line(&|| format!("{question}{}", look.safe(line.text())))? {
                return Ok(Answer::Gone(said));
            }
            let (came, lost) = self.heard.borrow().counts();
            if came > before.0 {
                // What was pasted is no answer; the question stands there once more.
                let typed = line.text();
                let full = if lost > before.1 {
                    format!(", and {PASTES} wait already: this one is not taken")
                } else {
                    String::new()
                };
                self.say(&format!("\n  (pasted text is no answer{full})\n{question}{}", look.safe(typed)));
            }
            while let Some(key) = { self.heard.borrow_mut().keys.pop_front() } {
                match line.key(key, look) {
                    Step::Echo(text) => self.say(&text),
                    Step::Done => return Ok(Answer::Line(line.text().to_string())),
                    Step::End => return Ok(Answer::End),
                }
            }
        }
    }

    /// Reads what is there.
    fn take(&self, expect: Expect) -> Result<(), String> {
        let mut bytes = vec![0; READ_BYTES];
        let count = match (&*self.file).read(&mut bytes) {
            Ok(0) => return Err("it was closed".to_string()),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => 0,
            Err(error) => return Err(error.to_string()),
        };
        let inputs = self.heard.borrow_mut().decoder.feed(&bytes[..count], expect);
        inputs.into_iter().for_each(|input| self.heard.borrow_mut().keep(input));
        Ok(())
    }

    fn is_quiet(&self) {
        let mut heard = self.heard.borrow_mut();
        if let Some(input) = heard.decoder.quiet() {
            heard.keep(input);
        }
    }
}

impl Heard {
    fn keep(&mut self, input: Input) {
        match input {
            Input::Key(key) => self.keys.push_back(key),
            Input::Paste(paste) => {
                self.came += 1;
                if self.pastes.len() < PASTES {
                    self.pastes.push_back(paste);
                } else {
                    self.lost += 1;
                }
            }
        }
    }

    /// How many pastes came, and how many of them found no room.
    fn counts(&self) -> (usize, usize) {
        (self.came, self.lost)
    }
}

/// What can be read.
struct Ready {
    terminal: bool,
    woken: bool,
}

/// Waits until one of them can be read, or the time comes, or a signal.
fn wait(terminal: &File, woken: Option<BorrowedFd<'_>>, until: Option<Instant>) -> io::Result<Ready> {
    let own = terminal.as_fd();
    let mut fds = vec![PollFd::new(&own, PollFlags::IN)];
    if let Some(woken) = &woken {
        fds.push(PollFd::new(woken, PollFlags::IN));
    }
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut fds, left.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(Ready { terminal: false, woken: false }),
        Err(error) => return Err(error.into()),
    }
    let flags = fds[0].revents();
    if flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("it was closed"));
    }
    Ok(Ready {
        terminal: flags.contains(PollFlags::IN),
        woken: fds.get(1).is_some_and(|fd| !fd.revents().is_empty()),
    })
}
