//! The body of a request: the conversation as items.
//!
//! Invariant: an item's id goes back only together with all thinking of the same answer, and only to the
//! model that gave it; the server refuses half of it.

use serde_json::{Value, json};

use crate::message::{AssistantContent, TextContent, ThinkingContent, ToolCall};
use crate::models::model::{Model, StrictMode};
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{CacheRetention, ChatRequest, ThinkingLevel, ToolChoice, WireCall};
use crate::wire::address::{self, MAX_OPENAI_ID};
use crate::wire::history::{self, HistoryAnswer, HistoryPart, HistoryToolResult, HistoryTurn};
use crate::wire::kept_turns::TurnWriter;
use crate::wire::request_body::{JsonRope, RequestBody};
use crate::wire::{effort::reasoning_effort, ids};

/// The server's smallest output limit.
const OUTPUT_LEAST: u64 = 16;

pub(super) fn body(call: &WireCall<'_>) -> Vec<u8> {
    let (model, request) = (call.model, call.request);
    let mut body = RequestBody::default();
    body.set("model", &model.id);
    body.set_some("instructions", request.system.as_deref().filter(|system| !system.is_empty()));
    body.set_conversation("input", input(model, request));
    body.set("stream", true);
    body.set_some("store", model.compat.supports_store.unwrap_or(true).then_some(false));
    tools(model, request, &mut body);
    thinking(model, request, &mut body);
    body.set_some("max_output_tokens", request.max_tokens.map(|most| most.max(OUTPUT_LEAST)));
    // Thinking models accept no temperature.
    body.set_some("temperature", request.temperature.filter(|_| !model.reasoning));
    caching(model, request, &mut body);
    body.set_some("service_tier", request.service_tier.as_ref());
    body.finish(model, &["model", "input", "stream"])
}

fn tools(model: &Model, request: &ChatRequest, body: &mut RequestBody) {
    if request.tools.is_empty() {
        return;
    }
    // The default of `strict` would be true here, so it is always sent.
    let strict = match model.compat.tool_strict_mode {
        Some(mode) => mode == StrictMode::AllStrict,
        None => {
            let host = address::host(&model.base_url);
            host.is_empty() || address::is_beneath(&host, "api.openai.com") || address::is_azure(&host)
        }
    };
    let dialect = if strict { SchemaDialect::Strict } else { SchemaDialect::Responses };
    let tool = |tool: &crate::request::Tool| {
        let parameters = normalise(&tool.parameters, dialect);
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters.schema,
            "strict": parameters.strict,
        })
    };
    body.set("tools", request.tools.iter().map(tool).collect::<Vec<_>>());
    if model.compat.supports_tool_choice.unwrap_or(true) {
        let choice = match &request.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Named(name) => json!({"type": "function", "name": name}),
        };
        body.set("tool_choice", choice);
    }
    let parallel = model.compat.supports_parallel_tool_calls.unwrap_or(true);
    body.set_some("parallel_tool_calls", parallel.then_some(true));
}

fn thinking(model: &Model, request: &ChatRequest, body: &mut RequestBody) {
    if !model.reasoning {
        return;
    }
    let mut reasoning = RequestBody::default();
    let asks = model.compat.supports_reasoning_effort.unwrap_or(true);
    reasoning.set_some("effort", reasoning_effort(&model.id, request.thinking).filter(|_| asks));
    reasoning.set_some("summary", (request.thinking != ThinkingLevel::Off).then_some("auto"));
    body.set_object("reasoning", reasoning);
    body.set("include", ["reasoning.encrypted_content"]);
}

fn caching(model: &Model, request: &ChatRequest, body: &mut RequestBody) {
    if request.cache == CacheRetention::None {
        return;
    }
    let session = request.session_id.as_deref();
    body.set_some("prompt_cache_key", session.map(|id| ids::fit_id(id, MAX_OPENAI_ID, "cache_")));
    let host = address::host(&model.base_url);
    let own = host.is_empty() || address::is_beneath(&host, "api.openai.com");
    let long = own && request.cache == CacheRetention::Long;
    body.set_some("prompt_cache_retention", long.then_some("24h"));
}

fn input(model: &Model, request: &ChatRequest) -> JsonRope {
    let mut all = Vec::new();
    let mut writer = TurnWriter::new("openai-responses", model, request, 0);
    let developer = if model.compat.supports_developer_role.unwrap_or(true) { "developer" } else { "user" };
    for keyed in history::turns(model, &request.messages) {
        let pieces = writer.pieces(&keyed, || match &keyed.turn {
            HistoryTurn::User(content) => message("user", &history::parts(model, content)),
            HistoryTurn::Developer(content) => message(developer, &history::parts(model, content)),
            HistoryTurn::OrphanResult(result) => message("user", &history::orphan_parts(model, result)),
            HistoryTurn::Answer(answer) => answer_items(answer),
            HistoryTurn::ToolResult(outcome) => vec![output(model, outcome)],
        });
        all.extend_from_slice(&pieces);
    }
    JsonRope::list(all)
}

/// None if nothing was said.
fn message(role: &str, parts: &[HistoryPart<'_>]) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({"role": role, "content": content(parts)})] }
}

fn content(parts: &[HistoryPart<'_>]) -> Vec<Value> {
    let part = |part: &HistoryPart<'_>| match part {
        HistoryPart::Text(text) => json!({"type": "input_text", "text": text}),
        HistoryPart::Image(image) => {
            json!({"type": "input_image", "detail": "auto", "image_url": history::data_url(image)})
        }
    };
    parts.iter().map(part).collect()
}

/// Piece by piece.
fn answer_items(answer: &HistoryAnswer<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    let goes_back = |content: &&AssistantContent| match content {
        AssistantContent::Thinking(thinking) => thinking_item(thinking).is_some(),
        AssistantContent::Text(_) | AssistantContent::ToolCall(_) => true,
    };
    let whole = answer.same_model && answer.content.iter().all(goes_back);
    for content in &answer.content {
        match content {
            AssistantContent::Thinking(thinking) if whole => items.extend(thinking_item(thinking)),
            AssistantContent::Thinking(_) => {}
            AssistantContent::Text(text) => items.push(text_item(text, whole)),
            AssistantContent::ToolCall(call) => items.push(call_item(call, answer.same_model, whole)),
        }
    }
    items
}

/// The item as it came. Without its encrypted part the server would look it up, and it stored nothing.
fn thinking_item(thinking: &ThinkingContent) -> Option<Value> {
    let item: Value = serde_json::from_str(thinking.thinking_signature.as_deref()?).ok()?;
    let sealed = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
    (item["type"] == "reasoning" && sealed).then_some(item)
}

fn text_item(text: &TextContent, whole: bool) -> Value {
    let mut item = json!({
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text.text, "annotations": []}],
        "status": "completed",
    });
    let signature = text.text_signature.as_deref().filter(|_| whole).unwrap_or_default();
    let signed: Value = serde_json::from_str(signature).unwrap_or_else(|_| json!({"id": signature}));
    for name in ["id", "phase"] {
        let kept = signed[name].as_str().filter(|value| name == "phase" || is_item(value, "msg"));
        if let Some(value) = kept {
            item[name] = json!(value);
        }
    }
    item
}

fn call_item(call: &ToolCall, own: bool, whole: bool) -> Value {
    let (_, item_id) = split(&call.id);
    let mut item = json!({
        "type": "function_call",
        "call_id": call_id(call, own),
        "name": call.name,
        "arguments": Value::Object(call.arguments.clone()).to_string(),
    });
    if let Some(id) = item_id.filter(|id| whole && is_item(id, "fc")) {
        item["id"] = json!(id);
    }
    item
}

fn output(model: &Model, outcome: &HistoryToolResult<'_>) -> Value {
    let parts = outcome.parts(model);
    let images = parts.iter().any(|part| matches!(part, HistoryPart::Image(_)));
    let output = if images { json!(content(&parts)) } else { json!(history::joined_text(&parts)) };
    json!({"type": "function_call_output", "call_id": call_id(outcome.call, outcome.same_model), "output": output})
}

/// `call_id|item_id`
fn split(id: &str) -> (&str, Option<&str>) {
    id.split_once('|').map_or((id, None), |(call, item)| (call, Some(item)))
}

fn call_id(call: &ToolCall, own: bool) -> String {
    let (id, _) = split(&call.id);
    if own && id.len() <= MAX_OPENAI_ID { id.to_owned() } else { ids::fit_id(id, MAX_OPENAI_ID, "call_") }
}

fn is_item(id: &str, kind: &str) -> bool {
    id.starts_with(kind) && id.len() <= MAX_OPENAI_ID
}
