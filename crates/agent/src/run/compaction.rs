//! When room is made, and how, in this order: old outputs are cut, a model with a larger window goes on, what was said is summed
//! up.
//!
//! Invariant: this never fails for lack of room and never loops. Each request that is refused as too long makes the assumed window
//! smaller, so often at most; what saved nothing is not tried again before the conversation has grown. The session gets one
//! entry when everything is there, and nothing before.

use std::time::Instant;

use relaycode_llm::message::UserMessage;
use relaycode_llm::tokens::{counted_tokens, estimated_tokens, head_tokens};
use relaycode_llm::{CancelToken, Message, ModelFailure};
use relaycode_session::{ContextChange, EntryBody, SessionError};

use super::{Agent, EndedRun, RunStep};
use crate::compaction::budget::threshold;
use crate::compaction::outputs::{ToolOutputRef, find_cuts};
use crate::compaction::{CompactionAction, CompactionOutcome, CompactionReason};
use crate::event::{AgentEvent, EndReason, RunUsage};
use crate::transcript::now;

/// How often in one request the assumed window gets smaller.
const MAX_OVERFLOWS: u32 = 12;
/// How often a model is asked for a summary meanwhile; later relay makes do without.
const MODEL_OVERFLOWS: u32 = 2;
/// The role under which a model is noted that goes on for its larger window.
const PROMOTED_ROLE: &str = "temporary";
/// Said to a model whose answer ended for lack of room.
const GO_ON: &str = "(relay: your last answer ended for lack of room. Room was made; go on where you were.)";
/// Tokens of an answer.
const MIN_ANSWER: u64 = 1_024;
/// What has to be free beside the answer, since tokens are estimated: so many of hundred parts of what is read.
const MARGIN: u64 = 5;

/// What is known of the window beside what the model's data say.
#[derive(Default)]
pub(super) struct RoomState {
    /// A model refused so many tokens.
    refused: Option<(String, u64)>,
    /// How far estimates were off when the provider last counted what is read.
    correction: Option<f64>,
    /// The last compaction left so much that it is not repeated below this.
    not_below: u64,
}

/// Room that is wanted.
#[derive(Clone, Copy)]
pub(super) struct RoomRequest<'a> {
    pub(super) reason: CompactionReason,
    /// What the user wants a summary to look at.
    pub(super) focus: Option<&'a str>,
    /// Tokens that the model can read.
    pub(super) window: u64,
    /// No model is asked.
    pub(super) by_rule: bool,
}

/// Requests that were refused as too long, one after the other.
#[derive(Default)]
pub(super) struct OverflowState {
    count: u32,
    window: Option<u64>,
}

impl Agent {
    /// Makes room before a request, if the context is nearly full or somebody asked for it.
    pub(super) fn make_room(&mut self) -> RunStep<()> {
        if let Some(words) = self.shared.take_compaction_request() {
            self.finish_compaction(CompactionReason::Manual, Some(&words))?;
        }
        let is_mid_turn = self.usage.turns > 1;
        if !self.is_full() || (is_mid_turn && !self.settings.compaction.mid_turn) {
            return Ok(());
        }
        let outcome = self.finish_compaction(CompactionReason::Threshold, None)?;
        let is_summed_up =
            matches!(outcome.action, CompactionAction::Summarized | CompactionAction::SummarizedByRule);
        if is_summed_up && is_mid_turn && !self.settings.compaction.auto_continue {
            let message = Some("the conversation was summed up; say something to go on".to_string());
            return Err(EndedRun { reason: EndReason::Compacted, message, failure: None });
        }
        Ok(())
    }

    /// A request was refused as too long: whether it is worth sending again.
    pub(super) fn recover_overflow(&mut self, state: &mut OverflowState) -> RunStep<bool> {
        let sent = self.context_tokens();
        let model = self.models.current().model.selector();
        self.room.refused = Some((model, sent));
        let mut window = state.window.unwrap_or(u64::MAX).min(self.window()).min(sent);
        while state.count < MAX_OVERFLOWS {
            state.count += 1;
            state.window = Some(window / 2);
            let by_rule = state.count > MODEL_OVERFLOWS;
            let request = RoomRequest { reason: CompactionReason::Overflow, focus: None, window, by_rule };
            let outcome = self.run_compaction(request);
            let outcome = outcome.map_err(|error| EndedRun::session_failed(&error))?;
            match outcome.action {
                CompactionAction::Aborted => return Err(self.stopped_run()),
                CompactionAction::Promoted => return Ok(true),
                CompactionAction::Cancelled => return Ok(false),
                _ if self.context_tokens() < sent => return Ok(true),
                _ => window /= 2,
            }
        }
        Ok(false)
    }

    /// An answer that ended for lack of room goes on once there is some; whether it does.
    pub(super) fn continue_after_length(&mut self) -> RunStep<bool> {
        if !self.settings.compaction.auto_continue || !self.is_full() || self.reached_limit().is_some() {
            return Ok(false);
        }
        let before = self.context_tokens();
        self.finish_compaction(CompactionReason::Threshold, None)?;
        if self.context_tokens() >= before {
            return Ok(false);
        }
        self.append(Message::Developer(UserMessage::text(GO_ON, now())))?;
        Ok(true)
    }

    /// Sums up what was said so far, with a look at `words`, and waits for it. Outside of a run: see [`crate::AgentHandle::compact`].
    ///
    /// # Errors
    /// If the session cannot be written. Nothing is changed then.
    pub fn compact(&mut self, words: Option<&str>) -> Result<CompactionOutcome, SessionError> {
        let focus = words.filter(|words| !words.trim().is_empty());
        self.between_runs(|agent| {
            let (reason, window) = (CompactionReason::Manual, agent.window());
            agent.run_compaction(RoomRequest { reason, focus, window, by_rule: false })
        })
    }

    /// Makes room if nobody said anything for a while and there is much; `None`: there is not.
    ///
    /// # Errors
    /// If the session cannot be written.
    pub fn compact_idle(&mut self) -> Result<Option<CompactionOutcome>, SessionError> {
        let Some(from) = self.settings.compaction.idle_tokens else { return Ok(None) };
        let tokens = self.context_tokens();
        if self.is_compaction_off() || tokens < from.max(self.room.not_below) {
            return Ok(None);
        }
        let made = self.between_runs(|agent| {
            let (reason, window) = (CompactionReason::Idle, agent.window());
            agent.run_compaction(RoomRequest { reason, focus: None, window, by_rule: false })
        });
        self.room.not_below = self.context_tokens() + self.window() / 20;
        made.map(Some)
    }

    /// The latest compaction, or cut of outputs, does not count any more: the model reads again what it read before. Returns the
    /// session's entry of what was undone; `None`: there is nothing.
    ///
    /// # Errors
    /// If the session cannot be read or written.
    pub fn undo_compaction(&mut self) -> Result<Option<String>, SessionError> {
        let undone = self.shared.transcript().undo_compaction()?;
        if let Some(entry_id) = &undone {
            self.shared.transcript().flush()?;
            let tokens = self.context_tokens();
            self.shared.events.publish(AgentEvent::CompactionUndone { entry_id: entry_id.clone(), tokens });
        }
        Ok(undone)
    }

    /// Whether room is made by itself.
    pub fn set_auto_compaction(&mut self, enabled: bool) {
        self.shared.set_auto_compaction(enabled);
    }

    /// Tokens that the model can read, as far as is known.
    pub fn window(&self) -> u64 {
        let model = &self.models.current().model;
        let refused = self.room.refused.as_ref().filter(|(of, _)| *of == model.selector());
        let window = if model.context_window == 0 { u64::MAX } else { model.context_window };
        refused.map_or(window, |(_, tokens)| window.min(*tokens))
    }

    /// From so many tokens on room is made.
    pub fn compaction_threshold(&self) -> u64 {
        threshold(self.window(), &self.settings.compaction)
    }

    /// The longest answer that still fits, where that is less than the model could write.
    pub(super) fn answer_room(&self) -> Option<u64> {
        let model = &self.models.current().model;
        let read = self.context_tokens();
        let left = model.context_window.checked_sub(read + read * MARGIN / 100)?;
        // With less there is no answer to speak of: the provider says that it is too long, and room is made.
        (left >= MIN_ANSWER && left < model.max_tokens).then_some(left)
    }

    fn is_compaction_off(&self) -> bool {
        !self.shared.is_auto_compaction() || self.shared.transcript().is_undone()
    }

    fn is_full(&self) -> bool {
        let tokens = self.context_tokens();
        !self.is_compaction_off() && tokens > self.compaction_threshold() && tokens > self.room.not_below
    }

    /// Runs something that a person can stop, as they stop a run.
    pub(super) fn between_runs<T>(&mut self, work: impl FnOnce(&mut Agent) -> T) -> T {
        self.cancel = CancelToken::default();
        self.deadline = None;
        self.usage = RunUsage::default();
        self.shared.set_run_cancel(Some(self.cancel.clone()));
        let done = work(self);
        self.shared.set_run_cancel(None);
        let flushed = self.shared.transcript().flush();
        if let Err(error) = flushed {
            self.notice(&format!("the session may not be on disk: {error}"));
        }
        done
    }

    /// Within a run: what was stopped ends it.
    fn finish_compaction(
        &mut self,
        reason: CompactionReason,
        words: Option<&str>,
    ) -> RunStep<CompactionOutcome> {
        let focus = words.filter(|words| !words.trim().is_empty());
        let request = RoomRequest { reason, focus, window: self.window(), by_rule: false };
        let outcome = self.run_compaction(request).map_err(|error| EndedRun::session_failed(&error))?;
        if outcome.action == CompactionAction::Aborted {
            return Err(self.stopped_run());
        }
        let is_as_before = matches!(outcome.action, CompactionAction::Nothing | CompactionAction::Cancelled);
        if outcome.tokens_after > self.compaction_threshold() || is_as_before {
            self.room.not_below = outcome.tokens_after + self.window() / 20;
        }
        Ok(outcome)
    }

    /// Makes room for a window of so many tokens, in the first way that helps. Says so before and after.
    fn run_compaction(&mut self, request: RoomRequest<'_>) -> Result<CompactionOutcome, SessionError> {
        let (reason, tokens_before) = (request.reason, self.context_tokens());
        // No answer that is left will say it.
        self.room.correction = Some(tokens_before as f64 / self.estimated_tokens().max(1) as f64);
        self.shared.events.publish(AgentEvent::AutoCompactionStart { reason, tokens_before });
        let began = Instant::now();
        let made = self.make_room_somehow(request, tokens_before);
        let outcome = made.as_ref().map_or_else(
            |error| CompactionOutcome {
                action: CompactionAction::Nothing,
                tokens_before,
                tokens_after: tokens_before,
                entry_id: None,
                error: Some(error.to_string()),
            },
            CompactionOutcome::clone,
        );
        self.shared.events.publish(AgentEvent::AutoCompactionEnd {
            reason,
            action: outcome.action,
            tokens_before,
            tokens_after: outcome.tokens_after,
            entry_id: outcome.entry_id,
            error_message: outcome.error,
            will_retry: reason == CompactionReason::Overflow
                && !matches!(outcome.action, CompactionAction::Aborted | CompactionAction::Cancelled),
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        made
    }

    fn make_room_somehow(
        &mut self,
        request: RoomRequest<'_>,
        tokens_before: u64,
    ) -> Result<CompactionOutcome, SessionError> {
        let reason = request.reason;
        let full = threshold(request.window, &self.settings.compaction);
        let outcome = |agent: &Agent, action, entry_id, error| CompactionOutcome {
            action,
            tokens_before,
            tokens_after: agent.context_tokens(),
            entry_id,
            error,
        };
        if reason != CompactionReason::Manual {
            if let Some(entry_id) = self.cut_outputs(tokens_before, full)? {
                return Ok(outcome(self, CompactionAction::Pruned, Some(entry_id), None));
            }
            if reason != CompactionReason::Idle && self.promote(tokens_before)? {
                return Ok(outcome(self, CompactionAction::Promoted, None, None));
            }
        }
        let (action, entry_id, error) = self.sum_up(request, tokens_before)?;
        Ok(outcome(self, action, entry_id, error))
    }

    /// Cuts old outputs of tools, if that alone is enough. Returns the entry.
    fn cut_outputs(&mut self, tokens: u64, full: u64) -> Result<Option<String>, SessionError> {
        if !self.settings.compaction.prune {
            return Ok(None);
        }
        let cuts = {
            let transcript = self.shared.transcript();
            let (messages, sources) = (transcript.messages(), transcript.sources());
            let outputs: Vec<ToolOutputRef<'_>> = messages
                .iter()
                .zip(sources)
                .filter_map(|(message, entry_id)| match message {
                    Message::ToolResult(result) => Some(ToolOutputRef {
                        entry_id,
                        result,
                        tokens: relaycode_llm::tokens::message_tokens(message),
                        files: self.touched_files(messages, result),
                    }),
                    _ => None,
                })
                .collect();
            let (cuts, saved) = find_cuts(&outputs);
            if cuts.is_empty() || tokens.saturating_sub(saved) > full {
                return Ok(None);
            }
            cuts
        };
        let change = ContextChange::CutOutputs(cuts.into_iter().collect());
        self.shared.transcript().change_context(change.to_body()).map(Some)
    }

    /// A model with a larger window goes on, if one is configured that has room.
    fn promote(&mut self, tokens: u64) -> Result<bool, SessionError> {
        let current = self.models.current();
        let Some(next) = current.promotion.clone().filter(|_| self.settings.compaction.promote) else {
            return Ok(false);
        };
        let is_larger = next.model.context_window > current.model.context_window;
        if !is_larger || tokens > threshold(next.model.context_window, &self.settings.compaction) {
            return Ok(false);
        }
        let (from, to) = (current.model.selector(), next.model.selector());
        let role = Some(PROMOTED_ROLE.to_string());
        self.shared.transcript().record(EntryBody::ModelChange { model: to.clone(), role })?;
        self.models.promote(*next);
        self.shared.events.publish(AgentEvent::ContextPromoted { from, to });
        Ok(true)
    }

    /// What the system prompt and the tools take.
    pub(super) fn head_tokens(&self) -> u64 {
        head_tokens(&self.system, &self.definitions)
    }

    /// What the model would read with the next request, in tokens: counted by the provider as far as it did.
    pub fn context_tokens(&self) -> u64 {
        let transcript = self.shared.transcript();
        let messages = transcript.messages();
        counted_tokens(&self.system, &self.definitions, messages).unwrap_or_else(|| {
            let estimated = estimated_tokens(&self.system, &self.definitions, messages);
            (estimated as f64 * self.room.correction.unwrap_or(1.0)).ceil() as u64
        })
    }

    /// The same by the shape of the text alone.
    pub(super) fn estimated_tokens(&self) -> u64 {
        estimated_tokens(&self.system, &self.definitions, self.shared.transcript().messages())
    }

    /// Whether a failure is one that making room may help against.
    pub(super) fn is_overflow(failure: &ModelFailure) -> bool {
        failure.class == relaycode_llm::FailureClass::ContextOverflow
    }
}
