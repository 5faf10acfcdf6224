//! One answer of the model: streamed as events, tried again where that may help.
//!
//! Two kinds of retries: a request of which nothing was seen is sent again by the stream; an answer that failed
//! after that is kept in the session, forgotten by the model, and asked for again here.

use std::time::{Duration, Instant};

use relaycode_llm::message::{AssistantContent, ToolCall};
use relaycode_llm::stream::StreamRestart;
use relaycode_llm::{
    AnswerStream, AssistantMessage, CancelToken, ChatRequest, FailureClass, Message, ModelFailure,
    StreamEvent, StreamOptions, StreamStep,
};
use relaycode_session::EntryBody;
use tokio::time::timeout_at;

use super::{Agent, EndedRun, RunStep};
use crate::event::{AgentEvent, EndReason, MessageUpdate};

/// The role under which another model is noted that only fills in.
const FALLBACK_ROLE: &str = "temporary";

/// An answer that counts.
pub(super) struct TurnAnswer {
    pub(super) message: AssistantMessage,
    /// Its calls, each with whether its arguments are whole.
    pub(super) calls: Vec<(ToolCall, bool)>,
}

/// A request that is sent again, or not.
struct RetryState {
    attempt: u32,
    switched_from: Option<String>,
}

impl Agent {
    /// Asks until there is an answer, or none to be had.
    pub(super) fn ask_model(&mut self) -> RunStep<TurnAnswer> {
        self.revert_fallback()?;
        let mut retry = RetryState { attempt: 0, switched_from: None };
        loop {
            let (answer, failure) = self.stream_answer()?;
            let Some(failure) = failure else {
                self.end_retries(&retry, None);
                return Ok(answer);
            };
            self.record_failed_answer(answer.message)?;
            if failure.class == FailureClass::Aborted {
                self.end_retries(&retry, Some("Retry cancelled"));
                return Err(self.stopped_run());
            }
            self.prepare_retry(&mut retry, &failure)?;
        }
    }

    /// One request and what came of it.
    fn stream_answer(&mut self) -> RunStep<(TurnAnswer, Option<ModelFailure>)> {
        let chosen = self.models.current().clone();
        let request = ChatRequest {
            system: Some(self.system.clone()).filter(|system| !system.is_empty()),
            messages: self.shared.transcript().messages().to_vec(),
            tools: self.definitions.clone(),
            thinking: chosen.thinking,
            session_id: Some(self.session_id.clone()),
            ..ChatRequest::default()
        };
        let options = StreamOptions {
            cancel: self.cancel.clone(),
            budget: self.settings.request_budget,
            timeouts: self.settings.timeouts,
            secrets: self.secrets.clone(),
            restart: StreamRestart::BeforeOutput,
            ..StreamOptions::default()
        };
        let mut stream = self.client.stream(&chosen.model, chosen.auth, request, options);
        while let Some(step) = self.next_step(&mut stream) {
            self.publish_step(step, &mut stream);
        }
        let failure = stream.failure().cloned();
        let calls = stream.tool_calls().map(|(call, whole)| (call.clone(), whole)).collect();
        let message = stream.message().clone();
        self.usage.add(&message.usage);
        Ok((TurnAnswer { message, calls }, failure))
    }

    /// Ends the answer when the run's time is up.
    fn next_step(&self, stream: &mut AnswerStream) -> Option<StreamStep> {
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
        let may_retry = settings.enabled && (failure.class.is_transient() || is_used_up);
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
