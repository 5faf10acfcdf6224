//! The events of a run, numbered and kept for whoever comes later: the newest in memory, bounded; older messages in the
//! session, where they are read again.
//!
//! Readers pull. So a slow one costs nothing, and one that goes away leaves nothing behind. Invariant: numbers grow by
//! one; what a reader gets is in order, each at most once; what it does not get any more are deltas, live output and
//! other passing things of which the session has the result.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{AgentEvent, SequencedEvent};

/// Events in memory.
const MAX_EVENTS: usize = 16_384;
/// Their texts, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Older messages that can be read again from the session.
const MAX_ARCHIVED: usize = 100_000;

#[derive(Default)]
pub struct EventLog {
    state: Mutex<EventLogState>,
    bell: Condvar,
}

#[derive(Default)]
struct EventLogState {
    ring: VecDeque<(usize, Arc<SequencedEvent>)>,
    bytes: usize,
    last_seq: u64,
    archive: VecDeque<ArchivedEvent>,
    closed: bool,
}

/// A message that is no longer in memory.
#[derive(Debug, Clone)]
struct ArchivedEvent {
    seq: u64,
    entry_id: Box<str>,
}

/// What there is for a reader.
#[derive(Debug, Clone, PartialEq)]
pub enum EventPoll {
    Event(Arc<SequencedEvent>),
    /// A message that the session has: its number and its entry.
    InSession {
        seq: u64,
        entry_id: String,
    },
    /// Nothing yet.
    Pending,
    /// Nothing will come any more.
    Closed,
}

impl EventLog {
    /// A session that already has these messages.
    pub fn with_earlier(entry_ids: impl IntoIterator<Item = String>) -> EventLog {
        let mut state = EventLogState::default();
        for entry_id in entry_ids {
            state.last_seq += 1;
            let seq = state.last_seq;
            state.archive(ArchivedEvent { seq, entry_id: entry_id.into() });
        }
        EventLog { state: Mutex::new(state), bell: Condvar::new() }
    }

    /// Returns its number.
    pub fn publish(&self, event: AgentEvent) -> u64 {
        let weight = event.weight();
        let mut state = self.lock();
        state.last_seq += 1;
        let seq = state.last_seq;
        state.bytes += weight;
        state.ring.push_back((weight, Arc::new(SequencedEvent { seq, event })));
        while state.ring.len() > MAX_EVENTS || (state.bytes > MAX_BYTES && state.ring.len() > 1) {
            state.evict();
        }
        drop(state);
        self.bell.notify_all();
        seq
    }

    /// Nothing comes any more; readers get what there is, and then the end.
    pub fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// The number of the newest event, 0 if there is none.
    pub fn last_seq(&self) -> u64 {
        self.lock().last_seq
    }

    /// The first event after `seen`; waits for it until `deadline`, for ever without one.
    pub fn poll(&self, seen: u64, deadline: Option<Instant>) -> EventPoll {
        let mut state = self.lock();
        loop {
            if let Some(found) = state.after(seen) {
                return found;
            }
            if state.closed {
                return EventPoll::Closed;
            }
            let Some(deadline) = deadline else {
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return EventPoll::Pending;
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The first event after `seen`; waits for it, or until `is_called` holds when [`EventLog::wake`] is called.
    pub fn poll_unless(&self, seen: u64, is_called: &dyn Fn() -> bool) -> EventPoll {
        let mut state = self.lock();
        loop {
            if is_called() {
                return EventPoll::Pending;
            }
            if let Some(found) = state.after(seen) {
                return found;
            }
            if state.closed {
                return EventPoll::Closed;
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets those who wait look at why they do.
    pub fn wake(&self) {
        // With the lock, so that nobody is between looking and waiting.
        let state = self.lock();
        self.bell.notify_all();
        drop(state);
    }

    fn lock(&self) -> MutexGuard<'_, EventLogState> {
        // Each change leaves the log consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventLogState {
    fn evict(&mut self) {
        let Some((weight, oldest)) = self.ring.pop_front() else { return };
        self.bytes -= weight;
        if let Some(entry_id) = oldest.event.entry() {
            self.archive(ArchivedEvent { seq: oldest.seq, entry_id: entry_id.into() });
        }
    }

    fn archive(&mut self, event: ArchivedEvent) {
        if self.archive.len() >= MAX_ARCHIVED {
            self.archive.pop_front();
        }
        self.archive.push_back(event);
    }

    fn after(&self, seen: u64) -> Option<EventPoll> {
        let at = self.archive.partition_point(|archived| archived.seq <= seen);
        if let Some(archived) = self.archive.get(at) {
            return Some(EventPoll::InSession { seq: archived.seq, entry_id: archived.entry_id.to_string() });
        }
        let at = self.ring.partition_point(|(_, event)| event.seq <= seen);
        self.ring.get(at).map(|(_, event)| EventPoll::Event(event.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NoticeLevel;

    fn notice(text: &str) -> AgentEvent {
        AgentEvent::Notice { level: NoticeLevel::Info, text: text.into() }
    }

    fn message(entry_id: &str) -> AgentEvent {
        let message = relaycode_llm::message::UserMessage::text("x".repeat(1 << 20), 0);
        let message = Box::new(relaycode_llm::Message::User(message));
        AgentEvent::MessageEnd { entry_id: entry_id.into(), message }
    }

    fn read_all(log: &EventLog, mut seen: u64) -> Vec<(u64, Option<String>)> {
        let mut read = Vec::new();
        loop {
            match log.poll(seen, Some(Instant::now())) {
                EventPoll::Event(event) => {
                    seen = event.seq;
                    read.push((seen, None));
                }
                EventPoll::InSession { seq, entry_id } => {
                    seen = seq;
                    read.push((seen, Some(entry_id)));
                }
                EventPoll::Pending | EventPoll::Closed => return read,
            }
        }
    }

    #[test]
    fn numbers_go_on_after_the_messages_that_the_session_had() {
        let log = EventLog::with_earlier(["a".to_string(), "b".to_string()]);
        assert_eq!(log.publish(notice("c")), 3);
        let expected = [(1, Some("a".to_string())), (2, Some("b".to_string())), (3, None)];
        assert_eq!(read_all(&log, 0), expected);
        assert_eq!(read_all(&log, 2), [(3, None)]);
    }

    #[test]
    fn what_no_longer_fits_is_read_from_the_session_if_it_is_there() {
        let log = EventLog::default();
        log.publish(notice("lost"));
        for at in 0..20 {
            log.publish(message(&format!("e{at}")));
        }
        let read = read_all(&log, 0);
        assert_eq!(read.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (2..=21).collect::<Vec<_>>());
        assert_eq!(read[0].1.as_deref(), Some("e0"));
        assert!(read.last().unwrap().1.is_none());
        let kept = read.iter().filter(|(_, entry)| entry.is_none()).count();
        assert_eq!(kept, 7, "8 MiB hold seven messages of 1 MiB and a little");
    }

    #[test]
    fn a_reader_waits_for_what_comes_and_hears_of_the_end() {
        let log = Arc::new(EventLog::default());
        let reader = std::thread::spawn({
            let log = log.clone();
            move || (log.poll(0, None), log.poll(1, None))
        });
        log.publish(notice("first"));
        log.close();
        let (first, second) = reader.join().unwrap();
        assert!(matches!(first, EventPoll::Event(event) if event.seq == 1));
        assert_eq!(second, EventPoll::Closed);
    }
}
