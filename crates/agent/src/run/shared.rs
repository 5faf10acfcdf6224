//! What the loop and everybody who follows it share, from any thread: events, questions, the queue, the conversation, and what
//! somebody wants of the present run.
//!
//! Invariant: the conversation's lock is held for one look or one step, and never while the agent itself is asked for something.

use std::sync::{Mutex, MutexGuard, PoisonError};

use relaycode_llm::{CancelToken, Message};
use relaycode_session::SessionError;

use super::ModeRequest;
use crate::event::{AgentEvent, EventLog};
use crate::question::QuestionBoard;
use crate::queue::PromptQueue;
use crate::transcript::Transcript;

/// One for an agent and its handles.
pub(crate) struct AgentShared {
    pub(crate) events: EventLog,
    pub(crate) questions: QuestionBoard,
    queue: Mutex<PromptQueue>,
    transcript: Mutex<Transcript>,
    control: Mutex<RunControl>,
}

#[derive(Default)]
struct RunControl {
    run: Option<CancelToken>,
    /// A compaction that somebody wants, with what it is to look at.
    compaction: Option<String>,
    is_auto_compaction_off: bool,
    /// An answer that failed is not asked for again.
    is_auto_retry_off: bool,
    retry: Option<CancelToken>,
    mode: Option<ModeRequest>,
}

impl AgentShared {
    pub(super) fn new(mut transcript: Transcript, queue: PromptQueue) -> AgentShared {
        AgentShared {
            events: EventLog::with_earlier(transcript.take_earlier()),
            questions: QuestionBoard::default(),
            queue: Mutex::new(queue),
            transcript: Mutex::new(transcript),
            control: Mutex::default(),
        }
    }

    /// Writes a message, and tells it.
    pub(super) fn append(&self, message: Message) -> Result<(), SessionError> {
        let entry_id = self.transcript().append(message.clone())?;
        self.events.publish(AgentEvent::MessageEnd { entry_id, message: Box::new(message) });
        Ok(())
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, PromptQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self) -> MutexGuard<'_, RunControl> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_run_cancel(&self, cancel: Option<CancelToken>) {
        let mut control = self.control();
        (control.run, control.compaction) = (cancel, None);
    }

    pub(super) fn set_retry_cancel(&self, cancel: Option<CancelToken>) {
        self.control().retry = cancel;
    }

    /// Whether a run is there that sees to it.
    pub(crate) fn request_compaction(&self, words: String) -> bool {
        let mut control = self.control();
        if control.run.is_some() {
            control.compaction = Some(words);
        }
        control.run.is_some()
    }

    pub(super) fn take_compaction_request(&self) -> Option<String> {
        self.control().compaction.take()
    }

    pub(crate) fn set_auto_compaction(&self, enabled: bool) {
        self.control().is_auto_compaction_off = !enabled;
    }

    pub(crate) fn is_auto_compaction(&self) -> bool {
        !self.control().is_auto_compaction_off
    }

    /// Counts before the model is asked next.
    pub(crate) fn request_mode(&self, request: ModeRequest) {
        self.control().mode = Some(request);
    }

    pub(super) fn take_mode_request(&self) -> Option<ModeRequest> {
        self.control().mode.take()
    }

    pub(crate) fn auto_retry(&self) -> bool {
        !self.control().is_auto_retry_off
    }

    pub(crate) fn set_auto_retry(&self, enabled: bool) {
        self.control().is_auto_retry_off = !enabled;
    }

    /// Whether there was a run to end.
    pub(crate) fn abort(&self) -> bool {
        let control = self.control();
        control.run.as_ref().map(CancelToken::cancel).is_some()
    }

    /// Whether a retry was waited for.
    pub(crate) fn abort_retry(&self) -> bool {
        let control = self.control();
        control.retry.as_ref().map(CancelToken::cancel).is_some()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.control().run.is_some()
    }
}
