//! How others follow and steer a run: any number of clients, from any thread, each with its own place in the events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use relaycode_session::{EntryBody, Session, SessionError};
use relaycode_tools::HostAnswer;

use crate::event::{AgentEvent, EventPoll, SequencedEvent};
use crate::question::{AgentQuestion, AnswerReceipt};
use crate::queue::{InterruptMode, QueueFullError, QueueMode, QueueState, UserPrompt};
use crate::run::{AgentShared, ModeRequest};

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

    /// What waits to be said, and how it will be.
    pub fn queue_state(&self) -> QueueState {
        self.shared.queue().state()
    }

    pub fn set_steering_mode(&self, mode: QueueMode) {
        self.shared.queue().steering_mode = mode;
    }

    pub fn set_follow_up_mode(&self, mode: QueueMode) {
        self.shared.queue().follow_up_mode = mode;
    }

    pub fn set_interrupt_mode(&self, mode: InterruptMode) {
        self.shared.queue().interrupt_mode = mode;
    }

    /// Whether an answer that failed is asked for again.
    pub fn auto_retry(&self) -> bool {
        self.shared.auto_retry()
    }

    pub fn set_auto_retry(&self, enabled: bool) {
        self.shared.set_auto_retry(enabled);
    }

    /// Looks at the session. Nothing is written to it meanwhile.
    pub fn with_session<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        look(self.shared.transcript().session())
    }

    /// The user names the session.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn name_session(&self, title: &str) -> Result<(), SessionError> {
        if self.shared.transcript().set_user_title(title)? {
            self.shared.events.publish(AgentEvent::SessionTitled { title: title.to_string() });
        }
        Ok(())
    }

    /// Ends the run; what is finished stays. Returns whether there was one.
    pub fn abort(&self) -> bool {
        self.shared.abort()
    }

    /// Gives up instead of waiting for the next try. Returns whether one was waited for.
    pub fn abort_retry(&self) -> bool {
        self.shared.abort_retry()
    }

    /// Begins or ends a mode, before the model is asked next.
    pub fn request_mode(&self, request: ModeRequest) {
        self.shared.request_mode(request);
    }

    /// Sums up what was said so far before the next request, with a look at `words` (they may be empty). Returns whether a run sees to it;
    /// between runs, whoever has the agent calls [`crate::Agent::compact`].
    pub fn compact(&self, words: impl Into<String>) -> bool {
        self.shared.request_compaction(words.into())
    }

    /// Whether room is made by itself. What the model refuses as too long is made shorter in any case.
    pub fn set_auto_compaction(&self, enabled: bool) {
        self.shared.set_auto_compaction(enabled);
    }

    pub fn is_auto_compaction(&self) -> bool {
        self.shared.is_auto_compaction()
    }

    pub fn is_running(&self) -> bool {
        self.shared.is_running()
    }

    /// Says whether some client can answer questions.
    pub fn set_attended(&self, attended: bool) {
        self.shared.questions.set_attended(attended);
    }

    /// How long a question may wait that has no time of its own, or a longer one.
    pub fn set_longest_question(&self, longest: Option<Duration>) {
        self.shared.questions.set_longest(longest);
    }

    /// Questions that nobody has answered yet.
    pub fn open_questions(&self) -> Vec<AgentQuestion> {
        self.shared.questions.open()
    }

    /// Readers that wait with [`EventReader::next_unless`] look at their condition.
    pub fn wake_readers(&self) {
        self.shared.events.wake();
    }

    /// Somebody begins to answer a question: from now on it waits for them.
    pub fn hold_question(&self, question_id: &str) {
        self.shared.questions.hold(question_id);
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

    /// The next event; waits for it, or until `is_called` holds ([`AgentHandle::wake_readers`]): then nothing is read.
    pub fn next_unless(&mut self, is_called: &dyn Fn() -> bool) -> EventRead {
        self.read(&|seen, shared| shared.events.poll_unless(seen, is_called))
    }

    fn poll(&mut self, deadline: Option<Instant>) -> EventRead {
        self.read(&|seen, shared| shared.events.poll(seen, deadline))
    }

    fn read(&mut self, poll: &dyn Fn(u64, &AgentShared) -> EventPoll) -> EventRead {
        loop {
            match poll(self.seen, &self.shared) {
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
