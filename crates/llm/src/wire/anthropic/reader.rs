//! Reads the streamed answer of Anthropic Messages.
//!
//! platform.claude.com/docs/en/build-with-claude/streaming. Compatible servers differ in small things:
//! harmless deviations are accepted, those that would lose or mix up parts of the answer are
//! [`crate::FailureClass::Malformed`]. An answer is complete with `message_stop`, and also if the body ends after
//! a `stop_reason`: then the model was done, and only the connection broke.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::failure::classify::{from_stream_json, sanitize_words};
use crate::failure::{ModelFailure, ModelResult};
use crate::message::{AssistantContent, StopReason};
use crate::stream::assembly::{AnswerPieceKind, Assembly, MAX_ANSWER_PIECES};
use crate::wire::{AnswerFrame, WireReader};

#[derive(Default)]
pub(super) struct AnthropicReader {
    provider: String,
    blocks: BTreeMap<u64, AnthropicBlock>,
    ids: BTreeSet<String>,
    stop: Option<String>,
    /// Why it declined, if it says so.
    declined: Option<String>,
}

/// A block of the answer, by the server's number.
struct AnthropicBlock {
    /// Its index in the message; `None` for what relay does not read.
    place: Option<usize>,
    /// Arguments that came with its start. They count if no others come.
    input: Option<String>,
}

impl WireReader for AnthropicReader {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
        let data = frame.data.trim();
        // Other wires end with `[DONE]`, and some gateways end this one with it too.
        if into.is_finished() || data.is_empty() || data == "[DONE]" || frame.name == "ping" {
            return Ok(());
        }
        let value: Value = serde_json::from_str(data)
            .map_err(|_| ModelFailure::malformed("the provider sent an event that is no JSON"))?;
        match value["type"].as_str().unwrap_or(frame.name) {
            "message_start" => self.message_start(&value["message"], into),
            "content_block_start" => self.block_start(&value, into),
            "content_block_delta" => self.block_delta(&value, into),
            "content_block_stop" => self.block_stop(index(&value)?, into),
            "message_delta" => {
                self.message_delta(&value, into);
                Ok(())
            }
            "message_stop" => self.finish(into),
            _ if value["error"].is_object() => Err(self.reported_failure(&value)),
            "error" => Err(self.reported_failure(&value)),
            // New kinds of events may come at any time.
            _ => Ok(()),
        }
    }

    fn end(&mut self, into: &mut Assembly) -> ModelResult {
        match (into.is_finished(), &self.stop) {
            (true, _) => Ok(()),
            (false, Some(_)) => self.finish(into),
            (false, None) => Err(ModelFailure::cut_off()),
        }
    }
}

impl AnthropicReader {
    pub(super) fn new(provider: &str) -> AnthropicReader {
        AnthropicReader { provider: provider.to_owned(), ..AnthropicReader::default() }
    }

    /// With the provider's id for the request.
    fn reported_failure(&self, value: &Value) -> ModelFailure {
        let request_id = value["request_id"].as_str().map(sanitize_words);
        ModelFailure { request_id, ..from_stream_json(&self.provider, value) }
    }

    fn message_start(&mut self, message: &Value, into: &mut Assembly) -> ModelResult {
        if into.has_pieces() {
            return Err(ModelFailure::malformed("the provider began its answer a second time"));
        }
        into.start();
        if let Some(id) = message["id"].as_str().filter(|id| !id.is_empty()) {
            into.set_response_id(id);
        }
        record_usage(&message["usage"], into);
        Ok(())
    }

    fn block_start(&mut self, value: &Value, into: &mut Assembly) -> ModelResult {
        let index = index(value)?;
        let block = &value["content_block"];
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        // Some give every block the same number: a new one ends the old one.
        self.block_stop(index, into)?;
        let mut input = None;
        let place = match text("type") {
            "text" => {
                let place = into.open(AnswerPieceKind::Text)?;
                into.append_delta(place, text("text"))?;
                Some(place)
            }
            "thinking" => {
                let place = into.open(AnswerPieceKind::Thinking)?;
                into.append_delta(place, text("thinking"))?;
                into.append_signature(place, text("signature"))?;
                Some(place)
            }
            "redacted_thinking" => {
                let place = into.open(AnswerPieceKind::Thinking)?;
                into.append_signature(place, text("data"))?;
                if let Some(AssistantContent::Thinking(thinking)) = into.piece(place) {
                    thinking.redacted = true;
                }
                Some(place)
            }
            "tool_use" => {
                let name = text("name");
                if name.is_empty() {
                    return Err(ModelFailure::malformed("the provider began a tool call without a name"));
                }
                let id = self.unique_id(text("id"));
                let whole = block["input"].as_object().filter(|input| !input.is_empty());
                input = whole.map(|input| Value::Object(input.clone()).to_string());
                Some(into.open(AnswerPieceKind::ToolCall { id, name: name.to_owned() })?)
            }
            // Tools run by the server, and unknown kinds.
            _ => None,
        };
        if self.blocks.len() >= MAX_ANSWER_PIECES && !self.blocks.contains_key(&index) {
            return Err(ModelFailure::too_large(format!(
                "the provider sent more than {MAX_ANSWER_PIECES} pieces in one answer"
            )));
        }
        self.blocks.insert(index, AnthropicBlock { place, input });
        Ok(())
    }

    fn block_delta(&mut self, value: &Value, into: &mut Assembly) -> ModelResult {
        let index = index(value)?;
        let delta = &value["delta"];
        let (kind, field) = match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => (Some(AnswerPieceKind::Text), "text"),
            "thinking_delta" => (Some(AnswerPieceKind::Thinking), "thinking"),
            "input_json_delta" => (None, "partial_json"),
            "signature_delta" => {
                if let Some(AnthropicBlock { place: Some(place), .. }) = self.blocks.get(&index) {
                    // Only thinking has a signature here.
                    if let Some(AssistantContent::Thinking(_)) = into.piece(*place) {
                        into.append_signature(*place, delta["signature"].as_str().unwrap_or_default())?;
                    }
                }
                return Ok(());
            }
            // Citations, and unknown kinds.
            _ => return Ok(()),
        };
        let more = delta[field].as_str().unwrap_or_default();
        if more.is_empty() {
            return Ok(());
        }
        let place = match (self.blocks.get(&index), &kind) {
            (Some(AnthropicBlock { place: None, .. }), _) => return Ok(()),
            (Some(AnthropicBlock { place: Some(place), .. }), _) => *place,
            // Its start is missing, but its kind is clear.
            (None, Some(kind)) => {
                let place = into.open(kind.clone())?;
                self.blocks.insert(index, AnthropicBlock { place: Some(place), input: None });
                place
            }
            (None, None) => {
                return Err(ModelFailure::malformed("the provider sent arguments of no tool call"));
            }
        };
        let fits = match (into.piece(place), kind) {
            (Some(AssistantContent::Text(_)), Some(AnswerPieceKind::Text))
            | (Some(AssistantContent::Thinking(_)), Some(AnswerPieceKind::Thinking))
            | (Some(AssistantContent::ToolCall(_)), None) => into.is_open(place),
            _ => false,
        };
        if !fits {
            let message = "the provider sent more of a piece that is whole, or of another kind";
            return Err(ModelFailure::malformed(message));
        }
        into.append_delta(place, more)
    }

    fn block_stop(&mut self, index: u64, into: &mut Assembly) -> ModelResult {
        let Some(block) = self.blocks.get_mut(&index) else { return Ok(()) };
        let Some(place) = block.place else { return Ok(()) };
        if let Some(input) = block.input.take()
            && into.argument_bytes(place) == 0
        {
            into.append_delta(place, &input)?;
        }
        into.close(place);
        Ok(())
    }

    fn message_delta(&mut self, value: &Value, into: &mut Assembly) {
        record_usage(&value["usage"], into);
        let delta = &value["delta"];
        if let Some(reason) = delta["stop_reason"].as_str() {
            self.stop = Some(reason.to_owned());
        }
        if let Some(why) = delta["stop_details"]["explanation"].as_str() {
            self.declined = Some(sanitize_words(why));
        }
    }

    fn finish(&mut self, into: &mut Assembly) -> ModelResult {
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for index in open {
            self.block_stop(index, into)?;
        }
        let reason = match self.stop.as_deref() {
            Some("refusal") => {
                let why = self.declined.take().map(|why| format!(": {why}")).unwrap_or_default();
                let message = format!("{} declines to answer this{why}", self.provider);
                return Err(ModelFailure::refused(message));
            }
            // A full window cuts off like the output limit.
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            // `tool_use` too: the assembly knows whether a call waits, and a tool run by the server does
            // not.
            _ => StopReason::Stop,
        };
        into.finish(reason);
        Ok(())
    }

    /// An id that no other call of the answer has.
    fn unique_id(&mut self, id: &str) -> String {
        let number = self.ids.len();
        let mut own = if id.is_empty() { format!("toolu_relay_{number}") } else { id.to_owned() };
        if self.ids.contains(&own) {
            own = format!("{own}_{number}");
        }
        self.ids.insert(own.clone());
        own
    }
}

fn index(value: &Value) -> ModelResult<u64> {
    let missing = || ModelFailure::malformed("the provider sent a piece without its number");
    value["index"].as_u64().ok_or_else(missing)
}

/// Counts are totals so far; some servers send zeros in one of the two places that have them.
fn record_usage(usage: &Value, into: &mut Assembly) {
    let written = usage["cache_creation_input_tokens"].as_u64().unwrap_or_else(|| {
        let of = |time: &str| usage["cache_creation"][time].as_u64().unwrap_or(0);
        of("ephemeral_5m_input_tokens").saturating_add(of("ephemeral_1h_input_tokens"))
    });
    let sums = into.usage();
    let most = |sum: &mut u64, count: u64| *sum = (*sum).max(count);
    most(&mut sums.input, usage["input_tokens"].as_u64().unwrap_or(0));
    most(&mut sums.output, usage["output_tokens"].as_u64().unwrap_or(0));
    most(&mut sums.cache_read, usage["cache_read_input_tokens"].as_u64().unwrap_or(0));
    most(&mut sums.cache_write, written);
}
