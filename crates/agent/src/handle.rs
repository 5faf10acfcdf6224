//! How others follow and steer a run: any number of clients, from any thread, each with its own place in the events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use relaycode_session::EntryBody;
use relaycode_tools::HostAnswer;

use crate::event::{AgentEvent, EventPoll, SequencedEvent};
use crate::question::AnswerReceipt;
use crate::queue::{QueueFullError, UserPrompt};
use crate::run::AgentShared;

/// Clones follow the same agent.
#[derive(Clone)]
pub struct AgentHandle {
    shared: Arc<AgentShared>,
}

/// A client's place in the events. Dropping it is how a client leaves.
pub struct EventReader {
    shared: Arc<AgentShared>,
    seen: u64,
}

/// What a reader gets.
#[derive(Debug, Clone, PartialEq)]
pub enum EventRead {
    Event(Arc<SequencedEvent>),
    /// Nothing came in time.
    Pending,
    /// Nothing will come any more.
    Closed,
}

impl AgentHandle {
    pub(crate) fn new(shared: Arc<AgentShared>) -> AgentHandle {
        AgentHandle { shared }
    }

    /// Everything after event `seen`: 0 for all, the messages that the session had before included.
    pub fn read_events(&self, seen: u64) -> EventReader {
        EventReader { shared: self.shared.clone(), seen }
    }

    /// The number of the newest event.
    pub fn last_seq(&self) -> u64 {
        self.shared.events.last_seq()
    }

    /// Says something to the model as soon as possible.
    ///
    /// # Errors
    /// If too much waits already.
    pub fn steer(&self, prompt: UserPrompt) -> Result<(), QueueFullError> {
        let mut queue = self.shared.queue();
        queue.steer(prompt)?;
        self.shared.events.publish(queue.to_event());
        Ok(())
    }

    /// Says something to the model when it is done.
    ///
    /// # Errors
    /// If too much waits already.
    pub fn follow_up(&self, prompt: UserPrompt) -> Result<(), QueueFullError> {
        let mut queue = self.shared.queue();
        queue.follow_up(prompt)?;
        self.shared.events.publish(queue.to_event());
        Ok(())
    }

    /// Takes back what was not said to the model yet.
    pub fn take_queued(&self) -> Vec<UserPrompt> {
        let mut queue = self.shared.queue();
        let taken = queue.take_all();
        if !taken.is_empty() {
            self.shared.events.publish(queue.to_event());
        }
        taken
    }

    /// Ends the run; what is finished stays. Returns whether there was one.
    pub fn abort(&self) -> bool {
        self.shared.abort()
    }

    /// Gives up instead of waiting for the next try. Returns whether one was waited for.
    pub fn abort_retry(&self) -> bool {
        self.shared.abort_retry()
    }

    pub fn is_running(&self) -> bool {
        self.shared.is_running()
    }

    /// Says whether some client can answer questions.
    pub fn set_attended(&self, attended: bool) {
        self.shared.questions.set_attended(attended);
    }

    /// Answers a question; the first answer counts.
    pub fn answer(&self, question_id: &str, answer: HostAnswer) -> AnswerReceipt {
        self.shared.questions.answer(question_id, answer)
    }
}

impl EventReader {
    /// The next event; waits for it, at most so long.
    pub fn next_within(&mut self, wait: Duration) -> EventRead {
        self.poll(Some(Instant::now() + wait))
    }

    /// The next event; waits for it. `None` after the last one.
    pub fn next_event(&mut self) -> Option<Arc<SequencedEvent>> {
        match self.poll(None) {
            EventRead::Event(event) => Some(event),
            EventRead::Pending | EventRead::Closed => None,
        }
    }

    fn poll(&mut self, deadline: Option<Instant>) -> EventRead {
        loop {
            match self.shared.events.poll(self.seen, deadline) {
                EventPoll::Event(event) => {
                    self.seen = event.seq;
                    return EventRead::Event(event);
                }
                EventPoll::InSession { seq, entry_id } => {
                    self.seen = seq;
                    // An entry that is no message any more says nothing.
                    if let Some(event) = self.read_entry(&entry_id) {
                        return EventRead::Event(Arc::new(SequencedEvent { seq, event }));
                    }
                }
                EventPoll::Pending => return EventRead::Pending,
                EventPoll::Closed => return EventRead::Closed,
            }
        }
    }

    fn read_entry(&self, entry_id: &str) -> Option<AgentEvent> {
        let transcript = self.shared.transcript();
        let EntryBody::Message { mut message } = transcript.session().entry(entry_id).ok()?.body else {
            return None;
        };
        transcript.session().resolve_images(&mut message);
        let message = serde_json::from_value(message).ok()?;
        Some(AgentEvent::MessageEnd { entry_id: entry_id.to_string(), message })
    }
}
