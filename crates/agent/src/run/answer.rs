//! One answer of the model: streamed as events, tried again where that may help.
//!
//! Two kinds of retries: a request of which nothing was seen is sent again by the stream; an answer that failed
//! after that is kept in the session, forgotten by the model, and asked for again here.

use std::time::{Duration, Instant};

use relaycode_llm::message::{AssistantContent, ToolCall};
use relaycode_llm::stream::StreamRestart;
use relaycode_llm::{
    AnswerStream, AssistantMessage, CancelToken, ChatRequest, FailureClass, Message, Model, ModelFailure,
    StreamEvent, StreamOptions, StreamStep, TokenUsage, tokens,
};
use relaycode_session::EntryBody;
use tokio::time::timeout_at;

use super::compaction::OverflowState;
use super::leaks::MAX_LEAKED_ANSWERS;
use super::{Agent, EndedRun, RunStep};
use crate::event::{AgentEvent, EndReason, MessageUpdate};
use crate::stream_rules::{AnswerWatch, RuleInterrupt};

/// The role under which another model is noted that only fills in.
const FALLBACK_ROLE: &str = "temporary";

/// An answer that counts.
pub(super) struct TurnAnswer {
    pub(super) message: AssistantMessage,
    /// Its calls, each with whether its arguments are whole.
    pub(super) calls: Vec<(ToolCall, bool)>,
    /// What rules have matched in it.
    pub(super) watch: AnswerWatch,
}

/// How a request ended.
enum RequestEnd {
    Answered,
    Failed(ModelFailure),
    /// Rules stopped the answer.
    Interrupted(RuleInterrupt),
}

/// A request that is sent again, or not.
struct RetryState {
    attempt: u32,
    switched_from: Option<String>,
    /// How often another key was taken.
    switched_keys: usize,
}

impl Agent {
    /// Asks until there is an answer, or none to be had.
    pub(super) fn ask_model(&mut self) -> RunStep<TurnAnswer> {
        self.revert_fallback()?;
        self.make_room()?;
        let mut retry = RetryState { attempt: 0, switched_from: None, switched_keys: 0 };
        let (mut leaks, mut overflows) = (0, OverflowState::default());
        loop {
            let (answer, end) = self.stream_answer()?;
            let failure = match end {
                RequestEnd::Answered if leaks < MAX_LEAKED_ANSWERS && self.is_leaked_text(&answer) => {
                    leaks += 1;
                    self.record_leaked_answer(answer.message)?;
                    self.check_repeated_answer()?;
                    continue;
                }
                RequestEnd::Answered => {
                    self.end_retries(&retry, None);
                    return Ok(answer);
                }
                RequestEnd::Interrupted(interrupt) => {
                    self.interrupt_answer(answer.message, &interrupt)?;
                    self.check_repeated_answer()?;
                    continue;
                }
                RequestEnd::Failed(failure) => failure,
            };
            self.record_failed_answer(answer.message)?;
            if failure.class == FailureClass::Aborted {
                self.end_retries(&retry, Some("Retry cancelled"));
                return Err(self.stopped_run());
            }
            if Agent::is_overflow(&failure) && self.recover_overflow(&mut overflows)? {
                continue;
            }
            self.prepare_retry(&mut retry, &failure)?;
        }
    }

    /// Whether an answer may be asked for again that something of relay's stopped: it belongs to its turn, so that the limit of
    /// turns does not count.
    fn check_repeated_answer(&self) -> RunStep<()> {
        if self.cancel.is_cancelled() {
            return Err(self.stopped_run());
        }
        match self.reached_limit() {
            None | Some((EndReason::TurnLimit, _)) => Ok(()),
            Some((reason, message)) => Err(EndedRun { reason, message: Some(message), failure: None }),
        }
    }

    /// One request and what came of it.
    fn stream_answer(&mut self) -> RunStep<(TurnAnswer, RequestEnd)> {
        let chosen = self.models.current().clone();
        let max_tokens = self.answer_room();
        let request = ChatRequest {
            system: Some(self.system.clone()).filter(|system| !system.is_empty()),
            messages: self.shared.transcript().messages().iter().map(Message::without_details).collect(),
            tools: self.definitions.clone(),
            thinking: chosen.thinking,
            max_tokens,
            session_id: Some(self.session_id.clone()),
            kept: self.kept_turns.clone(),
            ..ChatRequest::default()
        };
        let options = StreamOptions {
            cancel: self.cancel.clone(),
            budget: self.settings.request_budget,
            timeouts: self.settings.timeouts,
            secrets: self.secrets.clone(),
            has_other_keys: self.models.has_other_key(),
            restart: StreamRestart::BeforeOutput,
            ..StreamOptions::default()
        };
        let mut stream = self.client.stream(&chosen.model, chosen.auth, request, options);
        let mut watch = AnswerWatch::default();
        let mut interrupt = None;
        while let Some(step) = self.next_step(&mut stream) {
            interrupt = self.watch_step(&mut watch, &step, &mut stream);
            self.publish_step(step, &mut stream);
            if interrupt.is_some() {
                break;
            }
        }
        self.leave_out_costly_rules(&watch);
        let end = match (interrupt, stream.failure()) {
            (Some(interrupt), _) => RequestEnd::Interrupted(interrupt),
            (None, Some(failure)) => RequestEnd::Failed(failure.clone()),
            (None, None) => RequestEnd::Answered,
        };
        let whole: Vec<bool> = stream.tool_calls().map(|(_, whole)| whole).collect();
        let mut message = stream.message().clone();
        self.complete_answer(&chosen.model, &mut message);
        let calls = message.tool_calls().cloned().zip(whole).collect();
        self.usage.add(&message.usage);
        Ok((TurnAnswer { message, calls, watch }, end))
    }

    /// What some providers leave to whoever asks: ids that are unique, and a count of tokens.
    fn complete_answer(&self, model: &Model, message: &mut AssistantMessage) {
        let transcript = self.shared.transcript();
        let earlier = transcript.messages().iter().filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer.tool_calls().map(|call| call.id.as_str())),
            _ => None,
        });
        message.rename_repeated_calls(earlier.flatten());
        let is_counted = message.usage.total_tokens > 0 || message.content.is_empty();
        // Only money needs a number here: what the model reads is estimated where it is asked for.
        if !is_counted && self.settings.limits.cost.is_some() {
            let output = tokens::message_tokens(&Message::Assistant(message.clone()));
            let input = tokens::context_tokens(&self.system, &self.definitions, transcript.messages());
            let mut usage = TokenUsage { input, output, ..TokenUsage::default() };
            model.fill_in_cost(&mut usage);
            message.usage = usage;
        }
    }

    /// Ends the answer when the run's time is up.
    pub(super) fn next_step(&self, stream: &mut AnswerStream) -> Option<StreamStep> {
        let Some(deadline) = self.deadline.filter(|_| !self.cancel.is_cancelled()) else {
            return self.runtime.block_on(stream.next());
        };
        let step = self.runtime.block_on(async { timeout_at(deadline.into(), stream.next()).await });
        step.unwrap_or_else(|_| {
            self.cancel.cancel();
            self.runtime.block_on(stream.next())
        })
    }

    fn publish_step(&self, step: StreamStep, stream: &mut AnswerStream) {
        let event = match step {
            StreamStep::Retrying { attempt, max_attempts, wait, failure } => AgentEvent::RequestRetry {
                attempt,
                max_attempts,
                delay_ms: millis(wait),
                error_message: failure.message,
            },
            StreamStep::Event(StreamEvent::Start) => AgentEvent::MessageStart,
            StreamStep::Event(event) => match to_update(event, stream) {
                Some(update) => AgentEvent::MessageUpdate { update },
                None => return,
            },
        };
        self.shared.events.publish(event);
    }

    /// What came of an answer that failed stays in the session; the model does not see it.
    fn record_failed_answer(&mut self, message: AssistantMessage) -> RunStep<()> {
        if message.content.is_empty() && message.usage.total_tokens == 0 {
            return Ok(());
        }
        self.append(Message::Assistant(message)).map(drop)
    }

    /// Waits, or chooses another model; fails if nothing is left to try.
    fn prepare_retry(&mut self, retry: &mut RetryState, failure: &ModelFailure) -> RunStep<()> {
        let settings = self.settings.retry;
        let is_used_up = failure.class == FailureClass::Quota;
        let may_retry = self.shared.auto_retry() && (failure.class.is_transient() || is_used_up);
        if self.shared.auto_retry()
            && retry.switched_keys < self.models.key_count()
            && self.switch_key(failure)
        {
            retry.switched_keys += 1;
            return Ok(());
        }
        retry.attempt += 1;
        let is_last = retry.attempt > settings.max_retries;
        if !may_retry || is_last {
            retry.attempt -= 1;
            self.end_retries(retry, Some(&failure.message));
            return Err(failed_run(failure));
        }
        let from = self.models.current().model.selector();
        let switched = self.models.switch(failure.retry_after);
        let delay = if switched {
            Duration::ZERO
        } else {
            let hint = failure.retry_after.unwrap_or_default();
            // A wait that is too long is the user's to decide about, and so is an account that is used up.
            if hint > settings.max_delay || is_used_up {
                retry.attempt -= 1;
                self.end_retries(retry, Some(&failure.message));
                return Err(failed_run(failure));
            }
            let doubled = settings.base_delay.saturating_mul(1 << (retry.attempt - 1).min(16));
            doubled.min(settings.max_delay).max(hint)
        };
        if switched {
            let to = self.models.current().model.selector();
            let role = FALLBACK_ROLE.to_string();
            self.record(EntryBody::ModelChange { model: to.clone(), role: Some(role) })?;
            let role = "default".to_string();
            self.shared.events.publish(AgentEvent::RetryFallbackApplied { from: from.clone(), to, role });
            retry.switched_from.get_or_insert(from);
        }
        self.shared.events.publish(AgentEvent::AutoRetryStart {
            attempt: retry.attempt,
            max_attempts: settings.max_retries,
            delay_ms: millis(delay),
            error_message: failure.message.clone(),
        });
        if !self.wait_for_retry(delay) {
            self.end_retries(retry, Some("Retry cancelled"));
            return Err(if self.cancel.is_cancelled() { self.stopped_run() } else { failed_run(failure) });
        }
        Ok(())
    }

    /// Takes another key of the provider, if this one is refused or used up and there is one; whether it did.
    fn switch_key(&mut self, failure: &ModelFailure) -> bool {
        let until = match failure.class {
            FailureClass::Auth => None,
            FailureClass::RateLimit | FailureClass::Quota => Some(failure.retry_after),
            _ => return false,
        };
        let Some((key, of)) = self.models.switch_key(until) else { return false };
        let provider = self.models.current().model.provider.clone();
        let error_message = failure.message.clone();
        self.shared.events.publish(AgentEvent::CredentialSwitched { provider, key, of, error_message });
        true
    }

    /// Whether the wait ended by itself.
    fn wait_for_retry(&self, delay: Duration) -> bool {
        let (run, retry) = (self.cancel.clone(), CancelToken::default());
        self.shared.set_retry_cancel(Some(retry.clone()));
        let until = Instant::now() + delay;
        let ends = self.deadline.is_some_and(|deadline| deadline < until);
        let until = self.deadline.map_or(until, |deadline| deadline.min(until));
        let waited = self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = run.cancelled() => false,
                () = retry.cancelled() => false,
                () = tokio::time::sleep_until(until.into()) => true,
            }
        });
        self.shared.set_retry_cancel(None);
        if waited && ends {
            self.cancel.cancel();
        }
        waited && !ends
    }

    /// Says how a series of retries ended, if there was one.
    fn end_retries(&self, retry: &RetryState, final_error: Option<&str>) {
        if retry.attempt == 0 {
            return;
        }
        let success = final_error.is_none();
        if let (true, Some(_)) = (success, &retry.switched_from) {
            let model = self.models.current().model.selector();
            self.shared.events.publish(AgentEvent::RetryFallbackSucceeded { model, role: "default".into() });
        }
        let final_error = final_error.map(str::to_string);
        self.shared.events.publish(AgentEvent::AutoRetryEnd { success, attempt: retry.attempt, final_error });
    }

    fn revert_fallback(&mut self) -> RunStep<()> {
        if self.settings.retry.revert_fallback && self.models.revert() {
            let model = self.models.current().model.selector();
            self.record(EntryBody::ModelChange { model, role: Some(FALLBACK_ROLE.to_string()) })?;
        }
        Ok(())
    }
}

fn to_update(event: StreamEvent, stream: &mut AnswerStream) -> Option<MessageUpdate> {
    Some(match event {
        StreamEvent::TextDelta { content_index, delta } => MessageUpdate::TextDelta { content_index, delta },
        StreamEvent::ThinkingDelta { content_index, delta } => {
            MessageUpdate::ThinkingDelta { content_index, delta }
        }
        StreamEvent::ToolcallStart { content_index } => {
            let tool_name = match stream.message().content.get(content_index) {
                Some(AssistantContent::ToolCall(call)) => call.name.clone(),
                _ => String::new(),
            };
            MessageUpdate::ToolcallStart { content_index, tool_name }
        }
        StreamEvent::ToolcallDelta { content_index, delta } => {
            MessageUpdate::ToolcallDelta { content_index, delta }
        }
        _ => return None,
    })
}

fn failed_run(failure: &ModelFailure) -> EndedRun {
    let reason = match failure.class {
        FailureClass::ContextOverflow => EndReason::ContextOverflow,
        _ => EndReason::ModelFailed,
    };
    EndedRun { reason, message: Some(failure.message_with_wait()), failure: Some(failure.clone()) }
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}
