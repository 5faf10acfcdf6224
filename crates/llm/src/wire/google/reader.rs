//! Reads the streamed answer of Google Generative AI.
//!
//! Each frame is a whole response with the new parts (ai.google.dev/api/generate-content). There is no last
//! frame: an answer is complete if it had a finish reason and the body ended; usage after that reason still
//! counts. A part with a signature begins a separate piece: signatures go back on their own part.

use serde_json::Value;

use crate::failure::classify::{from_stream_json, sanitize_words};
use crate::failure::{FailureClass, ModelFailure, ModelResult};
use crate::message::StopReason;
use crate::stream::assembly::{AnswerPieceKind, Assembly};
use crate::wire::{AnswerFrame, WireReader, text};

/// Prefix of an id that the server did not send.
const MADE_UP: &str = "relay-call-";

#[derive(Default)]
pub(super) struct GoogleReader {
    provider: String,
    /// The piece that may continue.
    open: Option<GoogleOpenPiece>,
    /// The finish reason, and the server's message about it.
    finish: Option<(String, String)>,
    response_id: String,
    ids: std::collections::BTreeSet<String>,
}

#[derive(Clone, Copy)]
struct GoogleOpenPiece {
    place: usize,
    thought: bool,
}

/// The server did not send this id.
pub(super) fn is_generated_id(id: &str) -> bool {
    id.starts_with(MADE_UP)
}

impl WireReader for GoogleReader {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
        let data = frame.data.trim();
        if into.is_finished() || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let value: Value = serde_json::from_str(data)
            .map_err(|_| ModelFailure::malformed("the provider sent a chunk that is no JSON"))?;
        match value {
            // Errors sometimes come in a list.
            Value::Array(chunks) => chunks.iter().try_for_each(|chunk| self.chunk(chunk, into)),
            chunk => self.chunk(&chunk, into),
        }
    }

    fn end(&mut self, into: &mut Assembly) -> ModelResult {
        if into.is_finished() {
            return Ok(());
        }
        let Some((reason, said)) = self.finish.take() else { return Err(ModelFailure::cut_off()) };
        let class = match reason.as_str() {
            "STOP" | "MAX_TOKENS" => {
                into.finish(if reason == "STOP" { StopReason::Stop } else { StopReason::Length });
                return Ok(());
            }
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                FailureClass::Refused
            }
            reason if reason.starts_with("IMAGE_") => FailureClass::Refused,
            // The same request may well get a readable call.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                FailureClass::Malformed
            }
            "TOO_MANY_TOOL_CALLS" | "MISSING_THOUGHT_SIGNATURE" => FailureClass::BadRequest,
            _ => FailureClass::Server,
        };
        let about = if said.is_empty() { String::new() } else { format!(": {said}") };
        let (provider, reason) = (&self.provider, sanitize_words(&reason));
        Err(ModelFailure::new(class, format!("{provider} ended the answer with {reason}{about}")))
    }
}

impl GoogleReader {
    pub(super) fn new(provider: &str) -> GoogleReader {
        GoogleReader { provider: provider.to_owned(), ..GoogleReader::default() }
    }

    fn chunk(&mut self, chunk: &Value, into: &mut Assembly) -> ModelResult {
        if !chunk["error"].is_null() {
            return Err(from_stream_json(&self.provider, chunk));
        }
        if !chunk.is_object() {
            return Err(ModelFailure::malformed("the provider sent a chunk that is no object"));
        }
        into.start();
        if let Some(id) = chunk["responseId"].as_str().filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.response_id);
            into.set_response_id(id);
        }
        record_usage(&chunk["usageMetadata"], into);
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            let said = sanitize_words(text(&chunk["promptFeedback"]["blockReasonMessage"]));
            let about = if said.is_empty() { String::new() } else { format!(": {said}") };
            let (provider, reason) = (&self.provider, sanitize_words(reason));
            let message = format!("{provider} blocked the conversation with {reason}{about}");
            return Err(ModelFailure::refused(message));
        }
        let candidates = chunk["candidates"].as_array().into_iter().flatten();
        let first = candidates.into_iter().find(|one| one["index"].as_u64().unwrap_or(0) == 0);
        let Some(candidate) = first else { return Ok(()) };
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, into)?;
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            let said = sanitize_words(candidate["finishMessage"].as_str().unwrap_or_default());
            self.finish = Some((reason.to_owned(), said));
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, into: &mut Assembly) -> ModelResult {
        let signature = part["thoughtSignature"].as_str().unwrap_or_default();
        if part["functionCall"].is_object() {
            return self.call(&part["functionCall"], signature, into);
        }
        let text = match &part["text"] {
            Value::String(text) => text.as_str(),
            // Images and code run by the server are not read; a signature may come without anything.
            _ if signature.is_empty() => return Ok(()),
            _ => "",
        };
        if text.is_empty() && signature.is_empty() {
            return Ok(());
        }
        let thought = part["thought"].as_bool().unwrap_or(false);
        let place = match self.open {
            Some(open) if open.thought == thought => open.place,
            _ => {
                self.close(into);
                let place =
                    into.open(if thought { AnswerPieceKind::Thinking } else { AnswerPieceKind::Text })?;
                self.open = Some(GoogleOpenPiece { place, thought });
                place
            }
        };
        into.append_delta(place, text)?;
        if !signature.is_empty() {
            into.append_signature(place, signature)?;
            self.close(into);
        }
        Ok(())
    }

    /// A call comes whole.
    fn call(&mut self, call: &Value, signature: &str, into: &mut Assembly) -> ModelResult {
        let Some(name) = call["name"].as_str().filter(|name| !name.is_empty()) else {
            return Err(ModelFailure::malformed("the provider sent a tool call without a name"));
        };
        let arguments = match &call["args"] {
            arguments @ Value::Object(_) => arguments.to_string(),
            Value::Null => "{}".to_owned(),
            _ => {
                let message = "the provider sent a tool call whose arguments are no object";
                return Err(ModelFailure::malformed(message));
            }
        };
        self.close(into);
        let id = self.unique_id(call["id"].as_str().unwrap_or_default());
        let place = into.open(AnswerPieceKind::ToolCall { id, name: name.to_owned() })?;
        into.append_signature(place, signature)?;
        into.append_delta(place, &arguments)?;
        into.close(place);
        Ok(())
    }

    /// An id that no other call of the answer has.
    fn unique_id(&mut self, id: &str) -> String {
        let number = self.ids.len();
        let own = if id.is_empty() || self.ids.contains(id) {
            format!("{MADE_UP}{}-{number}", self.response_id)
        } else {
            id.to_owned()
        };
        self.ids.insert(own.clone());
        own
    }

    fn close(&mut self, into: &mut Assembly) {
        if let Some(open) = self.open.take() {
            into.close(open.place);
        }
    }
}

/// Counts are totals so far; tokens from the cache are also counted in the prompt.
fn record_usage(usage: &Value, into: &mut Assembly) {
    let of = |name: &str| usage[name].as_u64().unwrap_or(0);
    let sums = into.usage();
    if usage["promptTokenCount"].is_u64() {
        let cached = of("cachedContentTokenCount");
        let prompt = of("promptTokenCount").saturating_add(of("toolUsePromptTokenCount"));
        sums.cache_read = cached;
        sums.input = prompt.saturating_sub(cached);
    }
    let written = of("candidatesTokenCount").saturating_add(of("thoughtsTokenCount"));
    sums.output = sums.output.max(written);
}
