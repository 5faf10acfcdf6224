//! The terminal that relay was started from: questions and keys, whatever stdin and stdout are.
//!
//! Nothing typed before a question appeared counts as its answer, nor does a line without Enter, nor a
//! paste: that waits, and is treated as an incoming change. A process outside the terminal's foreground has
//! nobody to ask.

pub mod decode;
mod key_press;
mod key_sequence;
mod line_editor;
mod modes;
mod screen_event;
mod terminal_reply;
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

use crate::OutputStyle;

use decode::{ExpectedInput, InputDecoder, InputKey, PastedText, TerminalInput};
use line_editor::{LineEditStep, LineEditor};

pub use key_press::{KeyCode, KeyPress, KeyPressError};
pub(crate) use line_editor::PROMPT_BYTES;
pub use line_editor::TypedWords;
#[cfg(test)]
pub(crate) use modes::RAW_MODE_OFF;
pub use modes::{CbreakGuard, LendGuard, RawGuard};
pub use screen_event::ScreenEvent;
pub use terminal_reply::{TERMINAL_QUERIES, TerminalReply};

/// Clones share one terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    file: Rc<File>,
    modes: Rc<modes::ModeSwitcher>,
    queue: Rc<RefCell<InputQueue>>,
}

/// Input that was not taken yet.
#[derive(Debug, Default)]
struct InputQueue {
    decoder: InputDecoder,
    keys: VecDeque<InputKey>,
    pastes: VecDeque<PastedText>,
    /// In the order in which they came, for the conversation.
    events: VecDeque<ScreenEvent>,
    /// When what was begun, such as an Escape, is taken for what it is.
    quiet_until: Option<Instant>,
    /// The size that the conversation knows.
    size: Option<(usize, usize)>,
    /// Pastes received, and those for which there was no room.
    received: usize,
    dropped: usize,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptAnswer {
    /// Trimmed; may be empty.
    Line(String),
    EndOfInput,
    /// A signal asked to stop.
    Stopped,
    /// The terminal is gone or cannot be read.
    Disconnected(String),
}

/// What came of a prompt for words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordsAnswer {
    /// May be empty: a line that was given up is.
    Said(TypedWords),
    /// The end of input, or a signal; or the terminal is gone.
    Leave,
    /// Nothing was typed, and something else is to be done.
    Woken,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptKind {
    /// A paste is no answer to it.
    Question,
    /// Nothing of it is shown; a paste is part of it.
    Secret,
    /// Something to be said; a paste is part of it.
    Words,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    Key(InputKey),
    Paste(PastedText),
    /// The caller's other descriptor is readable.
    Wakeup,
    Timeout,
    /// The terminal is gone or cannot be read.
    Disconnected(String),
}

/// Most pastes that wait while a question is open.
const PASTES: usize = 4;
/// Bytes per read.
const READ_BYTES: usize = 64 << 10;
/// Input is discarded for at most this long; the rest goes on as a paste.
const DISCARD_LIMIT: Duration = Duration::from_secs(1);
/// A signal just before the wait does not end it; it is noticed after this long.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Whether this process is in the terminal's foreground, and not another job of the shell.
///
/// In a sandbox with its own process ids, relay may belong to a group that was started outside of it: both
/// its group and the foreground group are 0 then. `rustix` accepts neither.
///
/// # Errors
/// If it is not a terminal, or not this process's controlling terminal.
pub fn is_foreground(terminal: impl AsFd) -> io::Result<bool> {
    Ok(tcgetpgrp(terminal)? == getpgrp())
}

impl Terminal {
    /// `None` if there is no terminal with somebody at it. `plain`: it understands no escape sequences.
    pub fn open(plain: bool) -> Option<Terminal> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        is_foreground(&file).ok()?.then(|| Terminal::from_file(file, plain))
    }

    pub fn from_file(file: File, plain: bool) -> Terminal {
        let file = Rc::new(file);
        let modes = Rc::new(modes::ModeSwitcher::new(Rc::clone(&file), !plain));
        Terminal { file, modes, queue: Rc::default() }
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its height in lines.
    pub fn rows(&self) -> Option<usize> {
        terminal_size_of(&*self.file).map(|(_, height)| usize::from(height.0)).filter(|rows| *rows > 0)
    }

    /// `text` must be safe already.
    pub fn write_text(&self, text: &str) {
        // A terminal that is gone shows when it is read from.
        let _ = (&*self.file).write_all(text.as_bytes());
    }

    /// What a screen drew.
    pub fn write_bytes(&self, bytes: &[u8]) {
        // A terminal that is gone shows when it is read from.
        let _ = (&*self.file).write_all(bytes);
    }

    /// Until the guard is dropped, keys come one by one without echo, and pasted text is marked.
    pub fn enter_cbreak(&self) -> CbreakGuard {
        modes::enter_cbreak(&self.modes)
    }

    /// The same, and Ctrl-C and Ctrl-Z are keys, too, keys come with their modifiers, and the terminal tells of its focus.
    pub fn enter_raw(&self) -> RawGuard {
        modes::enter_raw(&self.modes)
    }

    /// Restores the original modes for another program until the guard is dropped.
    pub fn lend(&self) -> LendGuard {
        modes::lend(&self.modes)
    }

    /// Text pasted while a question was open.
    pub fn take_paste(&self) -> Option<PastedText> {
        self.queue.borrow_mut().pastes.pop_front()
    }

    /// Drops what was typed so far. Pastes are kept, so they must be read: thrown away unread, the bytes
    /// behind them would look typed.
    pub fn discard_typed(&self) {
        self.read_waiting(ExpectedInput::Keys);
        let mut heard = self.queue.borrow_mut();
        if let Some(input) = heard.decoder.discard_typed() {
            heard.push(input);
        }
        heard.keys.clear();
        heard.events.retain(|event| matches!(event, ScreenEvent::Paste(_)));
    }

    /// What was typed or pasted before a prompt for words becomes a part of the line; nothing of it sends the line.
    fn take_typed_ahead(&self, line: &mut LineEditor, style: &OutputStyle) {
        self.read_waiting(ExpectedInput::Line);
        self.finish_pending();
        let mut heard = self.queue.borrow_mut();
        let mut typed = String::new();
        for key in std::mem::take(&mut heard.keys) {
            match key {
                InputKey::Char(c) => typed.push(c),
                InputKey::Enter | InputKey::Ctrl('j') => typed.push(' '),
                InputKey::Backspace => drop(typed.pop()),
                _ => {}
            }
        }
        line.push_given(typed.trim_start(), style);
        for paste in std::mem::take(&mut heard.pastes) {
            line.push_given(&pasted_text(&paste), style);
        }
    }

    fn read_waiting(&self, expect: ExpectedInput) {
        let until = Instant::now() + DISCARD_LIMIT;
        while Instant::now() < until {
            let (patience, pasting) = {
                let heard = self.queue.borrow();
                (heard.decoder.pending_timeout(), heard.decoder.in_paste())
            };
            let patience = patience.or(pasting.then_some(decode::BURST_TIMEOUT)).unwrap_or(Duration::ZERO);
            match wait(&self.file, None, Some(Instant::now() + patience)) {
                Ok(PollReady { terminal: true, .. }) if self.read_available(expect).is_ok() => {}
                _ => break,
            }
        }
    }

    /// Asks, and waits for the answer. `stopped` is polled, also after every signal.
    pub fn prompt(&self, question: &str, style: &OutputStyle, stopped: &dyn Fn() -> bool) -> PromptAnswer {
        self.prompt_with_news(question, style, stopped, &|| None)
    }

    /// The same. `news` is polled, too: what it says (safe to print) is shown, and the question again below it.
    pub fn prompt_with_news(
        &self,
        question: &str,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
        news: &dyn Fn() -> Option<String>,
    ) -> PromptAnswer {
        let mut line = LineEditor::new(PromptKind::Question);
        self.ask(question, &mut line, style, stopped, news, &|| false).unwrap_or(PromptAnswer::Stopped)
    }

    /// Asks until `late`, which is polled, says that it is too late: `None`. The first key stops that clock.
    pub fn prompt_until(
        &self,
        question: &str,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
        late: &dyn Fn() -> bool,
    ) -> Option<PromptAnswer> {
        let mut line = LineEditor::new(PromptKind::Question);
        self.ask(question, &mut line, style, stopped, &|| None, late)
    }

    /// Asks for a secret: nothing of it is shown. A paste is part of the answer.
    pub fn prompt_secret(
        &self,
        question: &str,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
    ) -> PromptAnswer {
        let mut line = LineEditor::new(PromptKind::Secret);
        let answer = self.ask(question, &mut line, style, stopped, &|| None, &|| false);
        answer.unwrap_or(PromptAnswer::Stopped)
    }

    /// Asks for something that is said to somebody else, as in a conversation: a paste is part of it, line ends included, and what
    /// was typed before the prompt stands in the line. A signal gives up a line that has something in it. `woken` is polled while
    /// nothing is typed.
    pub fn prompt_words(
        &self,
        question: &str,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
        woken: &dyn Fn() -> bool,
    ) -> WordsAnswer {
        let mut line = LineEditor::new(PromptKind::Words);
        match self.ask(question, &mut line, style, stopped, &|| None, woken) {
            Some(PromptAnswer::Line(_)) => WordsAnswer::Said(line.into_words()),
            Some(PromptAnswer::Stopped) if !line.is_empty() => WordsAnswer::Said(TypedWords::default()),
            Some(_) => WordsAnswer::Leave,
            None => WordsAnswer::Woken,
        }
    }

    fn ask(
        &self,
        question: &str,
        line: &mut LineEditor,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
        news: &dyn Fn() -> Option<String>,
        woken: &dyn Fn() -> bool,
    ) -> Option<PromptAnswer> {
        let _listening = self.enter_cbreak();
        // Before the question is shown, so that an immediate answer counts.
        match line.kind() {
            PromptKind::Question => self.discard_typed(),
            PromptKind::Secret => {
                self.discard_typed();
                // What was pasted before the question is not its answer.
                self.queue.borrow_mut().pastes.clear();
            }
            PromptKind::Words => self.take_typed_ahead(line, style),
        }
        self.write_text(&format!("{question}{}", style.safe(line.text())));
        let answer = self.read_answer(question, line, style, stopped, news, woken);
        let answer = answer.unwrap_or_else(|said| Some(PromptAnswer::Disconnected(said)));
        self.write_text("\n");
        // Also if the signal came together with the line.
        if stopped() { Some(PromptAnswer::Stopped) } else { answer }
    }

    fn read_answer(
        &self,
        question: &str,
        line: &mut LineEditor,
        style: &OutputStyle,
        stopped: &dyn Fn() -> bool,
        news: &dyn Fn() -> Option<String>,
        woken: &dyn Fn() -> bool,
    ) -> Result<Option<PromptAnswer>, String> {
        let kind = line.kind();
        let secret = kind == PromptKind::Secret;
        let mut has_begun = false;
        loop {
            if stopped() {
                return Ok(Some(PromptAnswer::Stopped));
            }
            let is_untouched = if kind == PromptKind::Words { line.is_empty() } else { !has_begun };
            if is_untouched && self.queue.borrow().is_quiet() && woken() {
                return Ok(None);
            }
            let before = self.queue.borrow().counts();
            let typed = if secret { String::new() } else { style.safe(line.text()).into_owned() };
            if let Some(said) = news() {
                self.write_text(&format!("\n  ({said})\n{question}{typed}"));
            }
            self.read_line_keys(&format!("{question}{typed}"))?;
            let (came, lost) = self.queue.borrow().counts();
            if kind != PromptKind::Question {
                while let Some(paste) = self.take_paste() {
                    let text = line.push_given(&pasted_text(&paste), style);
                    if !secret {
                        self.write_text(&text);
                    }
                }
            } else if came > before.0 {
                // A paste is not an answer; show the question again.
                let full = match lost > before.1 {
                    true => format!(", and {PASTES} wait already: this one is not taken"),
                    false => String::new(),
                };
                self.write_text(&format!("\n  (pasted text is no answer{full})\n{question}{typed}"));
            }
            while let Some(key) = { self.queue.borrow_mut().keys.pop_front() } {
                has_begun = true;
                match line.apply_key(key, style) {
                    LineEditStep::Echo(text) if !secret => self.write_text(&text),
                    LineEditStep::Echo(_) => {}
                    LineEditStep::Done => return Ok(Some(PromptAnswer::Line(line.text().to_string()))),
                    LineEditStep::End => return Ok(Some(PromptAnswer::EndOfInput)),
                }
            }
        }
    }

    /// Waits for a key, a paste, `woken` to become readable, or `until`.
    pub fn wait_event(&self, woken: BorrowedFd<'_>, until: Option<Instant>) -> TerminalEvent {
        loop {
            let mut heard = self.queue.borrow_mut();
            if let Some(paste) = heard.pastes.pop_front() {
                return TerminalEvent::Paste(paste);
            }
            if let Some(key) = heard.keys.pop_front() {
                return TerminalEvent::Key(key);
            }
            let quiet = heard.decoder.pending_timeout().map(|patience| Instant::now() + patience);
            drop(heard);
            let first = [until, quiet].into_iter().flatten().min();
            match wait(&self.file, Some(woken), first) {
                Ok(PollReady { terminal: true, .. }) => {
                    if let Err(said) = self.read_available(ExpectedInput::Keys) {
                        return TerminalEvent::Disconnected(said);
                    }
                }
                Ok(PollReady { woken: true, .. }) => return TerminalEvent::Wakeup,
                Ok(_) => {
                    if quiet.is_some() && quiet == first {
                        self.finish_pending();
                    } else if until.is_some_and(|until| Instant::now() >= until) {
                        return TerminalEvent::Timeout;
                    }
                }
                Err(error) => return TerminalEvent::Disconnected(error.to_string()),
            }
        }
    }

    /// Reads keys for a line, or returns after a moment without any. `again` is the prompt, repeated if
    /// somebody else used the terminal meanwhile. The error: the terminal is gone.
    fn read_line_keys(&self, again: &str) -> Result<(), String> {
        let begun = self.queue.borrow().decoder.pending_timeout();
        let until = Instant::now() + begun.unwrap_or(SIGNAL_CHECK_INTERVAL);
        if wait(&self.file, None, Some(until)).map_err(|error| error.to_string())?.terminal {
            return self.read_available(ExpectedInput::Line);
        }
        if begun.is_some() {
            self.finish_pending();
        } else if self.modes.reapply_if_changed() {
            // relay was stopped for a while, and another program changed the modes.
            self.write_text(&format!("\r{again}"));
        }
        Ok(())
    }

    fn read_available(&self, expect: ExpectedInput) -> Result<(), String> {
        let mut bytes = vec![0; READ_BYTES];
        let count = match (&*self.file).read(&mut bytes) {
            Ok(0) => return Err("it was closed".to_string()),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => 0,
            Err(error) => return Err(error.to_string()),
        };
        let mut queue = self.queue.borrow_mut();
        queue.quiet_until = None;
        for input in queue.decoder.decode(&bytes[..count], expect) {
            match expect {
                ExpectedInput::Conversation => queue.push_event(input),
                ExpectedInput::Keys | ExpectedInput::Line => queue.push(input.into()),
            }
        }
        Ok(())
    }

    fn finish_pending(&self) {
        let mut heard = self.queue.borrow_mut();
        if let Some(input) = heard.decoder.finish_pending() {
            heard.push(input);
        }
    }
}

pub(crate) fn pasted_text(paste: &PastedText) -> String {
    String::from_utf8_lossy(&paste.bytes).replace("\r\n", "\n").trim_end().replace('\r', "\n")
}

impl InputQueue {
    fn push(&mut self, input: TerminalInput) {
        match input {
            TerminalInput::Key(key) => self.keys.push_back(key),
            TerminalInput::Paste(paste) => {
                self.received += 1;
                if self.pastes.len() < PASTES {
                    self.pastes.push_back(paste);
                } else {
                    self.dropped += 1;
                }
            }
        }
    }

    /// Nobody types at the moment.
    fn is_quiet(&self) -> bool {
        self.keys.is_empty() && self.pastes.is_empty() && self.decoder.pending_timeout().is_none()
    }

    /// How many pastes were received, and how many of them found no room.
    fn counts(&self) -> (usize, usize) {
        (self.received, self.dropped)
    }
}

struct PollReady {
    terminal: bool,
    woken: bool,
}

/// Waits until one of them is readable, a signal comes, or the time is up.
fn wait(terminal: &File, woken: Option<BorrowedFd<'_>>, until: Option<Instant>) -> io::Result<PollReady> {
    let own = terminal.as_fd();
    let mut fds = vec![PollFd::new(&own, PollFlags::IN)];
    if let Some(woken) = &woken {
        fds.push(PollFd::new(woken, PollFlags::IN));
    }
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut fds, left.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(PollReady { terminal: false, woken: false }),
        Err(error) => return Err(error.into()),
    }
    let flags = fds[0].revents();
    if flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("it was closed"));
    }
    Ok(PollReady {
        terminal: flags.contains(PollFlags::IN),
        woken: fds.get(1).is_some_and(|fd| !fd.revents().is_empty()),
    })
}
