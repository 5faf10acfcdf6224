//! Answers into which the model's own protocol leaked ([`relaycode_llm::harmony`]): no call that has it in its arguments is
//! carried out, and the model does not read it again, since one leak brings the next.

use std::collections::HashSet;

use relaycode_llm::harmony::{find_leak, is_spoken_by};
use relaycode_llm::message::AssistantContent;
use relaycode_llm::{AssistantMessage, Message, StopReason};
use relaycode_session::EntryBody;
use relaycode_text::width::clip_for_message;
use serde_json::{Value, json};

use super::answer::TurnAnswer;
use super::{Agent, RunStep};

/// Answers in a turn that are asked for again, since they had no call and their text had a leak.
pub(super) const MAX_LEAKED_ANSWERS: u32 = 2;
/// Under which the session keeps what was cut.
const LEAK_ENTRY: &str = "harmony-leak";
/// Cells of what was cut that the session keeps.
const MAX_KEPT_CELLS: usize = 500;

impl Agent {
    /// Whether an answer without calls has a leak in its text.
    pub(super) fn is_leaked_text(&self, answer: &TurnAnswer) -> bool {
        is_spoken_by(&self.models.current().model)
            && answer.calls.is_empty()
            && answer.message.content.iter().any(|content| match content {
                AssistantContent::Text(text) => find_leak(&text.text).is_some(),
                _ => false,
            })
    }

    /// Keeps an answer that does not count.
    pub(super) fn record_leaked_answer(&mut self, message: AssistantMessage) -> RunStep<()> {
        self.notice("the model's protocol leaked into its answer: it is asked again");
        let error_message = Some("the model's protocol leaked into the text".to_string());
        self.append(Message::Assistant(AssistantMessage {
            stop_reason: StopReason::Error,
            error_message,
            ..message
        }))
    }

    /// Cuts leaks out of an answer that counts, and marks the calls that are not to be carried out.
    pub(super) fn cut_leaks(&mut self, answer: &mut TurnAnswer) -> RunStep<()> {
        self.leaked_calls = HashSet::new();
        if !is_spoken_by(&self.models.current().model) {
            return Ok(());
        }
        for content in &mut answer.message.content {
            let mut cut = Vec::new();
            let (place, end) = match content {
                AssistantContent::Text(text) => {
                    cut.extend(cut_text(&mut text.text));
                    ("its answer".to_string(), "the rest of it was cut")
                }
                AssistantContent::ToolCall(call) => {
                    call.arguments.values_mut().for_each(|value| cut_value(value, &mut cut));
                    if !cut.is_empty() {
                        self.leaked_calls.insert(call.id.clone());
                    }
                    for (known, _) in answer.calls.iter_mut().filter(|(known, _)| known.id == call.id) {
                        known.arguments.clone_from(&call.arguments);
                    }
                    (call.name.clone(), "the call is not carried out")
                }
                _ => continue,
            };
            if cut.is_empty() {
                continue;
            }
            self.notice(&format!("the model's protocol leaked into {place}: {end}"));
            let data = json!({ "model": self.models.current().model.selector(), "in": place, "cut": cut });
            self.record(EntryBody::Custom { custom_type: LEAK_ENTRY.to_string(), data: Some(data) })?;
        }
        Ok(())
    }
}

/// Cuts every text in a value; adds what was cut.
fn cut_value(value: &mut Value, cut: &mut Vec<String>) {
    match value {
        Value::String(text) => cut.extend(cut_text(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_value(item, cut)),
        Value::Object(entries) => entries.values_mut().for_each(|item| cut_value(item, cut)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_text(text: &mut String) -> Option<String> {
    let leak = find_leak(text)?;
    let cut = clip_for_message(&text[leak.start..], MAX_KEPT_CELLS);
    text.truncate(leak.start);
    Some(cut)
}
