//! The chunks of an answer, in all dialects.
//!
//! <https://platform.openai.com/docs/api-reference/chat-streaming>. Only the first choice is read. The
//! answer is complete after `[DONE]` or a finish reason; usage may come after that reason, so the end waits
//! for the end of the body.

use serde_json::Value;

use super::calls::{CompletionsCalls, ToolCallDelta};
use super::{reasoning_details::ReasoningDetails, usage};
use crate::failure::{FailureClass, ModelFailure, ModelResult, classify::from_stream_json};
use crate::message::{AssistantContent, StopReason};
use crate::stream::assembly::{AnswerPieceKind, Assembly};
use crate::wire::{AnswerFrame, WireReader, list};

/// Fields in which servers send thinking as text. Some fill two of them with the same words: the first
/// counts.
const THINKING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

#[derive(Debug, Default)]
pub(super) struct CompletionsReader {
    /// For messages.
    provider: String,
    text: Option<usize>,
    thinking: Option<usize>,
    /// The last thinking, open or not.
    thought: Option<usize>,
    /// The field in which thinking came.
    field: Option<&'static str>,
    calls: CompletionsCalls,
    details: ReasoningDetails,
    finish: Option<CompletionsFinish>,
}

/// Why the answer ended.
#[derive(Debug, Clone)]
enum CompletionsFinish {
    Done(StopReason),
    Failed(ModelFailure),
}

impl WireReader for CompletionsReader {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
        let data = frame.data.trim();
        if into.is_finished() || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.finish_answer(into);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|_| ModelFailure::malformed("the provider sent a chunk that is no JSON"))?;
        if let Some(error) = find_error(frame.name, &chunk) {
            usage::record_usage(&chunk, into.usage());
            return Err(from_stream_json(&self.provider, error));
        }
        into.start();
        if let Some(id) = chunk["id"].as_str().filter(|id| !id.is_empty()) {
            into.set_response_id(id);
        }
        usage::record_usage(&chunk, into.usage());
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let first = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0);
        first.map_or(Ok(()), |choice| self.choice(choice, into))
    }

    fn end(&mut self, into: &mut Assembly) -> ModelResult {
        if into.is_finished() {
            return Ok(());
        }
        if self.finish.is_some() { self.finish_answer(into) } else { Err(ModelFailure::cut_off()) }
    }
}

impl CompletionsReader {
    pub(super) fn new(provider: &str) -> CompletionsReader {
        CompletionsReader { provider: provider.to_owned(), ..CompletionsReader::default() }
    }

    fn choice(&mut self, choice: &Value, into: &mut Assembly) -> ModelResult {
        if !choice["error"].is_null() {
            return Err(from_stream_json(&self.provider, &choice["error"]));
        }
        // After the finish reason some repeat the whole message.
        if self.finish.is_none() {
            match (&choice["delta"], &choice["message"]) {
                (delta, _) if delta.is_object() => self.delta(delta, into)?,
                (_, message) if message.is_object() && !into.has_pieces() => self.delta(message, into)?,
                _ => {}
            }
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            let provider = &self.provider;
            self.finish.get_or_insert_with(|| finish_reason(provider, reason));
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Value, into: &mut Assembly) -> ModelResult {
        let plain = THINKING.into_iter().find_map(|field| {
            delta[field].as_str().filter(|text| !text.is_empty()).map(|text| (field, text))
        });
        if let Some((field, text)) = plain {
            self.field.get_or_insert(field);
            self.append_thinking(text, into)?;
        }
        for detail in list(&delta["reasoning_details"]) {
            if let Some(text) = self.details.take(detail)?.filter(|_| plain.is_none()) {
                self.append_thinking(text, into)?;
            }
        }
        match &delta["content"] {
            Value::String(text) => self.append_text(text, into)?,
            Value::Array(parts) => parts.iter().try_for_each(|part| self.part(part, into))?,
            _ => {}
        }
        if let Some(refusal) = delta["refusal"].as_str() {
            self.append_text(refusal, into)?;
        }
        for entry in list(&delta["tool_calls"]) {
            self.call(entry, into)?;
        }
        if delta["function_call"].is_object() {
            self.call(&delta["function_call"], into)?;
        }
        Ok(())
    }

    /// A part of a content list: text, or thinking that is a list again.
    fn part(&mut self, part: &Value, into: &mut Assembly) -> ModelResult {
        if let Some(text) = part.as_str() {
            return self.append_text(text, into);
        }
        match part["type"].as_str().unwrap_or_default() {
            "thinking" | "reasoning" => {
                if let Some(text) = part["thinking"].as_str().or(part["text"].as_str()) {
                    return self.append_thinking(text, into);
                }
                for inner in list(&part["thinking"]) {
                    self.append_thinking(inner["text"].as_str().unwrap_or_default(), into)?;
                }
                Ok(())
            }
            "refusal" => self.append_text(part["refusal"].as_str().unwrap_or_default(), into),
            _ => self.append_text(part["text"].as_str().unwrap_or_default(), into),
        }
    }

    fn append_text(&mut self, text: &str, into: &mut Assembly) -> ModelResult {
        if text.is_empty() {
            return Ok(());
        }
        self.close_thinking(into);
        let piece = into.continue_or_open(&mut self.text, AnswerPieceKind::Text)?;
        into.append_delta(piece, text)
    }

    fn append_thinking(&mut self, text: &str, into: &mut Assembly) -> ModelResult {
        if text.is_empty() {
            return Ok(());
        }
        self.close_text(into);
        let piece = into.continue_or_open(&mut self.thinking, AnswerPieceKind::Thinking)?;
        self.thought = Some(piece);
        into.append_delta(piece, text)
    }

    fn call(&mut self, entry: &Value, into: &mut Assembly) -> ModelResult {
        let Some(piece) = ToolCallDelta::from_json(entry) else { return Ok(()) };
        self.close_thinking(into);
        self.close_text(into);
        self.calls.take(&piece, into)
    }

    fn close_text(&mut self, into: &mut Assembly) {
        if let Some(piece) = self.text.take() {
            into.close(piece);
        }
    }

    fn close_thinking(&mut self, into: &mut Assembly) {
        let Some(piece) = self.thinking.take() else { return };
        if let (Some(AssistantContent::Thinking(thinking)), Some(field)) = (into.piece(piece), self.field) {
            thinking.thinking_signature = Some(field.to_owned());
        }
        into.close(piece);
    }

    /// Nothing more comes, and the answer is complete.
    fn finish_answer(&mut self, into: &mut Assembly) -> ModelResult {
        match self.finish.take().unwrap_or(CompletionsFinish::Done(StopReason::Stop)) {
            CompletionsFinish::Failed(failure) => Err(failure),
            CompletionsFinish::Done(reason) => {
                self.calls.end()?;
                self.close_thinking(into);
                self.close_text(into);
                self.details.attach_signatures(&self.calls, self.thought, into)?;
                into.finish(reason);
                Ok(())
            }
        }
    }
}

/// Waiting calls turn a stop into a tool use by themselves.
fn finish_reason(provider: &str, reason: &str) -> CompletionsFinish {
    let failed = |class, message| CompletionsFinish::Failed(ModelFailure::new(class, message));
    match reason {
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            CompletionsFinish::Done(StopReason::Length)
        }
        "content_filter" | "sensitive" | "safety" => {
            failed(FailureClass::Refused, format!("the content filter of {provider} ended the answer"))
        }
        "insufficient_system_resource" => {
            let message = format!("{provider} ran out of resources in the middle of the answer");
            failed(FailureClass::Overloaded, message)
        }
        "error" | "network_error" | "abort" | "cancelled" => {
            failed(FailureClass::Server, format!("{provider} broke the answer off"))
        }
        _ => CompletionsFinish::Done(StopReason::Stop),
    }
}

/// The error in a chunk, if there is one.
fn find_error<'a>(name: &str, chunk: &'a Value) -> Option<&'a Value> {
    if !chunk["error"].is_null() {
        return Some(&chunk["error"]);
    }
    // vLLM sends the bare error in place of a chunk.
    (chunk["object"] == "error" || (name == "error" && chunk["choices"].is_null())).then_some(chunk)
}
