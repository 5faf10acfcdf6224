//! Reads the lines of an answer.

use std::collections::HashSet;

use serde_json::Value;

use crate::failure::{FailureClass, ModelFailure, ModelResult, classify::from_stream_json};
use crate::message::{Message, StopReason};
use crate::request::WireCall;
use crate::stream::assembly::{AnswerPieceKind, Assembly};
use crate::wire::{AnswerFrame, WireReader};

#[derive(Debug)]
pub(super) struct OllamaReader {
    /// For messages.
    provider: String,
    text: Option<usize>,
    thinking: Option<usize>,
    calls: usize,
    /// Ids used by calls of this conversation.
    ids: HashSet<String>,
}

impl OllamaReader {
    pub(super) fn new(call: &WireCall<'_>) -> OllamaReader {
        let calls = call.request.messages.iter().filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer.tool_calls().map(|call| call.id.clone())),
            Message::User(_) | Message::Developer(_) | Message::ToolResult(_) => None,
        });
        let provider = call.model.provider.clone();
        OllamaReader { provider, text: None, thinking: None, calls: 0, ids: calls.flatten().collect() }
    }
}

impl WireReader for OllamaReader {
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult {
        let line = frame.data.trim();
        if into.is_finished() || line.is_empty() {
            return Ok(());
        }
        let line: Value = serde_json::from_str(line)
            .map_err(|_| ModelFailure::malformed("the provider sent a line that is no JSON"))?;
        if !line["error"].is_null() {
            return Err(from_stream_json(&self.provider, &line["error"]));
        }
        if !line.is_object() {
            return Err(ModelFailure::malformed("the provider sent a line that is no object"));
        }
        into.start();
        let message = &line["message"];
        self.append_text(AnswerPieceKind::Thinking, message["thinking"].as_str().unwrap_or_default(), into)?;
        self.append_text(AnswerPieceKind::Text, message["content"].as_str().unwrap_or_default(), into)?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, into)?;
        }
        if line["done"] == true { self.done(&line, into) } else { Ok(()) }
    }
}

impl OllamaReader {
    fn append_text(&mut self, kind: AnswerPieceKind, text: &str, into: &mut Assembly) -> ModelResult {
        if text.is_empty() {
            return Ok(());
        }
        let (open, other) = match kind {
            AnswerPieceKind::Thinking => (&mut self.thinking, &mut self.text),
            AnswerPieceKind::Text | AnswerPieceKind::ToolCall { .. } => (&mut self.text, &mut self.thinking),
        };
        if let Some(other) = other.take() {
            into.close(other);
        }
        let piece = into.continue_or_open(open, kind)?;
        into.append_delta(piece, text)
    }

    /// A call comes whole.
    fn call(&mut self, call: &Value, into: &mut Assembly) -> ModelResult {
        let function = &call["function"];
        let Some(name) = function["name"].as_str().filter(|name| !name.is_empty()) else {
            return Err(ModelFailure::malformed("the provider sent a tool call without a name"));
        };
        for open in [self.thinking.take(), self.text.take()].into_iter().flatten() {
            into.close(open);
        }
        let id = self.unique_id(call["id"].as_str().unwrap_or_default(), into);
        let piece = into.open(AnswerPieceKind::ToolCall { id, name: name.to_owned() })?;
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            whole => whole.to_string(),
        };
        into.append_delta(piece, &arguments)?;
        into.close(piece);
        Ok(())
    }

    /// The server's id, if there is one and it is new; else a generated one.
    fn unique_id(&mut self, given: &str, into: &Assembly) -> String {
        let began = into.started_at();
        let mut id = given.to_owned();
        while id.is_empty() || self.ids.contains(&id) {
            id = format!("call_{began:x}_{}", self.calls);
            self.calls += 1;
        }
        self.ids.insert(id.clone());
        id
    }

    fn done(&self, line: &Value, into: &mut Assembly) -> ModelResult {
        let usage = into.usage();
        usage.input = line["prompt_eval_count"].as_u64().unwrap_or(0);
        usage.output = line["eval_count"].as_u64().unwrap_or(0);
        match line["done_reason"].as_str().unwrap_or("stop") {
            "length" => into.finish(StopReason::Length),
            // The model was loaded or unloaded, and nothing was asked of it.
            reason @ ("load" | "unload") if !into.has_pieces() => {
                let message = format!("{} said `{reason}` instead of an answer", self.provider);
                return Err(ModelFailure::new(FailureClass::Server, message));
            }
            _ => into.finish(StopReason::Stop),
        }
        Ok(())
    }
}
