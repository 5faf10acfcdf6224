//! Ollama, as <https://docs.ollama.com/api/chat> and <https://docs.ollama.com/api/generate> describe it: one JSON
//! object per line.

use serde_json::{Value, json};

use super::{ScriptedWire, WireFrame, WirePart, WireRequest, refused};
use crate::model::faults::deltas;
use crate::model::lists::MADE;
use crate::model::turn::ScriptedTurn;

pub(super) struct Ollama;

impl ScriptedWire for Ollama {
    fn id(&self) -> &'static str {
        "ollama"
    }

    fn hears(&self, path: &str) -> bool {
        path.ends_with("/api/chat") || path.ends_with("/api/generate")
    }

    /// Unless the request says no.
    fn streams(&self, request: &WireRequest<'_>) -> bool {
        request.flag("stream") != Some(false)
    }

    fn content_type(&self, _: &WireRequest<'_>) -> &'static str {
        "application/x-ndjson"
    }

    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame> {
        let mut frames = Vec::new();
        for piece in turn.reasoning.iter().flat_map(|reasoning| reasoning.deltas()) {
            frames.push(line(WirePart::Delta, &object(request, "", Some(&piece), false)));
        }
        for piece in deltas(turn) {
            frames.push(line(WirePart::Delta, &object(request, &piece, None, false)));
        }
        let calls = calls(turn, request);
        if !calls.is_empty() && !generates(request) {
            let mut said = object(request, "", None, false);
            said["message"]["tool_calls"] = json!(calls);
            frames.push(line(WirePart::Middle, &said));
        }
        let mut last = object(request, "", None, true);
        finish(turn, request, &mut last);
        frames.push(line(WirePart::End, &last));
        frames
    }

    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
        let thinking = turn.reasoning.as_ref().map(|reasoning| reasoning.deltas().concat());
        let mut whole = object(request, &deltas(turn).concat(), thinking.as_deref(), true);
        let calls = calls(turn, request);
        if !calls.is_empty() && !generates(request) {
            whole["message"]["tool_calls"] = json!(calls);
        }
        finish(turn, request, &mut whole);
        whole
    }

    fn refusal(&self, status: u16) -> Value {
        json!({"error": refused(status)})
    }

    fn too_long(&self, tokens: u64, window: u64) -> Value {
        let message =
            format!("the request of {tokens} tokens exceeds the available context size ({window} tokens)");
        json!({"error": message})
    }

    fn stream_error(&self, message: &str, _: &WireRequest<'_>) -> WireFrame {
        line(WirePart::Middle, &json!({"error": message}))
    }

    fn broken(&self) -> &'static str {
        "{\"broken\": \n"
    }
}

fn generates(request: &WireRequest<'_>) -> bool {
    request.path.ends_with("/api/generate")
}

fn line(part: WirePart, data: &Value) -> WireFrame {
    WireFrame { part, text: format!("{data}\n") }
}

fn object(request: &WireRequest<'_>, text: &str, thinking: Option<&str>, done: bool) -> Value {
    let mut object = json!({"model": request.model(), "created_at": MADE});
    if generates(request) {
        object["response"] = json!(text);
        if let Some(thinking) = thinking {
            object["thinking"] = json!(thinking);
        }
    } else {
        object["message"] = json!({"role": "assistant", "content": text});
        if let Some(thinking) = thinking {
            object["message"]["thinking"] = json!(thinking);
        }
    }
    object["done"] = json!(done);
    object
}

fn calls(turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<Value> {
    let call = |(index, call): (usize, &crate::model::turn::ScriptedToolCall)| {
        let id = call.id.clone().unwrap_or_else(|| format!("call_scripted{:06}{index:02}", request.serial));
        json!({"id": id, "function": {"index": index, "name": call.name, "arguments": call.object()}})
    };
    turn.tool_calls.iter().enumerate().map(call).collect()
}

/// The contents of the last line.
fn finish(turn: &ScriptedTurn, request: &WireRequest<'_>, last: &mut Value) {
    let usage = turn.usage;
    last["done_reason"] = json!(turn.stop.as_deref().unwrap_or("stop"));
    if generates(request) {
        last["context"] = json!([1, 2, 3]);
    }
    last["total_duration"] = json!(1_000_000);
    last["load_duration"] = json!(100_000);
    last["prompt_eval_count"] = json!(usage.input + usage.cache_read + usage.cache_write);
    last["prompt_eval_duration"] = json!(300_000);
    last["eval_count"] = json!(usage.output);
    last["eval_duration"] = json!(600_000);
}
