//! Google Generative AI, as <https://ai.google.dev/api/generate-content> describes it: whole responses one after the
//! other, as events with `alt=sse` and as one JSON array without.

use serde_json::{Value, json};

use super::{ScriptedWire, WireFrame, WirePart, WireRequest, refused};
use crate::model::faults::deltas;
use crate::model::turn::ScriptedTurn;

pub(super) struct Google;

impl ScriptedWire for Google {
    fn id(&self) -> &'static str {
        "google-generative-ai"
    }

    fn hears(&self, path: &str) -> bool {
        path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent")
    }

    fn streams(&self, request: &WireRequest<'_>) -> bool {
        request.path.ends_with(":streamGenerateContent")
    }

    fn content_type(&self, request: &WireRequest<'_>) -> &'static str {
        if events(request) { "text/event-stream" } else { "application/json; charset=UTF-8" }
    }

    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame> {
        let mut chunks: Vec<(WirePart, Value)> = Vec::new();
        for piece in turn.reasoning.iter().flat_map(|reasoning| reasoning.deltas()) {
            chunks.push((
                WirePart::Delta,
                chunk(turn, request, &json!([{"text": piece, "thought": true}]), None),
            ));
        }
        for piece in deltas(turn) {
            chunks.push((WirePart::Delta, chunk(turn, request, &json!([{"text": piece}]), None)));
        }
        let calls = calls(turn);
        if !calls.is_empty() {
            chunks.push((WirePart::Middle, chunk(turn, request, &Value::Array(calls), None)));
        }
        let last = chunk(turn, request, &json!([signed(turn, json!({"text": ""}))]), Some(stop(turn)));
        chunks.push((WirePart::End, last));
        if events(request) {
            return chunks
                .into_iter()
                .map(|(part, chunk)| WireFrame { part, text: format!("data: {chunk}\r\n\r\n") })
                .collect();
        }
        let mut frames: Vec<WireFrame> = chunks
            .into_iter()
            .enumerate()
            .map(|(index, (part, chunk))| {
                let before = if index == 0 { "[" } else { ",\r\n" };
                WireFrame { part, text: format!("{before}{chunk}") }
            })
            .collect();
        frames.push(WireFrame { part: WirePart::End, text: "]\n".to_owned() });
        frames
    }

    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
        let mut parts = Vec::new();
        if let Some(reasoning) = &turn.reasoning {
            parts.push(json!({"text": reasoning.deltas().concat(), "thought": true}));
        }
        let text = deltas(turn).concat();
        if !text.is_empty() || turn.tool_calls.is_empty() {
            parts.push(signed(turn, json!({"text": text})));
        }
        parts.extend(calls(turn));
        chunk(turn, request, &Value::Array(parts), Some(stop(turn)))
    }

    fn refusal(&self, status: u16) -> Value {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": refused(status), "status": name}})
    }

    fn too_long(&self, tokens: u64, window: u64) -> Value {
        let message = format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        );
        json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
    }

    fn stream_error(&self, message: &str, request: &WireRequest<'_>) -> WireFrame {
        let error = json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}});
        let text =
            if events(request) { format!("data: {error}\r\n\r\n") } else { format!(",\r\n{error}]\n") };
        WireFrame { part: WirePart::Middle, text }
    }
}

fn events(request: &WireRequest<'_>) -> bool {
    request.query.split('&').any(|part| part == "alt=sse")
}

fn chunk(turn: &ScriptedTurn, request: &WireRequest<'_>, parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let usage = turn.usage;
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    // Here thinking is counted beside the candidates, not among them.
    let said = usage.output.saturating_sub(usage.reasoning);
    let mut counts = json!({
        "promptTokenCount": prompt, "candidatesTokenCount": said, "totalTokenCount": prompt + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    });
    if usage.cache_read > 0 {
        counts["cachedContentTokenCount"] = json!(usage.cache_read);
    }
    if usage.reasoning > 0 {
        counts["thoughtsTokenCount"] = json!(usage.reasoning);
    }
    let model = request.path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap_or_default();
    json!({
        "candidates": [candidate], "usageMetadata": counts, "modelVersion": model,
        "responseId": format!("scripted{:06}", request.serial),
    })
}

/// The first call carries the signature, if there is one.
fn calls(turn: &ScriptedTurn) -> Vec<Value> {
    let call = |(index, call): (usize, &crate::model::turn::ScriptedToolCall)| {
        let mut function = json!({"name": call.name, "args": call.object()});
        if let Some(id) = &call.id {
            function["id"] = json!(id);
        }
        let mut part = json!({"functionCall": function});
        if let (0, Some(signature)) = (index, &turn.thinking_signature) {
            part["thoughtSignature"] = json!(signature);
        }
        part
    };
    turn.tool_calls.iter().enumerate().map(call).collect()
}

/// A text part with the signature, unless a call carries it.
fn signed(turn: &ScriptedTurn, mut part: Value) -> Value {
    if let (Some(signature), true) = (&turn.thinking_signature, turn.tool_calls.is_empty()) {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn stop(turn: &ScriptedTurn) -> &str {
    turn.stop.as_deref().unwrap_or("STOP")
}
