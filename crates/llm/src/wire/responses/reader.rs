//! Reads the events of an answer, item by item.
//!
//! <https://platform.openai.com/docs/api-reference/responses-streaming>. The content of an item comes in
//! deltas, again when a part of it is done, again when the item is done, and again with the whole answer;
//! servers leave some of these out. Invariant: everything is emitted once, wherever it came first.

use serde_json::Value;

use super::item::{OutputItem, OutputItemKind, OutputItemSlot, OutputItems};
use crate::failure::{FailureClass, ModelFailure, ModelResult, classify::from_stream_json};
use crate::message::{AssistantContent, StopReason};
use crate::stream::assembly::Assembly;
use crate::wire::{AnswerFrame, WireReader, list, text};

#[derive(Debug)]
pub(super) struct ResponsesReader {
    /// For messages.
    provider: String,
    items: OutputItems,
}

impl WireReader for ResponsesReader {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
        let data = frame.data.trim();
        if into.is_finished() || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|_| ModelFailure::malformed("the provider sent an event that is no JSON"))?;
        let name = event["type"].as_str().unwrap_or(frame.name).to_owned();
        if name == "error" || (name.is_empty() && !event["error"].is_null()) {
            // Two forms are documented: the error beside the type, or within `error`.
            let error = if event["error"].is_null() { &event } else { &event["error"] };
            return Err(from_stream_json(&self.provider, error));
        }
        into.start();
        self.event(&name, &event, into)
    }
}

impl ResponsesReader {
    pub(super) fn new(provider: &str) -> ResponsesReader {
        ResponsesReader { provider: provider.to_owned(), items: OutputItems::default() }
    }

    fn event(&mut self, name: &str, event: &Value, into: &mut Assembly) -> ModelResult {
        use OutputItemKind as Kind;
        let (kind, summary, field) = match name {
            "response.output_text.delta" | "response.refusal.delta" => (Kind::Message, false, "delta"),
            "response.output_text.done" => (Kind::Message, false, "text"),
            "response.refusal.done" => (Kind::Message, false, "refusal"),
            "response.reasoning_summary_text.delta" => (Kind::Reasoning, true, "delta"),
            "response.reasoning_summary_text.done" => (Kind::Reasoning, true, "text"),
            "response.reasoning_text.delta" | "response.reasoning.delta" => (Kind::Reasoning, false, "delta"),
            "response.reasoning_text.done" | "response.reasoning.done" => (Kind::Reasoning, false, "text"),
            _ => return self.whole_event(name, event, into),
        };
        let slot = self.items.slot(event, &Value::Null, kind);
        let item = self.items.get_or_add(slot, kind, &Value::Null)?;
        let index = if summary { &event["summary_index"] } else { &event["content_index"] };
        let key = (summary, index.as_u64().unwrap_or(0));
        if field == "delta" {
            item.append_part(key, text(&event[field]), into)
        } else {
            item.complete_part(key, text(&event[field]), into)
        }
    }

    /// An event that is not about a part of an item.
    fn whole_event(&mut self, name: &str, event: &Value, into: &mut Assembly) -> ModelResult {
        match name {
            "response.created" | "response.in_progress" | "response.queued" => {
                identify(&event["response"], into);
                Ok(())
            }
            "response.output_item.added" => self.item_added(event, into),
            "response.output_item.done" => {
                let item = &event["item"];
                let Some(kind) = OutputItemKind::from_item(item) else { return Ok(()) };
                let slot = self.items.slot(event, item, kind);
                self.item_done(slot, item, into)
            }
            "response.function_call_arguments.delta" => {
                let delta = text(&event["delta"]);
                self.call(event).map_or(Ok(()), |item| item.append_arguments(delta, into))
            }
            "response.function_call_arguments.done" => {
                let whole = arguments(&event["arguments"]);
                self.call(event).map_or(Ok(()), |item| item.complete_arguments(&whole, into))
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.response_done(name, &event["response"], into)
            }
            "response.failed" => {
                identify(&event["response"], into);
                record_usage(&event["response"]["usage"], into);
                Err(self.failed_response(&event["response"]["error"], &event["error"]))
            }
            "response.cancelled" => Err(self.cancelled_response()),
            // Parts are known by their text; the provider's own tools, and unknown events, are ignored.
            _ => Ok(()),
        }
    }

    fn item_added(&mut self, event: &Value, into: &mut Assembly) -> ModelResult {
        let item = &event["item"];
        let Some(kind) = OutputItemKind::from_item(item) else { return Ok(()) };
        let slot = self.items.slot(event, item, kind);
        let known = self.items.get_or_add(slot, kind, item)?;
        // A text begins with its first words: there may be none. Arguments that are here already come
        // again.
        if matches!(kind, OutputItemKind::Reasoning | OutputItemKind::Function | OutputItemKind::Custom) {
            known.open(into)?;
        }
        Ok(())
    }

    /// The function call that an event is about. One that was never announced has no name: it waits for the
    /// item.
    fn call(&mut self, event: &Value) -> Option<&mut OutputItem> {
        let slot = self.items.slot(event, &Value::Null, OutputItemKind::Function);
        self.items.get(slot)
    }

    /// Emits what is missing of an item, and its end.
    fn item_done(&mut self, slot: OutputItemSlot, item: &Value, into: &mut Assembly) -> ModelResult {
        let Some(kind) = OutputItemKind::from_item(item) else { return Ok(()) };
        let known = self.items.get_or_add(slot, kind, item)?;
        if known.is_finished() {
            return Ok(());
        }
        match kind {
            OutputItemKind::Message => {
                for (index, part) in list(&item["content"]).iter().enumerate() {
                    let whole = part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default();
                    known.complete_part((false, index as u64), whole, into)?;
                }
            }
            OutputItemKind::Reasoning => {
                known.open(into)?;
                for (summary, parts) in [(true, &item["summary"]), (false, &item["content"])] {
                    for (index, part) in list(parts).iter().enumerate() {
                        known.complete_part((summary, index as u64), text(&part["text"]), into)?;
                    }
                }
            }
            OutputItemKind::Function => {
                known.name(item, into);
                known.open(into)?;
                known.complete_arguments(&arguments(&item["arguments"]), into)?;
            }
            OutputItemKind::Custom => {
                known.open(into)?;
                let input = serde_json::json!({"input": text(&item["input"])});
                known.complete_arguments(&input.to_string(), into)?;
            }
        }
        known.finish();
        if let Some(piece) = known.piece() {
            attach_signature(piece, kind, item, into)?;
            into.close(piece);
        }
        Ok(())
    }

    fn response_done(&mut self, name: &str, response: &Value, into: &mut Assembly) -> ModelResult {
        identify(response, into);
        for (index, item) in list(&response["output"]).iter().enumerate() {
            if let Some(slot) = self.items.unseen_slot(index as u64, item) {
                self.item_done(slot, item, into)?;
            }
        }
        record_usage(&response["usage"], into);
        let status = response["status"].as_str().unwrap_or_default();
        match (status, name) {
            ("failed", _) => Err(self.failed_response(&response["error"], &Value::Null)),
            ("cancelled", _) => Err(self.cancelled_response()),
            ("incomplete", _) | (_, "response.incomplete") => {
                if response["incomplete_details"]["reason"] == "content_filter" {
                    let message = format!("the content filter of {} ended the answer", self.provider);
                    return Err(ModelFailure::refused(message));
                }
                into.finish(StopReason::Length);
                Ok(())
            }
            _ => {
                into.finish(StopReason::Stop);
                Ok(())
            }
        }
    }

    fn cancelled_response(&self) -> ModelFailure {
        ModelFailure::new(FailureClass::Server, format!("{} broke the answer off", self.provider))
    }

    /// The provider's error, from the first place that says something.
    fn failed_response(&self, error: &Value, other: &Value) -> ModelFailure {
        from_stream_json(&self.provider, if error.is_null() { other } else { error })
    }
}

/// What the provider wants back with a piece.
fn attach_signature(piece: usize, kind: OutputItemKind, item: &Value, into: &mut Assembly) -> ModelResult {
    let signature = match (kind, item["id"].as_str(), item["phase"].as_str()) {
        (OutputItemKind::Reasoning, ..) => item.to_string(),
        (OutputItemKind::Message, Some(id), Some(phase)) => {
            serde_json::json!({"id": id, "phase": phase}).to_string()
        }
        (OutputItemKind::Message, Some(id), None) => id.to_owned(),
        _ => return Ok(()),
    };
    if let Some(AssistantContent::Thinking(thinking)) = into.piece(piece) {
        thinking.redacted = thinking.thinking.is_empty();
    }
    into.append_signature(piece, &signature)
}

fn identify(response: &Value, into: &mut Assembly) {
    if let Some(id) = response["id"].as_str() {
        into.set_response_id(id);
    }
}

/// Cached tokens are within `input_tokens`, thinking within `output_tokens`.
fn record_usage(usage: &Value, into: &mut Assembly) {
    let Some(read) = usage["input_tokens"].as_u64() else { return };
    let details = &usage["input_tokens_details"];
    let cached = details["cached_tokens"].as_u64().unwrap_or(0).min(read);
    let written = details["cache_write_tokens"].as_u64().unwrap_or(0).min(read - cached);
    let counted = into.usage();
    counted.input = read - cached - written;
    counted.cache_read = cached;
    counted.cache_write = written;
    counted.output = usage["output_tokens"].as_u64().unwrap_or(0);
}

/// Arguments are JSON text; some servers send the object itself.
fn arguments(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => value.to_string(),
        _ => String::new(),
    }
}
