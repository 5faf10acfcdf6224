//! OpenRouter's `reasoning_details`: a model's thinking, in the form in which it wants it back.
//!
//! <https://openrouter.ai/docs/guides/best-practices/reasoning-tokens>: they go back unchanged and in
//! order. Pieces of one detail are joined; an encrypted one that belongs to a tool call is kept with the
//! call, the others with the thinking.

use serde_json::Value;

use super::calls::CompletionsCalls;
use crate::failure::{ModelFailure, ModelResult};
use crate::message::AssistantContent;
use crate::stream::assembly::{AnswerPieceKind, Assembly, MAX_ANSWER_BYTES, MAX_ANSWER_PIECES};

/// The details so far.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails {
    all: Vec<Value>,
    bytes: usize,
}

/// Fields that come in pieces.
const GROWING: [&str; 3] = ["text", "summary", "data"];

impl ReasoningDetails {
    /// A detail, or more of the last one; returns its readable thinking.
    pub(super) fn take<'a>(&mut self, detail: &'a Value) -> ModelResult<Option<&'a str>> {
        if !detail.is_object() {
            return Ok(None);
        }
        self.bytes += detail.to_string().len();
        if self.bytes > MAX_ANSWER_BYTES || self.all.len() >= MAX_ANSWER_PIECES {
            return Err(ModelFailure::too_large("the provider sent thoughts that are too long"));
        }
        let goes_on = self.all.last().is_some_and(|last| continues(last, detail));
        match self.all.last_mut().and_then(Value::as_object_mut).filter(|_| goes_on) {
            Some(last) => {
                for (name, value) in detail.as_object().into_iter().flatten() {
                    match (last.get_mut(name), value) {
                        (Some(Value::String(so_far)), Value::String(more))
                            if GROWING.contains(&name.as_str()) =>
                        {
                            so_far.push_str(more);
                        }
                        (_, Value::Null) => {}
                        _ => {
                            last.insert(name.clone(), value.clone());
                        }
                    }
                }
            }
            None => self.all.push(detail.clone()),
        }
        Ok(detail["text"].as_str().or(detail["summary"].as_str()).filter(|text| !text.is_empty()))
    }

    /// Attaches the details to the call, or to the thinking at that index. An unreadable one becomes a
    /// separate piece.
    pub(super) fn attach_signatures(
        &mut self,
        calls: &CompletionsCalls,
        thought: Option<usize>,
        into: &mut Assembly,
    ) -> ModelResult {
        let mut rest = Vec::new();
        for detail in std::mem::take(&mut self.all) {
            let of_call = detail["id"].as_str().filter(|_| detail["type"] == "reasoning.encrypted");
            match of_call.and_then(|id| calls.place(id)).and_then(|place| into.piece(place)) {
                Some(AssistantContent::ToolCall(call)) if call.thought_signature.is_none() => {
                    call.thought_signature = Some(detail.to_string());
                }
                _ => rest.push(detail),
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        let signature = Some(Value::Array(rest).to_string());
        let (place, hidden) = match thought {
            Some(place) => (place, false),
            None => (into.open(AnswerPieceKind::Thinking)?, true),
        };
        if let Some(AssistantContent::Thinking(thinking)) = into.piece(place) {
            thinking.thinking_signature = signature;
            thinking.redacted = hidden;
        }
        into.close(place);
        Ok(())
    }
}

fn continues(last: &Value, detail: &Value) -> bool {
    let same = |name: &str| last[name] == detail[name];
    // An encrypted detail comes whole, and two of them may follow each other.
    same("type")
        && same("index")
        && !detail["index"].is_null()
        && detail["type"] != "reasoning.encrypted"
        && (detail["id"].is_null() || last["id"].is_null() || same("id"))
}
