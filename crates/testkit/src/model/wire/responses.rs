//! OpenAI Responses, as <https://platform.openai.com/docs/api-reference/responses-streaming> describes it.

use serde_json::{Value, json};

use super::chat::{openai_refusal, openai_too_long};
use super::{ScriptedWire, WireFrame, WirePart, WireRequest, named, pieces};
use crate::model::faults::deltas;
use crate::model::lists::MADE_SECONDS;
use crate::model::turn::{ScriptedToolCall, ScriptedTurn};

pub(super) struct Responses;

impl ScriptedWire for Responses {
    fn id(&self) -> &'static str {
        "openai-responses"
    }

    fn hears(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn streams(&self, request: &WireRequest<'_>) -> bool {
        request.flag("stream") == Some(true)
    }

    fn content_type(&self, _: &WireRequest<'_>) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame> {
        let mut events = ResponsesEvents::default();
        let begun = response(request, "in_progress");
        events.add(WirePart::Start, "response.created", json!({"response": begun}));
        events.add(WirePart::Start, "response.in_progress", json!({"response": begun}));
        for item in items(turn, request) {
            events.item(&item);
        }
        let done = finished(turn, request);
        let incomplete = done["status"] == "incomplete";
        let name = if incomplete { "response.incomplete" } else { "response.completed" };
        events.add(WirePart::End, name, json!({"response": done}));
        events.frames
    }

    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
        finished(turn, request)
    }

    fn refusal(&self, status: u16) -> Value {
        openai_refusal(status)
    }

    fn too_long(&self, tokens: u64, window: u64) -> Value {
        openai_too_long(tokens, window)
    }

    fn stream_error(&self, message: &str, request: &WireRequest<'_>) -> WireFrame {
        let mut failed = response(request, "failed");
        failed["error"] = json!({"code": "server_error", "message": message});
        // Events are numbered; this one may come after any of them.
        let data = json!({"type": "", "response": failed, "sequence_number": u16::MAX});
        named(WirePart::Middle, "response.failed", data)
    }
}

/// One item of the output: its deltas, and its final form.
struct ResponsesItem {
    kind: ResponsesItemKind,
    done: Value,
    deltas: Vec<String>,
}

enum ResponsesItemKind {
    Reasoning,
    Message,
    Function,
    Custom,
}

/// Events with their numbers.
#[derive(Default)]
struct ResponsesEvents {
    frames: Vec<WireFrame>,
    items: usize,
}

impl ResponsesEvents {
    fn add(&mut self, part: WirePart, name: &str, mut data: Value) {
        // The name comes first, as the documentation shows it.
        let mut numbered = json!({"type": name, "sequence_number": self.frames.len()});
        if let (Some(into), Some(from)) = (numbered.as_object_mut(), data.as_object_mut()) {
            into.append(from);
        }
        self.frames.push(named(part, name, numbered));
    }

    fn item(&mut self, item: &ResponsesItem) {
        let (index, id) = (self.items, item.done["id"].clone());
        self.items += 1;
        let at = |mut data: Value| {
            data["item_id"] = id.clone();
            data["output_index"] = json!(index);
            data
        };
        let whole = item.deltas.concat();
        let mut begun = item.done.clone();
        match item.kind {
            ResponsesItemKind::Reasoning => begun["summary"] = json!([]),
            ResponsesItemKind::Message => begun["content"] = json!([]),
            ResponsesItemKind::Function => begun["arguments"] = json!(""),
            ResponsesItemKind::Custom => begun["input"] = json!(""),
        }
        if begun.get("status").is_some() {
            begun["status"] = json!("in_progress");
        }
        self.add(
            WirePart::Start,
            "response.output_item.added",
            json!({"output_index": index, "item": begun}),
        );
        match item.kind {
            ResponsesItemKind::Reasoning => {
                let part =
                    |text: &str| json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}});
                self.add(WirePart::Start, "response.reasoning_summary_part.added", at(part("")));
                for piece in &item.deltas {
                    let data = at(json!({"summary_index": 0, "delta": piece}));
                    self.add(WirePart::Delta, "response.reasoning_summary_text.delta", data);
                }
                let text = at(json!({"summary_index": 0, "text": whole}));
                self.add(WirePart::Middle, "response.reasoning_summary_text.done", text);
                self.add(WirePart::Middle, "response.reasoning_summary_part.done", at(part(&whole)));
            }
            ResponsesItemKind::Message => {
                let part = |text: &str| json!({"content_index": 0, "part": output_text(text)});
                self.add(WirePart::Start, "response.content_part.added", at(part("")));
                for piece in &item.deltas {
                    let data = at(json!({"content_index": 0, "delta": piece, "logprobs": []}));
                    self.add(WirePart::Delta, "response.output_text.delta", data);
                }
                let text = at(json!({"content_index": 0, "text": whole, "logprobs": []}));
                self.add(WirePart::Middle, "response.output_text.done", text);
                self.add(WirePart::Middle, "response.content_part.done", at(part(&whole)));
            }
            ResponsesItemKind::Function => {
                for piece in &item.deltas {
                    self.add(
                        WirePart::Middle,
                        "response.function_call_arguments.delta",
                        at(json!({"delta": piece})),
                    );
                }
                let data = at(json!({"arguments": whole, "name": item.done["name"]}));
                self.add(WirePart::Middle, "response.function_call_arguments.done", data);
            }
            ResponsesItemKind::Custom => {
                for piece in &item.deltas {
                    self.add(
                        WirePart::Middle,
                        "response.custom_tool_call_input.delta",
                        at(json!({"delta": piece})),
                    );
                }
                self.add(
                    WirePart::Middle,
                    "response.custom_tool_call_input.done",
                    at(json!({"input": whole})),
                );
            }
        }
        self.add(
            WirePart::Middle,
            "response.output_item.done",
            json!({"output_index": index, "item": item.done}),
        );
    }
}

fn items(turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<ResponsesItem> {
    let serial = request.serial;
    let mut items = Vec::new();
    if let Some(reasoning) = &turn.reasoning {
        let deltas = reasoning.deltas();
        let summary = json!([{"type": "summary_text", "text": deltas.concat()}]);
        let mut done =
            json!({"id": format!("rs_scripted{serial:06}"), "type": "reasoning", "summary": summary});
        if let Some(signature) = &turn.thinking_signature {
            done["encrypted_content"] = json!(signature);
        }
        items.push(ResponsesItem { kind: ResponsesItemKind::Reasoning, done, deltas });
    }
    let text = deltas(turn);
    if !text.is_empty() {
        let done = json!({
            "id": format!("msg_scripted{serial:06}"), "type": "message", "status": "completed", "role": "assistant",
            "content": [output_text(&text.concat())],
        });
        items.push(ResponsesItem { kind: ResponsesItemKind::Message, done, deltas: text });
    }
    items.extend(turn.tool_calls.iter().enumerate().map(|(number, call)| called(call, number, serial)));
    items
}

fn called(call: &ScriptedToolCall, number: usize, serial: u64) -> ResponsesItem {
    let call_id = call.id.clone().unwrap_or_else(|| format!("call_scripted{serial:06}{number:02}"));
    let (kind, prefix, name, field, text) = match &call.input {
        Some(input) => (ResponsesItemKind::Custom, "ctc", "custom_tool_call", "input", input.clone()),
        None => (ResponsesItemKind::Function, "fc", "function_call", "arguments", call.text()),
    };
    let mut done = json!({
        "id": format!("{prefix}_scripted{serial:06}{number:02}"), "type": name, "status": "completed",
        field: text, "call_id": call_id, "name": call.name,
    });
    if let Some(namespace) = &call.namespace {
        done["namespace"] = json!(namespace);
    }
    ResponsesItem { kind, done, deltas: pieces(&text) }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// The final answer.
fn finished(turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value {
    let mut done = response(request, "completed");
    done["output"] = items(turn, request).into_iter().map(|item| item.done).collect();
    done["usage"] = usage(turn);
    // Here the reason is not a separate word, but what makes the answer incomplete.
    if let Some(reason) = turn.stop.as_deref().filter(|reason| *reason != "completed") {
        done["status"] = json!("incomplete");
        done["incomplete_details"] = json!({"reason": reason});
    }
    done
}

fn response(request: &WireRequest<'_>, status: &str) -> Value {
    json!({
        "id": format!("resp_scripted{:06}", request.serial), "object": "response", "created_at": MADE_SECONDS,
        "status": status, "background": false, "error": null, "incomplete_details": null, "instructions": null,
        "max_output_tokens": null, "model": request.model(), "output": [], "parallel_tool_calls": true,
        "previous_response_id": null, "reasoning": {"effort": null, "summary": null}, "store": false,
        "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": null, "user": null, "metadata": {},
    })
}

fn usage(turn: &ScriptedTurn) -> Value {
    let usage = turn.usage;
    let input = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": input + usage.output,
    })
}
