//! The body of a request.

use serde_json::{Value, json};

use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{ChatRequest, ThinkingLevel, ToolChoice, WireCall};
use crate::wire::history::{self, HistoryAnswer, HistoryPart, HistoryTurn};
use crate::wire::kept_turns::TurnWriter;
use crate::wire::request_body::{JsonRope, RequestBody, json_bytes};
use crate::{message::AssistantContent, models::model::Model};

pub(super) fn body(call: &WireCall<'_>) -> Vec<u8> {
    let (model, request) = (call.model, call.request);
    let mut body = RequestBody::default();
    body.set("model", &model.id);
    body.set_conversation("messages", messages(model, request));
    // The only way to forbid tools is to send none.
    if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
        body.set("tools", request.tools.iter().map(tool).collect::<Vec<_>>());
    }
    body.set("stream", true);
    body.set_some("think", model.reasoning.then(|| think(&model.id, request.thinking)));
    let mut options = RequestBody::default();
    options.set_some("num_predict", request.max_tokens);
    options.set_some("temperature", request.temperature);
    // By default the server silently cuts the conversation to a few thousand tokens.
    options.set_some("num_ctx", Some(model.context_window).filter(|window| *window > 0));
    body.set_object("options", options);
    body.finish(model, &["model", "messages", "stream"])
}

fn tool(tool: &crate::request::Tool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": normalise(&tool.parameters, SchemaDialect::Ollama).schema,
        },
    })
}

/// gpt-oss has levels and always thinks; for others it is on or off.
fn think(id: &str, level: ThinkingLevel) -> Value {
    if !id.rsplit('/').next().unwrap_or(id).starts_with("gpt-oss") {
        return json!(level != ThinkingLevel::Off);
    }
    json!(match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => "high",
    })
}

fn messages(model: &Model, request: &ChatRequest) -> JsonRope {
    let mut all = Vec::new();
    let mut writer = TurnWriter::new("ollama", model, request, 0);
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        all.push(json_bytes(&json!({"role": "system", "content": system})));
    }
    for keyed in history::turns(model, &request.messages) {
        let pieces = writer.pieces(&keyed, || match &keyed.turn {
            HistoryTurn::User(content) | HistoryTurn::Developer(content) => {
                let parts = history::parts(model, content);
                if parts.is_empty() { Vec::new() } else { vec![message("user", &parts)] }
            }
            HistoryTurn::OrphanResult(result) => {
                vec![message("user", &history::orphan_parts(model, result))]
            }
            HistoryTurn::Answer(answer) => vec![answer_message(answer)],
            HistoryTurn::ToolResult(outcome) => {
                let mut result = message("tool", &outcome.parts(model));
                result["tool_name"] = json!(outcome.call.name);
                vec![result]
            }
        });
        all.extend_from_slice(&pieces);
    }
    JsonRope::list(all)
}

/// Images are beside the text, in bare base64.
fn message(role: &str, parts: &[HistoryPart<'_>]) -> Value {
    let mut message = json!({"role": role, "content": history::joined_text(parts)});
    let images: Vec<&str> = history::images(parts).into_iter().map(|image| image.data.as_str()).collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

fn answer_message(answer: &HistoryAnswer<'_>) -> Value {
    let (mut texts, mut thoughts, mut calls) = (vec![], vec![], vec![]);
    for content in &answer.content {
        match content {
            AssistantContent::Text(text) => texts.push(text.text.as_str()),
            AssistantContent::Thinking(thinking) => thoughts.push(thinking.thinking.as_str()),
            AssistantContent::ToolCall(call) => {
                calls.push(json!({"function": {"name": call.name, "arguments": call.arguments}}));
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": texts.join("\n")});
    let thought = thoughts.join("\n\n");
    if answer.same_model && !thought.is_empty() {
        message["thinking"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}
