//! The calls of one answer: those that only look run beside each other, those that change something alone, in the order of the
//! answer.
//!
//! Invariant: every call gets one result, in the session as soon as it is there; nothing that a tool does ends
//! the loop but [`ToolError::Fatal`].

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use relaycode_llm::message::{ToolCall, ToolResultMessage, UserContent};
use relaycode_llm::{CancelToken, Message};
use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::width::{Ellipsis, clip};
use relaycode_tools::{
    Host, HostAnswer, HostQuestion, ProposedPlan, Tool, ToolCard, ToolConcurrency, ToolError, ToolInvocation,
    ToolProgress,
};
use serde_json::{Value, json};

use super::{Agent, AgentShared, EndedRun, RunStep};
use crate::event::{AgentEvent, EndReason};
use crate::question::AgentQuestion;
use crate::transcript::now;

/// The name of a thread that runs calls: what panics there is told to the model, and is no text for a terminal.
pub const TOOL_THREAD: &str = "relay-tool";
/// Calls of one answer that are carried out.
pub const MAX_CALLS: usize = 64;
/// Bytes of text in one result; tools have limits of their own.
const MAX_RESULT_BYTES: usize = 512 << 10;
/// What is shown to people of a call that failed.
const SUMMARY_CELLS: usize = 120;
/// Names that an unknown one is compared with.
const MAX_SUGGESTIONS: usize = 3;
/// How soon the end of a run's time is noticed while tools run.
const TICK: Duration = Duration::from_millis(50);
/// Between two pieces of live output of one call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);
/// The card and the result of a call that was not carried out.
const SKIPPED_BY_STEERING: &str =
    "Not carried out: the user said something new. Read it, then call this again if it is still right.";
pub(super) const STOPPED: &str = "Not carried out: the user stopped the run.";

/// What a turn's calls came to, for whoever compares turns.
pub(super) type TurnDigest = Vec<(String, String, String)>;

/// A call on its way.
pub(super) enum PreparedCall<'t> {
    Run(&'t dyn Tool),
    /// It cannot be carried out, and this is why.
    Refuse(String),
}

/// What came of a call.
pub(super) struct CallOutcome {
    pub(super) content: Vec<UserContent>,
    pub(super) is_error: bool,
    pub(super) card: Value,
    pub(super) details: Option<Value>,
    fatal: Option<String>,
    pub(super) took: Duration,
}

impl Agent {
    /// Runs the calls of an answer; returns what they came to.
    pub(super) fn run_calls(&mut self, calls: &[(ToolCall, bool)]) -> RunStep<TurnDigest> {
        let mut digest = TurnDigest::new();
        let mut at = 0;
        while at < calls.len()
            && !self.cancel.is_cancelled()
            && (at == 0
                || !(self.shared.queue().interrupts_calls() || self.is_rewinding() || self.is_mode_decided()))
        {
            let end = self.end_of_batch(calls, at);
            self.run_batch(&calls[at..end], at, &mut digest)?;
            at = end;
        }
        if self.cancel.is_cancelled() {
            self.close_calls(STOPPED)?;
            return Err(self.stopped_run());
        }
        self.close_calls(SKIPPED_BY_STEERING)?;
        Ok(digest)
    }

    /// Calls that only look are one batch, any other is one by itself.
    fn end_of_batch(&self, calls: &[(ToolCall, bool)], from: usize) -> usize {
        let is_shared = |at: usize| match self.prepare_call(&calls[at], at) {
            PreparedCall::Run(tool) => tool.concurrency() == ToolConcurrency::Shared,
            PreparedCall::Refuse(_) => true,
        };
        if !is_shared(from) {
            return from + 1;
        }
        (from + 1..calls.len()).find(|at| !is_shared(*at)).unwrap_or(calls.len())
    }

    fn prepare_call(&self, (call, whole): &(ToolCall, bool), at: usize) -> PreparedCall<'_> {
        if at >= MAX_CALLS {
            return PreparedCall::Refuse(format!(
                "Not carried out: of one answer, the first {MAX_CALLS} calls are. Send the others again, fewer at a time."
            ));
        }
        let Some(tool) = self.tools.iter().find(|tool| tool.name() == call.name) else {
            return PreparedCall::Refuse(unknown_tool(&call.name, &self.tools));
        };
        if !whole {
            return PreparedCall::Refuse(format!(
                "Not carried out: the arguments of this call of `{}` are no whole JSON object; the answer may have reached its \
                 length limit. Send the call again, in smaller pieces if it was long.",
                call.name
            ));
        }
        if self.leaked_calls.contains(&call.id) {
            return PreparedCall::Refuse(format!(
                "Not carried out: parts of the protocol of tool calls are in the arguments of this call of `{}`, so they may be \
                 damaged. Send the whole call again. If you write about that protocol, put its headers in a code span, or in a \
                 string on one line.",
                call.name
            ));
        }
        PreparedCall::Run(&**tool)
    }

    fn run_batch(
        &mut self,
        batch: &[(ToolCall, bool)],
        first: usize,
        digest: &mut TurnDigest,
    ) -> RunStep<()> {
        let mut fatal = None;
        let mut failed = None;
        let mut reminded = Vec::new();
        let threads = self.settings.parallel_tools.clamp(1, batch.len());
        let next = AtomicUsize::new(0);
        let (sender, outcomes) = mpsc::channel();
        let agent = &*self;
        let (shared, cancel, deadline) = (agent.shared.clone(), agent.cancel.clone(), agent.deadline);
        let host = CallHost { host: &*agent.host, shared: &shared, cancel: &cancel, shown: Mutex::default() };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, next, host) = (sender.clone(), &next, &host);
                let thread = std::thread::Builder::new().name(TOOL_THREAD.to_string());
                let spawned = thread.spawn_scoped(scope, move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(call) = batch.get(at) else { break };
                        // What has not begun is answered by whoever closes the turn.
                        if agent.cancel.is_cancelled() || (at > 0 && agent.shared.queue().interrupts_calls())
                        {
                            break;
                        }
                        let prepared = agent.prepare_call(call, first + at);
                        if sender.send((at, agent.run_call(&call.0, &prepared, host))).is_err() {
                            break;
                        }
                    }
                });
                // Fewer threads do the same work later; without any, the calls are answered as not carried out.
                drop(spawned);
            }
            drop(sender);
            loop {
                let outcome = match outcomes.recv_timeout(TICK) {
                    Ok(outcome) => outcome,
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                            cancel.cancel();
                        }
                        continue;
                    }
                };
                let (at, mut outcome): (usize, CallOutcome) = outcome;
                fatal = fatal.take().or_else(|| outcome.fatal.take());
                digest.push(digest_call(&batch[at].0, &outcome));
                reminded.extend(agent.remind_in_result(&batch[at].0, &mut outcome.content));
                if let Err(error) = shared.append_result(&batch[at].0, outcome) {
                    failed = Some(error);
                    cancel.cancel();
                }
                agent.publish_warnings();
            }
        });
        digest.sort();
        if failed.is_none() {
            self.note_call_rules(&reminded)?;
        }
        match (failed, fatal) {
            (Some(error), _) => Err(EndedRun::session_failed(&error)),
            (None, Some(message)) => {
                self.close_calls("Not carried out: the run ended before.")?;
                Err(EndedRun { reason: EndReason::ToolFailed, message: Some(message), failure: None })
            }
            (None, None) => Ok(()),
        }
    }

    pub(super) fn run_call(
        &self,
        call: &ToolCall,
        prepared: &PreparedCall<'_>,
        host: &CallHost<'_>,
    ) -> CallOutcome {
        self.shared.events.publish(AgentEvent::ToolExecutionStart {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            args: Value::Object(call.arguments.clone()),
        });
        let began = Instant::now();
        let result = match prepared {
            PreparedCall::Refuse(why) => Err(ToolError::refused(why.as_str())),
            PreparedCall::Run(tool) => {
                let invocation = ToolInvocation {
                    id: &call.id,
                    arguments: &call.arguments,
                    workspace: &self.workspace,
                    host,
                    cancel: &self.cancel,
                };
                // A tool that fails must not take the session with it: it is told to the model like any other error.
                let permit_and_run = || {
                    self.workspace.permit_tool(&invocation, *tool)?;
                    tool.run(&invocation)
                };
                catch_unwind(AssertUnwindSafe(permit_and_run)).unwrap_or_else(|panic| {
                    let said = panic_text(&*panic);
                    Err(ToolError::refused(format!(
                        "The tool failed inside relay, which is a bug of relay's: {said}. Try another way."
                    )))
                })
            }
        };
        CallOutcome::new(call, result, began.elapsed())
    }
}

impl CallOutcome {
    fn new(
        call: &ToolCall,
        result: Result<relaycode_tools::ToolOutput, ToolError>,
        took: Duration,
    ) -> CallOutcome {
        let (content, is_error, card, details, fatal) = match result {
            Ok(output) => (output.content, false, Some(output.card), output.details, None),
            Err(ToolError::Refused { message, card, details }) => {
                (vec![UserContent::text(message)], true, card.map(|card| *card), details, None)
            }
            Err(ToolError::Aborted) => {
                (vec![UserContent::text("Stopped by the user.")], true, None, None, None)
            }
            Err(ToolError::Fatal(message)) => {
                (vec![UserContent::text(message.as_str())], true, None, None, Some(message))
            }
        };
        let card = card.unwrap_or_else(|| {
            let said = match content.first() {
                Some(UserContent::Text(text)) if is_error => text.text.lines().next().unwrap_or_default(),
                _ => "",
            };
            ToolCard::line(call.name.as_str(), clip(said, SUMMARY_CELLS, Ellipsis::default()))
        });
        let card = serde_json::to_value(&card).unwrap_or(Value::Null);
        CallOutcome { content: clip_content(content), is_error, card, details, fatal, took }
    }
}

impl AgentShared {
    fn append_result(
        &self,
        call: &ToolCall,
        outcome: CallOutcome,
    ) -> Result<(), relaycode_session::SessionError> {
        let CallOutcome { content, is_error, mut card, details, took, .. } = outcome;
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Some(card) = card.as_object_mut() {
            // What a session keeps of a call says how long it took, too.
            card.insert("durationMs".to_string(), duration_ms.into());
        }
        let details = match details {
            Some(details) => json!({ "card": card, "details": details }),
            None => json!({ "card": card }),
        };
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content,
            details: Some(details),
            is_error,
            timestamp: now(),
        });
        let entry_id = self.transcript().append(message.clone())?;
        self.events.publish(AgentEvent::ToolExecutionEnd {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            is_error,
            card,
            duration_ms,
        });
        self.events.publish(AgentEvent::MessageEnd { entry_id, message: Box::new(message) });
        Ok(())
    }
}

/// The host of one batch: live output becomes events, questions go to everybody who follows the run.
pub(super) struct CallHost<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) shared: &'a AgentShared,
    pub(super) cancel: &'a CancelToken,
    /// When each call last showed something.
    pub(super) shown: Mutex<HashMap<String, Instant>>,
}

impl Host for CallHost<'_> {
    fn ask(&self, question: &HostQuestion) -> HostAnswer {
        if !self.shared.questions.is_attended() {
            return self.host.ask(question);
        }
        self.shared.questions.ask(question, self.cancel, &self.shared.events)
    }

    fn ask_about_plan(&self, proposed: &ProposedPlan, question: &HostQuestion) -> HostAnswer {
        self.show_plan(proposed);
        if !self.shared.questions.is_attended() {
            return self.host.ask(question);
        }
        let opened = Mutex::new(None);
        let open = |question: &AgentQuestion| {
            let wait = question.timeout_ms.map(Duration::from_millis);
            self.host.plan_question_opened(&question.id, proposed, wait);
            *opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(question.id.clone());
        };
        let answer = self.shared.questions.ask_about_plan(question, self.cancel, &self.shared.events, &open);
        if let Some(id) = opened.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.host.plan_question_closed(&id, &answer);
        }
        answer
    }

    fn with_approver(&self, call: &str, submit: &mut dyn FnMut(&mut dyn relaycode_door::Approver)) {
        self.host.with_approver(call, submit);
    }

    fn show_plan(&self, proposed: &ProposedPlan) {
        self.shared.events.publish(AgentEvent::PlanProposed { proposed: proposed.clone() });
        if !self.shared.questions.is_attended() {
            self.host.show_plan(proposed);
        }
    }

    fn progress(&self, call: &str, progress: &ToolProgress) {
        let now = Instant::now();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.get(call).is_some_and(|last| now.duration_since(*last) < PROGRESS_INTERVAL) {
            return;
        }
        shown.insert(call.to_string(), now);
        drop(shown);
        self.host.progress(call, progress);
        let update = serde_json::to_value(progress).unwrap_or(Value::Null);
        self.shared
            .events
            .publish(AgentEvent::ToolExecutionUpdate { tool_call_id: call.to_string(), update });
    }
}

fn unknown_tool(name: &str, tools: &[Arc<dyn Tool>]) -> String {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let nearest = did_you_mean(&nearest_names(name, names.iter().copied(), MAX_SUGGESTIONS));
    let shown = relaycode_text::width::clip_for_message(name, 60);
    let end = if nearest.is_empty() { "." } else { "" };
    format!("Not carried out: there is no tool `{shown}`{nearest}{end} The tools are: {}.", names.join(", "))
}

fn digest_call(call: &ToolCall, outcome: &CallOutcome) -> (String, String, String) {
    let arguments = Value::Object(call.arguments.clone()).to_string();
    (call.name.clone(), arguments, content_text(&outcome.content))
}

pub(super) fn content_text(content: &[UserContent]) -> String {
    let texts = content.iter().filter_map(|piece| match piece {
        UserContent::Text(text) => Some(text.text.as_str()),
        UserContent::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// No tool can fill the model's window by itself.
fn clip_content(mut content: Vec<UserContent>) -> Vec<UserContent> {
    let mut left = MAX_RESULT_BYTES;
    for piece in &mut content {
        let UserContent::Text(text) = piece else { continue };
        if text.text.len() > left {
            let end = (0..=left).rev().find(|at| text.text.is_char_boundary(*at)).unwrap_or(0);
            let rest = text.text.len() - end;
            text.text.truncate(end);
            text.text.push_str(&format!("\n(… {rest} more bytes were left out)"));
            left = 0;
        } else {
            left -= text.text.len();
        }
    }
    content
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    relaycode_text::width::clip_for_message(text.unwrap_or("no message"), 200)
}
