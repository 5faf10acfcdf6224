//! The agent's events on their way to the program, by a thread of their own, which pulls them: a slow program costs no more than
//! what the agent keeps of its events anyway.
//!
//! Invariant: numbers only grow, except where `replay` asked for earlier ones; where one is missing, the program is told before
//! the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use relaycode_agent::{AgentHandle, EventRead, SequencedEvent};

use super::PROTOCOL_VERSION;
use super::frame::RpcFrame;
use super::outbox::{Outbox, OutboxClosed};

/// Bytes of events that are written together.
const MAX_BATCH_BYTES: usize = 64 << 10;
/// Between two batches: what comes meanwhile goes together, and a flood of events wakes the program no more often.
const BATCH_INTERVAL: Duration = Duration::from_millis(2);

#[derive(Default)]
pub(crate) struct EventPump {
    state: Mutex<PumpState>,
    bell: Condvar,
    /// The events that are being sent are not the right ones any more.
    is_called: AtomicBool,
}

#[derive(Default)]
struct PumpState {
    next: Option<EventSource>,
    /// Whose events are being sent.
    current: Option<AgentHandle>,
}

/// Events from a place on.
pub(crate) struct EventSource {
    pub(crate) handle: AgentHandle,
    pub(crate) session_id: String,
    /// The number of the last event that the program has.
    pub(crate) after: u64,
    /// Said before the first of them.
    pub(crate) announcement: Vec<u8>,
}

impl EventPump {
    /// Sends these once the present agent's have ended.
    pub(crate) fn follow(&self, source: EventSource) {
        self.lock().next = Some(source);
        self.bell.notify_all();
    }

    /// Sends these from now on.
    pub(crate) fn replay(&self, source: EventSource) {
        let mut state = self.lock();
        state.next = Some(source);
        self.is_called.store(true, Ordering::SeqCst);
        let current = state.current.clone();
        drop(state);
        self.bell.notify_all();
        if let Some(current) = current {
            current.wake_readers();
        }
    }

    /// Sends events until the program reads no more.
    pub(crate) fn run(&self, outbox: &Outbox) {
        loop {
            let source = self.take_next();
            if self.send(&source, outbox).is_err() {
                return;
            }
            self.lock().current = None;
        }
    }

    fn take_next(&self) -> EventSource {
        let mut state = self.lock();
        loop {
            if let Some(source) = state.next.take() {
                self.is_called.store(false, Ordering::SeqCst);
                state.current = Some(source.handle.clone());
                return source;
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn send(&self, source: &EventSource, outbox: &Outbox) -> Result<(), OutboxClosed> {
        let mut reader = source.handle.read_events(source.after);
        let mut batch = EventBatch { source, last: source.after, lines: source.announcement.clone() };
        let is_called = || self.is_called.load(Ordering::SeqCst);
        if !batch.lines.is_empty() {
            outbox.push_lines(std::mem::take(&mut batch.lines), None)?;
        }
        loop {
            match reader.next_unless(&is_called) {
                EventRead::Event(event) => batch.add(&event),
                EventRead::Pending | EventRead::Closed => return Ok(()),
            }
            let began = Instant::now();
            while batch.lines.len() < MAX_BATCH_BYTES && !is_called() {
                let EventRead::Event(event) = reader.next_within(Duration::ZERO) else { break };
                batch.add(&event);
            }
            outbox.push_lines(std::mem::take(&mut batch.lines), None)?;
            std::thread::sleep(BATCH_INTERVAL.saturating_sub(began.elapsed()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, PumpState> {
        // Each change leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lines that go out together.
struct EventBatch<'a> {
    source: &'a EventSource,
    last: u64,
    lines: Vec<u8>,
}

impl EventBatch<'_> {
    fn add(&mut self, event: &Arc<SequencedEvent>) {
        let session_id = self.source.session_id.as_str();
        let (from, seq) = (self.last + 1, event.seq);
        if from < seq {
            let missed = RpcFrame::EventsMissed { session_id, from, to: seq - 1, count: seq - from };
            missed.write_line(&mut self.lines);
        }
        self.last = seq;
        let (protocol_version, event) = (PROTOCOL_VERSION, &event.event);
        RpcFrame::Event { protocol_version, session_id, seq, event }.write_line(&mut self.lines);
    }
}
