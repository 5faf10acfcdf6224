//! The terminal as the conversation hears it: keys with modifiers, pastes, focus, replies, its size, all in one order.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use terminal_size::terminal_size_of;

use super::decode::{DecodedInput, ExpectedInput, PastedText};
use super::{InputQueue, KeyPress, PASTES, PollReady, Terminal, TerminalReply, wait};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenEvent {
    Key(KeyPress),
    Paste(PastedText),
    /// The window is looked at, or not any more.
    Focus(bool),
    Reply(TerminalReply),
    Resize {
        columns: usize,
        rows: usize,
    },
    /// The caller's other descriptor is readable.
    Wakeup,
    Timeout,
    /// The terminal is gone or cannot be read.
    Disconnected(String),
}

/// Most events that wait; what comes then is lost, as nobody takes them.
const EVENTS: usize = 10_000;

impl Terminal {
    /// Columns and rows.
    pub fn size(&self) -> Option<(usize, usize)> {
        let (columns, rows) = terminal_size_of(&*self.file)?;
        Some((columns.0.into(), rows.0.into())).filter(|(columns, rows)| *columns > 0 && *rows > 0)
    }

    /// Waits for a key, a paste, a change of the size, `woken` to become readable, or `until`. A change is noticed when something
    /// ends the wait: a handler of SIGWINCH, best one that makes `woken` readable.
    pub fn wait_screen_event(&self, woken: BorrowedFd<'_>, until: Option<Instant>) -> ScreenEvent {
        loop {
            if let Some((columns, rows)) = self.take_new_size() {
                return ScreenEvent::Resize { columns, rows };
            }
            let mut queue = self.queue.borrow_mut();
            if let Some(event) = queue.events.pop_front() {
                return event;
            }
            if let Some(paste) = queue.pastes.pop_front() {
                return ScreenEvent::Paste(paste);
            }
            let patience = queue.decoder.pending_timeout();
            // Counted from when it came: an Escape is heard also while the screen is woken all the time.
            let quiet =
                patience.map(|patience| *queue.quiet_until.get_or_insert_with(|| Instant::now() + patience));
            if quiet.is_some_and(|quiet| quiet <= Instant::now()) {
                queue.quiet_until = None;
                for input in queue.decoder.finish() {
                    queue.push_event(input);
                }
                continue;
            }
            drop(queue);
            match wait(&self.file, Some(woken), [until, quiet].into_iter().flatten().min()) {
                Ok(PollReady { terminal: true, .. }) => {
                    if let Err(message) = self.read_available(ExpectedInput::Conversation) {
                        return ScreenEvent::Disconnected(message);
                    }
                }
                Ok(PollReady { woken: true, .. }) => {
                    return match self.take_new_size() {
                        Some((columns, rows)) => ScreenEvent::Resize { columns, rows },
                        None => ScreenEvent::Wakeup,
                    };
                }
                Ok(_) if until.is_some_and(|until| Instant::now() >= until) => return ScreenEvent::Timeout,
                Ok(_) => {}
                Err(error) => return ScreenEvent::Disconnected(error.to_string()),
            }
        }
    }

    /// The size, if it is another one than it was; the first is no change.
    fn take_new_size(&self) -> Option<(usize, usize)> {
        let size = self.size()?;
        let known = self.queue.borrow_mut().size.replace(size);
        known.is_some_and(|known| known != size).then_some(size)
    }
}

impl InputQueue {
    pub(super) fn push_event(&mut self, input: DecodedInput) {
        let event = match input {
            DecodedInput::Key { press: Some(press), .. } => ScreenEvent::Key(press),
            DecodedInput::Key { press: None, .. } => return,
            DecodedInput::Paste(paste) => ScreenEvent::Paste(paste),
            DecodedInput::Focus(has_it) => ScreenEvent::Focus(has_it),
            DecodedInput::Reply(reply) => ScreenEvent::Reply(reply),
        };
        let pastes = self.events.iter().filter(|event| matches!(event, ScreenEvent::Paste(_))).count();
        if self.events.len() < EVENTS && (pastes < PASTES || !matches!(event, ScreenEvent::Paste(_))) {
            self.events.push_back(event);
        }
    }
}
