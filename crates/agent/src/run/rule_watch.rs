//! What rules that watch answers do to a run: stop an answer and have the model answer again, or tell it the rule behind the
//! answer or with the result of the call.

use std::collections::HashMap;

use relaycode_llm::message::{AssistantContent, ToolCall, UserContent};
use relaycode_llm::{AnswerStream, AssistantMessage, Message, StopReason, StreamEvent, StreamStep};
use relaycode_project::config::RuleContextMode;
use relaycode_session::EntryBody;
use serde_json::json;

use super::{Agent, EndedRun, RunStep};
use crate::event::AgentEvent;
use crate::stream_rules::{AnswerWatch, PartKind, RuleInterrupt, TriggeredRule};

/// Under which the session keeps what the model was told.
const INJECTION: &str = "ttsr-injection";
/// So often rules may have the model answer again, or go on, for one prompt: a model that never keeps to a rule costs no more.
const MAX_EXTRA_ANSWERS: u32 = 20;

impl Agent {
    /// Whether what the model just said stops its answer.
    pub(super) fn watch_step(
        &self,
        watch: &mut AnswerWatch,
        step: &StreamStep,
        stream: &mut AnswerStream,
    ) -> Option<RuleInterrupt> {
        let StreamStep::Event(event) = step else { return None };
        if self.rules.is_empty() || self.rule_answers >= MAX_EXTRA_ANSWERS {
            return None;
        }
        match event {
            StreamEvent::TextStart { content_index } => {
                self.rules.open(watch, *content_index, PartKind::Text);
            }
            StreamEvent::ThinkingStart { content_index } => {
                self.rules.open(watch, *content_index, PartKind::Thinking);
            }
            StreamEvent::ToolcallStart { content_index } => {
                if let Some(AssistantContent::ToolCall(call)) = stream.message().content.get(*content_index) {
                    self.rules.open(watch, *content_index, PartKind::Tool(call.name.clone()));
                }
            }
            StreamEvent::TextDelta { content_index, delta }
            | StreamEvent::ThinkingDelta { content_index, delta }
            | StreamEvent::ToolcallDelta { content_index, delta } => {
                return self.rules.push(watch, *content_index, delta);
            }
            StreamEvent::TextEnd { content_index, .. }
            | StreamEvent::ThinkingEnd { content_index, .. }
            | StreamEvent::ToolcallEnd { content_index, .. } => {
                return self.rules.finish(watch, *content_index);
            }
            StreamEvent::Start | StreamEvent::Done { .. } | StreamEvent::Error { .. } => {}
        }
        None
    }

    /// Rules that took too much work are not watched for any more.
    pub(super) fn leave_out_costly_rules(&mut self, watch: &AnswerWatch) {
        for rule in self.rules.leave_out_costly(watch) {
            self.notice(&format!(
                "the rule {} ({}) takes too much work to match: it is no longer watched for",
                rule.name, rule.path
            ));
        }
    }

    /// Keeps what there is of an answer that rules stopped, and tells the model the rules.
    pub(super) fn interrupt_answer(
        &mut self,
        message: AssistantMessage,
        interrupt: &RuleInterrupt,
    ) -> RunStep<()> {
        let rules = self.rules.describe(&interrupt.rules);
        let why = format!("stopped by {}", TriggeredRule::list_names(&rules));
        self.shared.events.publish(AgentEvent::TtsrTriggered { rules, interrupted: true });
        let kept = match self.rules.context_mode() {
            RuleContextMode::Discard => None,
            RuleContextMode::Keep => keep_text(&message, interrupt),
        };
        let message = kept.unwrap_or_else(|| AssistantMessage {
            stop_reason: StopReason::Error,
            error_message: Some(why),
            ..message
        });
        if !message.content.is_empty() {
            self.append(Message::Assistant(message))?;
        }
        self.tell_rules(&interrupt.rules)
    }

    /// Tells the model the rules that matched in an answer without stopping it; whether there were any.
    pub(super) fn tell_rules_after_answer(&mut self, watch: &mut AnswerWatch) -> RunStep<bool> {
        let rules = watch.take_after_answer();
        if rules.is_empty() {
            return Ok(false);
        }
        let described = self.rules.describe(&rules);
        self.shared.events.publish(AgentEvent::TtsrTriggered { rules: described, interrupted: false });
        self.tell_rules(&rules)?;
        Ok(true)
    }

    fn tell_rules(&mut self, rules: &[usize]) -> RunStep<()> {
        self.rule_answers += 1;
        if self.rule_answers == MAX_EXTRA_ANSWERS {
            self.notice(&format!(
                "rules had the model answer again {MAX_EXTRA_ANSWERS} times: until the next prompt they are not watched for"
            ));
        }
        let names = self.rules.names(rules);
        let text = self.rules.interrupt_text(rules);
        let told = self.shared.transcript().append_hidden(INJECTION, &text, json!({ "rules": names }));
        told.map_err(|error| EndedRun::session_failed(&error))?;
        self.rules.mark_told(rules);
        self.record(EntryBody::TtsrInjection { injected_rules: names })
    }

    /// Puts the rules that the call goes against in front of its result; returns them.
    pub(super) fn remind_in_result(&self, call: &ToolCall, content: &mut Vec<UserContent>) -> &[usize] {
        let Some(rules) = self.call_rules.get(&call.id) else { return &[] };
        content.insert(0, UserContent::text(self.rules.reminder_text(rules)));
        rules
    }

    /// Notes the rules that the model was told with results.
    pub(super) fn note_call_rules(&mut self, rules: &[usize]) -> RunStep<()> {
        if rules.is_empty() {
            return Ok(());
        }
        self.rules.mark_told(rules);
        let described = self.rules.describe(rules);
        self.shared.events.publish(AgentEvent::TtsrTriggered { rules: described, interrupted: false });
        self.record(EntryBody::TtsrInjection { injected_rules: self.rules.names(rules) })
    }
}

/// The rules that the model is told with results, by call.
pub(super) fn rules_by_call(
    message: &AssistantMessage,
    watch: &mut AnswerWatch,
) -> HashMap<String, Vec<usize>> {
    let calls = message.content.iter().enumerate().filter_map(|(part, content)| match content {
        AssistantContent::ToolCall(call) => Some((call.id.clone(), watch.take_with_result(part))),
        _ => None,
    });
    calls.filter(|(_, rules)| !rules.is_empty()).collect()
}

/// The text up to where it was stopped: half a call or thinking without its signature means nothing to a provider.
fn keep_text(message: &AssistantMessage, interrupt: &RuleInterrupt) -> Option<AssistantMessage> {
    let mut kept = message.clone();
    let mut place = 0;
    kept.content.retain_mut(|content| {
        let part = place;
        place += 1;
        let AssistantContent::Text(text) = content else { return false };
        if part == interrupt.part {
            let end =
                (0..=interrupt.at.min(text.text.len())).rev().find(|at| text.text.is_char_boundary(*at));
            text.text.truncate(end.unwrap_or(0));
        }
        part <= interrupt.part && !text.text.trim().is_empty()
    });
    kept.stop_reason = StopReason::Stop;
    (!kept.content.is_empty()).then_some(kept)
}

impl TriggeredRule {
    /// `the rule a`, `the rules a, b`
    pub fn list_names(rules: &[TriggeredRule]) -> String {
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        let word = if names.len() == 1 { "rule" } else { "rules" };
        format!("the {word} {}", names.join(", "))
    }
}
