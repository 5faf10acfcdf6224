//! Texts that wait for their turn: in order, bounded, with a bell.
//!
//! Only texts that may be patches get here, and each leaves with whoever takes it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use relaycode_change::response::ResponseError;
use relaycode_door::AnswerProposal;

use crate::clipboard::ClipboardError;
use crate::storm::STORM_WINDOW;

/// Most waiting texts.
pub const MAX_WAITING: usize = 16;
/// Most bytes of all waiting texts.
pub const MAX_WAITING_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboxEvent {
    /// May be a patch.
    Text(InboxText),
    /// Text that could not be read.
    Skipped(ClipboardSkipReason),
    /// The clipboard changed so often that only its final content was read.
    Storm,
    /// How many texts found no room.
    Dropped(usize),
    /// The clipboard can no longer be watched.
    ClipboardLost(ClipboardError),
}

/// A text that may be a patch, with the answers in it: it is read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxText {
    pub text: String,
    pub source: InboxSource,
    /// An error is worth a word, too: the text names a project.
    pub answers: Result<Vec<AnswerProposal>, ResponseError>,
}

/// How a text came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxSource {
    Copied,
    /// Into the terminal.
    Pasted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardSkipReason {
    /// More bytes than an answer may have.
    TooLarge,
    NotUtf8,
    /// Its owner did not deliver it.
    Silent,
}

/// Clones share one inbox.
#[derive(Debug, Clone)]
pub struct Inbox {
    shared: Arc<InboxShared>,
}

#[derive(Debug)]
struct InboxShared {
    state: Mutex<InboxQueue>,
    /// Readable when there is something.
    bell: UnixStream,
    ring: UnixStream,
}

#[derive(Debug, Default)]
struct InboxQueue {
    waiting: VecDeque<InboxEntry>,
    dropped: usize,
}

#[derive(Debug)]
struct InboxEntry {
    arrival: InboxEvent,
    storm: bool,
    since: Instant,
}

impl InboxEntry {
    fn bytes(&self) -> usize {
        match &self.arrival {
            InboxEvent::Text(incoming) => incoming.text.len(),
            _ => 0,
        }
    }

    fn was_copied(&self) -> bool {
        matches!(&self.arrival, InboxEvent::Text(text) if text.source == InboxSource::Copied)
    }
}

impl Inbox {
    /// # Errors
    /// If the system has no sockets left.
    pub fn new() -> io::Result<Inbox> {
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ring.set_nonblocking(true)?;
        Ok(Inbox { shared: Arc::new(InboxShared { state: Mutex::default(), bell, ring }) })
    }

    /// Readable when something is there, until [`Inbox::clear_bell`].
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.shared.bell.as_fd()
    }

    /// Rings the bell for something other than an arrival: a signal, a changed configuration.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn bell_writer(&self) -> io::Result<UnixStream> {
        self.shared.ring.try_clone()
    }

    pub fn clear_bell(&self) {
        let mut bytes = [0; 256];
        while (&self.shared.bell).read(&mut bytes).is_ok_and(|count| count > 0) {}
    }

    /// In a storm an arrival replaces the previous one of that storm; the same text waits only once.
    pub fn put(&self, arrival: InboxEvent, storm: bool) {
        let mut state = self.lock();
        if storm {
            state.waiting.retain(|waiting| !waiting.storm);
        }
        let new = InboxEntry { arrival, storm, since: Instant::now() };
        let bytes: usize = state.waiting.iter().map(InboxEntry::bytes).sum();
        if state.waiting.iter().any(|waiting| new.bytes() > 0 && waiting.arrival == new.arrival) {
            return;
        }
        if state.waiting.len() >= MAX_WAITING || bytes + new.bytes() > MAX_WAITING_BYTES {
            state.dropped += 1;
        } else {
            state.waiting.push_back(new);
        }
        drop(state);
        // A full pipe rings already.
        let _ = (&self.shared.ring).write(&[1]);
    }

    /// A storm began: the copies just before belong to it, and only the last of them stays.
    pub fn collapse_storm(&self) {
        let mut state = self.lock();
        let now = Instant::now();
        let begun = |entry: &InboxEntry| entry.was_copied() && now.duration_since(entry.since) < STORM_WINDOW;
        let last = state.waiting.iter().rposition(begun);
        let mut at = 0;
        state.waiting.retain_mut(|waiting| {
            let is_last = Some(at) == last;
            at += 1;
            waiting.storm |= is_last;
            is_last || !begun(waiting)
        });
    }

    pub fn take(&self) -> Option<InboxEvent> {
        let mut state = self.lock();
        match state.waiting.pop_front() {
            Some(waiting) => Some(waiting.arrival),
            None if state.dropped > 0 => Some(InboxEvent::Dropped(std::mem::take(&mut state.dropped))),
            None => None,
        }
    }

    pub fn waiting_texts(&self) -> usize {
        self.lock().waiting.iter().filter(|waiting| matches!(waiting.arrival, InboxEvent::Text(_))).count()
    }

    fn lock(&self) -> MutexGuard<'_, InboxQueue> {
        // A thread that panicked left a valid queue behind.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> InboxEvent {
        from(text, InboxSource::Copied)
    }

    fn from(text: &str, source: InboxSource) -> InboxEvent {
        InboxEvent::Text(InboxText { text: text.to_string(), source, answers: Ok(Vec::new()) })
    }

    #[test]
    fn arrivals_leave_in_their_order_and_those_without_room_are_counted() {
        let inbox = Inbox::new().unwrap();
        for number in 0..MAX_WAITING + 3 {
            inbox.put(text(&number.to_string()), false);
        }
        assert_eq!(inbox.waiting_texts(), MAX_WAITING);
        for number in 0..MAX_WAITING {
            assert_eq!(inbox.take(), Some(text(&number.to_string())));
        }
        assert_eq!(inbox.take(), Some(InboxEvent::Dropped(3)));
        assert_eq!(inbox.take(), None);
    }

    #[test]
    fn bytes_are_bounded_too() {
        let inbox = Inbox::new().unwrap();
        for letter in ["a", "b", "c"] {
            inbox.put(text(&letter.repeat(MAX_WAITING_BYTES / 2)), false);
        }
        assert_eq!(inbox.waiting_texts(), 2);
    }

    #[test]
    fn of_a_storm_only_the_last_waits() {
        let inbox = Inbox::new().unwrap();
        inbox.put(text("calm"), false);
        inbox.put(text("1"), true);
        inbox.put(text("2"), true);
        assert_eq!([inbox.take(), inbox.take(), inbox.take()], [Some(text("calm")), Some(text("2")), None]);
    }

    #[test]
    fn of_the_copies_that_a_storm_began_with_only_the_last_waits() {
        let inbox = Inbox::new().unwrap();
        let pasted = from("pasted", InboxSource::Pasted);
        inbox.put(pasted.clone(), false);
        inbox.put(text("1"), false);
        inbox.put(text("2"), false);
        inbox.collapse_storm();
        assert_eq!(inbox.waiting_texts(), 2);
        inbox.put(text("3"), true);
        assert_eq!([inbox.take(), inbox.take(), inbox.take()], [Some(pasted), Some(text("3")), None]);
    }

    #[test]
    fn the_same_text_waits_once() {
        let inbox = Inbox::new().unwrap();
        for _ in 0..MAX_WAITING * 3 {
            inbox.put(text("a"), false);
        }
        assert_eq!([inbox.take(), inbox.take()], [Some(text("a")), None]);
    }
}
