//! The agent's events on their way to the screen: a thread waits for them, the screen takes what has come whenever it draws.
//!
//! Invariant: bounded. A screen that is slow holds the thread back, and the agent's own log keeps what it did not take yet.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relaycode_agent::{EventRead, SequencedEvent};

use crate::agent::open_agent::AgentWork;

/// Events that wait for the screen.
const MAX_WAITING: usize = 4_096;

/// Something to wait on beside the keys.
#[derive(Clone)]
pub(super) struct ScreenBell {
    ring: Arc<UnixStream>,
    heard: Arc<UnixStream>,
}

pub(super) struct EventFeed {
    state: Mutex<FeedState>,
    has_room: Condvar,
    bell: ScreenBell,
}

#[derive(Default)]
struct FeedState {
    events: VecDeque<Arc<SequencedEvent>>,
    is_over: bool,
}

impl ScreenBell {
    pub(super) fn new() -> std::io::Result<ScreenBell> {
        let (ring, heard) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(ScreenBell { ring: Arc::new(ring), heard: Arc::new(heard) })
    }

    /// Wakes the screen. One that was not heard yet is enough.
    pub(super) fn ring(&self) {
        let _ = (&*self.ring).write(&[1]);
    }

    /// Forgets that it rang.
    pub(super) fn clear(&self) {
        let mut bytes = [0; 256];
        while (&*self.heard).read(&mut bytes).is_ok_and(|count| count > 0) {}
    }

    pub(super) fn writer(&self) -> std::io::Result<UnixStream> {
        self.ring.try_clone()
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}

impl EventFeed {
    pub(super) fn new(bell: ScreenBell) -> EventFeed {
        EventFeed { state: Mutex::default(), has_room: Condvar::new(), bell }
    }

    /// Waits for events until the work is done and all of them are here.
    pub(super) fn pump(&self, work: &AgentWork<'_>) {
        let mut reader = work.handle.read_events(work.after);
        let is_done = || work.is_done();
        while let EventRead::Event(event) = reader.next_unless(&is_done) {
            self.push(event);
        }
        while let EventRead::Event(event) = reader.next_within(Duration::ZERO) {
            self.push(event);
        }
        self.lock().is_over = true;
        self.bell.ring();
    }

    /// What has come, and whether nothing more will.
    pub(super) fn take(&self) -> (VecDeque<Arc<SequencedEvent>>, bool) {
        let mut state = self.lock();
        let events = std::mem::take(&mut state.events);
        self.has_room.notify_all();
        (events, state.is_over)
    }

    fn push(&self, event: Arc<SequencedEvent>) {
        let mut state = self.lock();
        while state.events.len() >= MAX_WAITING {
            state = self.has_room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let is_first = state.events.is_empty();
        state.events.push_back(event);
        drop(state);
        if is_first {
            self.bell.ring();
        }
    }

    fn lock(&self) -> MutexGuard<'_, FeedState> {
        // Each change leaves it consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
