//! Answers as each wire writes them, frame by frame: a text in small pieces, and the arguments of one long
//! tool call; if a wire sends calls whole, as many calls as an answer may have.

use anyhow::bail;
use serde_json::json;

/// What an answer consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// One tool call, with long arguments.
    Arguments,
    /// Many tool calls, each in one frame.
    Calls,
}

/// Text as models stream it: words, code, other alphabets, quotes and line ends.
const PIECES: [&str; 8] = ["The", " basket", ".total", "(\"", "ü", "\n    ", " => 17", " \u{1f980}"];
/// The same within a JSON string.
const ESCAPED: [&str; 8] = ["The", " basket", ".total", "(\\\"", "ü", "\\n    ", " => 17", " \\ud83e\\udd80"];

/// `None` if the wire sends no such answer.
pub(super) fn frames(wire: &str, kind: Kind, deltas: usize) -> anyhow::Result<Option<Vec<String>>> {
    let whole_calls = matches!(wire, "google-generative-ai" | "ollama");
    if (kind == Kind::Arguments && whole_calls) || (kind == Kind::Calls && !whole_calls) {
        return Ok(None);
    }
    let pieces: Vec<String> = match kind {
        Kind::Text => (0..deltas).map(|number| PIECES[number % PIECES.len()].to_owned()).collect(),
        Kind::Arguments => arguments(deltas),
        Kind::Calls => (0..deltas).map(|number| format!("src/file-{number}.rs")).collect(),
    };
    Ok(Some(match wire {
        "anthropic-messages" => anthropic(&pieces, kind),
        "openai-completions" => completions(&pieces, kind),
        "openai-responses" => responses(&pieces, kind),
        "google-generative-ai" => google(&pieces, kind),
        "ollama" => ollama(&pieces, kind),
        other => bail!("no answer is written for the wire {other}"),
    }))
}

/// `{"path": …, "content": …}` in pieces.
fn arguments(deltas: usize) -> Vec<String> {
    let within = (0..deltas.saturating_sub(2)).map(|number| ESCAPED[number % ESCAPED.len()].to_owned());
    let first = std::iter::once(r#"{"path":"src/a.rs","content":""#.to_owned());
    first.chain(within).chain(std::iter::once("\"}".to_owned())).collect()
}

fn event(name: &str, data: &serde_json::Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn anthropic(pieces: &[String], kind: Kind) -> Vec<String> {
    let usage = json!({ "input_tokens": 25, "output_tokens": 1 });
    let (block, stop) = match kind {
        Kind::Text => (json!({ "type": "text", "text": "" }), "end_turn"),
        _ => (json!({ "type": "tool_use", "id": "toolu_01", "name": "write", "input": {} }), "tool_use"),
    };
    let mut frames = vec![
        event(
            "message_start",
            &json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message",
            "role": "assistant", "content": [], "model": "m1", "stop_reason": null, "stop_sequence": null, "usage": usage } }),
        ),
        event(
            "content_block_start",
            &json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        ),
    ];
    frames.extend(pieces.iter().map(|piece| {
        let delta = match kind {
            Kind::Text => json!({ "type": "text_delta", "text": piece }),
            _ => json!({ "type": "input_json_delta", "partial_json": piece }),
        };
        event("content_block_delta", &json!({ "type": "content_block_delta", "index": 0, "delta": delta }))
    }));
    frames.push(event("content_block_stop", &json!({ "type": "content_block_stop", "index": 0 })));
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    frames.push(event(
        "message_delta",
        &json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 15 } }),
    ));
    frames.push(event("message_stop", &json!({ "type": "message_stop" })));
    frames
}

fn completions(pieces: &[String], kind: Kind) -> Vec<String> {
    let chunk = |delta: serde_json::Value, reason: serde_json::Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason });
        let data = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_694_268_190,
            "model": "m1", "system_fingerprint": "fp_1", "choices": [choice] });
        format!("data: {data}\n\n")
    };
    let first = match kind {
        Kind::Text => json!({ "role": "assistant", "content": "" }),
        _ => json!({ "role": "assistant", "content": null, "tool_calls": [{ "index": 0, "id": "call_a",
            "type": "function", "function": { "name": "write", "arguments": "" } }] }),
    };
    let mut frames = vec![chunk(first, json!(null))];
    frames.extend(pieces.iter().map(|piece| {
        let delta = match kind {
            Kind::Text => json!({ "content": piece }),
            _ => json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] }),
        };
        chunk(delta, json!(null))
    }));
    frames.push(chunk(json!({}), json!(if kind == Kind::Text { "stop" } else { "tool_calls" })));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn responses(pieces: &[String], kind: Kind) -> Vec<String> {
    let whole = pieces.concat();
    let mut frames = Vec::new();
    let mut say = |name: &str, mut data: serde_json::Value| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(frames.len());
        frames.push(event(name, &data));
    };
    let response = |status: &str, output: serde_json::Value| {
        json!({ "response": { "id": "resp_1", "object": "response", "status": status, "model": "m1", "output": output,
            "usage": { "input_tokens": 37, "output_tokens": 11, "total_tokens": 48 } } })
    };
    say("response.created", response("in_progress", json!([])));
    let item = |status: &str, said: &str| match kind {
        Kind::Text => json!({ "id": "item_1", "type": "message", "status": status, "role": "assistant",
            "content": if said.is_empty() { json!([]) } else { json!([{ "type": "output_text", "text": said, "annotations": [] }]) } }),
        _ => {
            json!({ "id": "item_1", "type": "function_call", "status": status, "arguments": said, "call_id": "call_a",
            "name": "write" })
        }
    };
    say("response.output_item.added", json!({ "output_index": 0, "item": item("in_progress", "") }));
    if kind == Kind::Text {
        let part = json!({ "type": "output_text", "text": "", "annotations": [] });
        let data = json!({ "item_id": "item_1", "output_index": 0, "content_index": 0, "part": part });
        say("response.content_part.added", data);
    }
    for piece in pieces {
        match kind {
            Kind::Text => say(
                "response.output_text.delta",
                json!({ "item_id": "item_1", "output_index": 0,
                "content_index": 0, "delta": piece, "logprobs": [] }),
            ),
            _ => say(
                "response.function_call_arguments.delta",
                json!({ "item_id": "item_1", "output_index": 0,
                "delta": piece }),
            ),
        }
    }
    if kind == Kind::Text {
        let data = json!({ "item_id": "item_1", "output_index": 0, "content_index": 0, "text": whole });
        say("response.output_text.done", data);
    } else {
        let data = json!({ "item_id": "item_1", "output_index": 0, "arguments": whole });
        say("response.function_call_arguments.done", data);
    }
    say("response.output_item.done", json!({ "output_index": 0, "item": item("completed", &whole) }));
    say("response.completed", response("completed", json!([item("completed", &whole)])));
    frames
}

fn google(pieces: &[String], kind: Kind) -> Vec<String> {
    let last = pieces.len().saturating_sub(1);
    let frame = |(number, piece): (usize, &String)| {
        let part = match kind {
            Kind::Text => json!({ "text": piece }),
            _ => json!({ "functionCall": { "name": "read", "args": { "path": piece } } }),
        };
        let mut candidate = json!({ "content": { "parts": [part], "role": "model" }, "index": 0 });
        if number == last {
            candidate["finishReason"] = json!("STOP");
        }
        let usage =
            json!({ "promptTokenCount": 8, "candidatesTokenCount": number, "totalTokenCount": 8 + number });
        let data = json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "m1", "responseId": "r1" });
        format!("data: {data}\n\n")
    };
    pieces.iter().enumerate().map(frame).collect()
}

fn ollama(pieces: &[String], kind: Kind) -> Vec<String> {
    let created = "2026-02-17T23:14:07.414671Z";
    let line = |message: serde_json::Value| {
        let data = json!({ "model": "m1", "created_at": created, "message": message, "done": false });
        format!("{data}\n")
    };
    let mut frames: Vec<String> = pieces
        .iter()
        .map(|piece| match kind {
            Kind::Text => line(json!({ "role": "assistant", "content": piece })),
            _ => line(json!({ "role": "assistant", "content": "",
                "tool_calls": [{ "function": { "name": "read", "arguments": { "path": piece } } }] })),
        })
        .collect();
    let data = json!({ "model": "m1", "created_at": created, "message": { "role": "assistant", "content": "" },
        "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 18 });
    frames.push(format!("{data}\n"));
    frames
}
