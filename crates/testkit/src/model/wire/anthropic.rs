//! Anthropic Messages, as <https://platform.claude.com/docs/en/build-with-claude/streaming> describes it.

use serde_json::{Value, json};

use super::{ScriptedWire, WireFrame, WirePart, WireRequest, named, pieces, refused};
use crate::model::faults::deltas;
use crate::model::turn::ScriptedTurn;

/// Anthropic always signs thinking.
const SIGNATURE: &str = "c2NyaXB0ZWQtc2lnbmF0dXJl";

pub(super) struct Anthropic;

impl ScriptedWire for Anthropic {
    fn id(&self) -> &'static str {
        "anthropic-messages"
    }

    fn hears(&self, path: &str) -> bool {
        path.ends_with("/messages")
    }

    fn streams(&self, request: &WireRequest<'_>) -> bool {
        request.flag("stream") == Some(true)
    }

    fn content_type(&self, _: &WireRequest<'_>) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame> {
        let mut start = message(turn, request);
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        start["usage"]["output_tokens"] = json!(1);
        let mut frames = vec![named(WirePart::Start, "message_start", json!({"type": "", "message": start}))];
        let mut said = AnthropicBlocks { frames: &mut frames, index: 0 };
        if let Some(reasoning) = &turn.reasoning {
            said.start(&json!({"type": "thinking", "thinking": "", "signature": ""}));
            for piece in reasoning.deltas() {
                said.delta(WirePart::Delta, &json!({"type": "thinking_delta", "thinking": piece}));
            }
            let signature = turn.thinking_signature.as_deref().unwrap_or(SIGNATURE);
            if !signature.is_empty() {
                said.delta(WirePart::Middle, &json!({"type": "signature_delta", "signature": signature}));
            }
            said.stop();
        }
        let text = deltas(turn);
        if !text.is_empty() {
            said.start(&json!({"type": "text", "text": ""}));
            for piece in text {
                said.delta(WirePart::Delta, &json!({"type": "text_delta", "text": piece}));
            }
            said.stop();
        }
        for (number, call) in turn.tool_calls.iter().enumerate() {
            let id = call.id.clone().unwrap_or_else(|| id(request, number));
            said.start(&json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}));
            said.delta(WirePart::Middle, &json!({"type": "input_json_delta", "partial_json": ""}));
            for piece in pieces(&call.text()) {
                said.delta(WirePart::Middle, &json!({"type": "input_json_delta", "partial_json": piece}));
            }
            said.stop();
        }
        let delta = json!({"stop_reason": stop(turn), "stop_sequence": null});
        frames.push(named(
            WirePart::End,
            "message_delta",
            json!({"type": "", "delta": delta, "usage": usage(turn)}),
        ));
        frames.push(named(WirePart::End, "message_stop", json!({"type": ""})));
        frames
    }

    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
        message(turn, request)
    }

    fn refusal(&self, status: u16) -> Value {
        let kind = match status {
            400 | 422 => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            504 => "timeout_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({
            "type": "error", "error": {"type": kind, "message": refused(status)}, "request_id": "req_scripted",
        })
    }

    fn too_long(&self, tokens: u64, window: u64) -> Value {
        let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
        let error = json!({"type": "invalid_request_error", "message": message});
        json!({"type": "error", "error": error, "request_id": "req_scripted"})
    }

    fn stream_error(&self, message: &str, _: &WireRequest<'_>) -> WireFrame {
        let error = json!({"type": "overloaded_error", "message": message});
        named(WirePart::Middle, "error", json!({"type": "", "error": error}))
    }
}

/// The content blocks of a stream.
struct AnthropicBlocks<'a> {
    frames: &'a mut Vec<WireFrame>,
    index: usize,
}

impl AnthropicBlocks<'_> {
    fn start(&mut self, block: &Value) {
        let data = json!({"type": "", "index": self.index, "content_block": block});
        self.frames.push(named(WirePart::Start, "content_block_start", data));
        if self.index == 0 {
            self.frames.push(named(WirePart::Start, "ping", json!({"type": ""})));
        }
    }

    fn delta(&mut self, part: WirePart, delta: &Value) {
        let data = json!({"type": "", "index": self.index, "delta": delta});
        self.frames.push(named(part, "content_block_delta", data));
    }

    fn stop(&mut self) {
        self.frames.push(named(
            WirePart::Middle,
            "content_block_stop",
            json!({"type": "", "index": self.index}),
        ));
        self.index += 1;
    }
}

fn message(turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
    let mut content = Vec::new();
    if let Some(reasoning) = &turn.reasoning {
        let signature = turn.thinking_signature.as_deref().unwrap_or(SIGNATURE);
        content.push(
            json!({"type": "thinking", "thinking": reasoning.deltas().concat(), "signature": signature}),
        );
    }
    let text = deltas(turn).concat();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for (number, call) in turn.tool_calls.iter().enumerate() {
        let id = call.id.clone().unwrap_or_else(|| id(request, number));
        content.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.object()}));
    }
    json!({
        "id": format!("msg_scripted{:06}", request.serial), "type": "message", "role": "assistant", "model": request.model(),
        "content": content, "stop_reason": stop(turn), "stop_sequence": null, "usage": usage(turn),
    })
}

fn id(request: &WireRequest<'_>, number: usize) -> String {
    format!("toolu_scripted{:06}{number:02}", request.serial)
}

fn stop(turn: &ScriptedTurn) -> &str {
    let usual = if turn.tool_calls.is_empty() { "end_turn" } else { "tool_use" };
    turn.stop.as_deref().unwrap_or(usual)
}

fn usage(turn: &ScriptedTurn) -> Value {
    json!({
        "input_tokens": turn.usage.input, "cache_creation_input_tokens": turn.usage.cache_write,
        "cache_read_input_tokens": turn.usage.cache_read, "output_tokens": turn.usage.output,
    })
}
