//! OpenAI chat completions, as <https://platform.openai.com/docs/api-reference/chat-streaming> describes it, with the
//! thinking field that compatible servers added.

use serde_json::{Value, json};

use super::{ScriptedWire, WireFrame, WirePart, WireRequest, pieces, refused, unnamed};
use crate::model::faults::deltas;
use crate::model::lists::MADE_SECONDS;
use crate::model::turn::ScriptedTurn;

pub(super) struct Chat;

impl ScriptedWire for Chat {
    fn id(&self) -> &'static str {
        "openai-completions"
    }

    fn hears(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn streams(&self, request: &WireRequest<'_>) -> bool {
        request.flag("stream") == Some(true)
    }

    fn content_type(&self, _: &WireRequest<'_>) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame> {
        let with_usage =
            request.body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true);
        let chunk = |part: WirePart, delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
            let mut chunk = head(request, "chat.completion.chunk");
            chunk["choices"] = json!([choice]);
            if with_usage {
                chunk["usage"] = Value::Null;
            }
            unnamed(part, &chunk)
        };
        let mut frames =
            vec![chunk(WirePart::Start, json!({"role": "assistant", "content": ""}), Value::Null)];
        for piece in turn.reasoning.iter().flat_map(|reasoning| reasoning.deltas()) {
            frames.push(chunk(WirePart::Delta, json!({reasoning_field(turn): piece}), Value::Null));
        }
        for piece in deltas(turn) {
            frames.push(chunk(WirePart::Delta, json!({"content": piece}), Value::Null));
        }
        for (index, call) in turn.tool_calls.iter().enumerate() {
            let function = json!({"name": call.name, "arguments": ""});
            let begin = json!({"index": index, "id": id(turn, request, index), "type": "function", "function": function});
            frames.push(chunk(WirePart::Middle, json!({"tool_calls": [begin]}), Value::Null));
            for piece in pieces(&call.text()) {
                let more = json!({"index": index, "function": {"arguments": piece}});
                frames.push(chunk(WirePart::Middle, json!({"tool_calls": [more]}), Value::Null));
            }
        }
        frames.push(chunk(WirePart::End, json!({}), json!(stop(turn))));
        if with_usage {
            let mut last = head(request, "chat.completion.chunk");
            last["choices"] = json!([]);
            last["usage"] = usage(turn);
            frames.push(unnamed(WirePart::End, &last));
        }
        frames.push(WireFrame { part: WirePart::End, text: "data: [DONE]\n\n".to_owned() });
        frames
    }

    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
        let text = deltas(turn).concat();
        let content = if text.is_empty() && !turn.tool_calls.is_empty() { Value::Null } else { json!(text) };
        let mut message = json!({"role": "assistant", "content": content, "refusal": null});
        if let Some(reasoning) = &turn.reasoning {
            message[reasoning_field(turn)] = json!(reasoning.deltas().concat());
        }
        if !turn.tool_calls.is_empty() {
            let calls = turn.tool_calls.iter().enumerate().map(|(index, call)| {
                let function = json!({"name": call.name, "arguments": call.text()});
                json!({"id": id(turn, request, index), "type": "function", "function": function})
            });
            message["tool_calls"] = calls.collect();
        }
        let mut whole = head(request, "chat.completion");
        whole["choices"] =
            json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": stop(turn)}]);
        whole["usage"] = usage(turn);
        whole
    }

    fn refusal(&self, status: u16) -> Value {
        openai_refusal(status)
    }

    fn too_long(&self, tokens: u64, window: u64) -> Value {
        openai_too_long(tokens, window)
    }

    fn stream_error(&self, message: &str, _: &WireRequest<'_>) -> WireFrame {
        let error = json!({"message": message, "type": "server_error", "param": null, "code": null});
        unnamed(WirePart::Middle, &json!({"error": error}))
    }
}

/// What OpenAI says of a request that is too long.
pub(super) fn openai_too_long(tokens: u64, window: u64) -> Value {
    let message = format!(
        "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please reduce \
         the length of the messages."
    );
    let code = "context_length_exceeded";
    json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": code}})
}

/// OpenAI's error body, the same on both of its wires.
pub(super) fn openai_refusal(status: u16) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        404 => ("invalid_request_error", json!("model_not_found")),
        429 => ("requests", json!("rate_limit_exceeded")),
        400..=499 => ("invalid_request_error", Value::Null),
        503 => ("server_error", json!("server_is_overloaded")),
        _ => ("server_error", json!("server_error")),
    };
    json!({"error": {"message": refused(status), "type": kind, "param": null, "code": code}})
}

fn head(request: &WireRequest<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-scripted{:06}", request.serial), "object": object, "created": MADE_SECONDS,
        "model": request.model(), "service_tier": "default", "system_fingerprint": "fp_scripted",
    })
}

fn id(turn: &ScriptedTurn, request: &WireRequest<'_>, index: usize) -> String {
    let own = turn.tool_calls.get(index).and_then(|call| call.id.clone());
    own.unwrap_or_else(|| format!("call_scripted{:06}{index:02}", request.serial))
}

fn reasoning_field(turn: &ScriptedTurn) -> &str {
    turn.reasoning_field.as_deref().unwrap_or("reasoning_content")
}

fn stop(turn: &ScriptedTurn) -> &str {
    let usual = if turn.tool_calls.is_empty() { "stop" } else { "tool_calls" };
    turn.stop.as_deref().unwrap_or(usual)
}

fn usage(turn: &ScriptedTurn) -> Value {
    let usage = turn.usage;
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    })
}
