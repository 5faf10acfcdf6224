//! The body of a request: the conversation as items.
//!
//! Invariant: an item's id goes back only with everything that the same answer thought, and only to the model that
//! gave it; the server refuses half of it.

use serde_json::{Map, Value, json};

use crate::message::{AssistantContent, Text, Thinking, ToolCall};
use crate::model::{Model, StrictMode};
use crate::request::{CacheTime, Call, Level, Request, ToolChoice};
use crate::schema::{Dialect, normalise};
use crate::wire::address::{self, ID_MOST};
use crate::wire::effort::effort;
use crate::wire::history::{self, Answer, Outcome, Part, Turn};
use crate::wire::ids;

/// The server takes no smaller bound for an answer.
const OUTPUT_LEAST: u64 = 16;

pub(super) fn body(call: &Call<'_>) -> Value {
    let (model, request) = (call.model, call.request);
    let mut body = Map::new();
    body.insert("model".into(), json!(model.id));
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert("instructions".into(), json!(system));
    }
    body.insert("input".into(), json!(input(model, request)));
    body.insert("stream".into(), json!(true));
    if model.compat.supports_store.unwrap_or(true) {
        body.insert("store".into(), json!(false));
    }
    tools(model, request, &mut body);
    thinking(model, request, &mut body);
    if let Some(most) = request.max_tokens {
        body.insert("max_output_tokens".into(), json!(most.max(OUTPUT_LEAST)));
    }
    // Models that think take no temperature.
    if let Some(temperature) = request.temperature.filter(|_| !model.reasoning) {
        body.insert("temperature".into(), json!(temperature));
    }
    caching(model, request, &mut body);
    if let Some(tier) = &request.service_tier {
        body.insert("service_tier".into(), json!(tier));
    }
    for (name, value) in model.compat.extra_body.iter().flatten() {
        if !matches!(name.as_str(), "model" | "input" | "stream") {
            body.insert(name.clone(), value.clone());
        }
    }
    Value::Object(body)
}

fn tools(model: &Model, request: &Request, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    // Left out, `strict` would be true here, so it is always said.
    let strict = match model.compat.tool_strict_mode {
        Some(mode) => mode == StrictMode::AllStrict,
        None => {
            let host = address::host(&model.base_url);
            host.is_empty() || address::is_beneath(&host, "api.openai.com") || address::is_azure(&host)
        }
    };
    let dialect = if strict { Dialect::Strict } else { Dialect::Responses };
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
    body.insert("tools".into(), request.tools.iter().map(tool).collect());
    if model.compat.supports_tool_choice.unwrap_or(true) {
        let choice = match &request.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Named(name) => json!({"type": "function", "name": name}),
        };
        body.insert("tool_choice".into(), choice);
    }
    if model.compat.supports_parallel_tool_calls.unwrap_or(true) {
        body.insert("parallel_tool_calls".into(), json!(true));
    }
}

fn thinking(model: &Model, request: &Request, body: &mut Map<String, Value>) {
    if !model.reasoning {
        return;
    }
    let mut reasoning = Map::new();
    let asks = model.compat.supports_reasoning_effort.unwrap_or(true);
    if let Some(effort) = effort(&model.id, request.thinking).filter(|_| asks) {
        reasoning.insert("effort".into(), json!(effort));
    }
    if request.thinking != Level::Off {
        reasoning.insert("summary".into(), json!("auto"));
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), Value::Object(reasoning));
    }
    body.insert("include".into(), json!(["reasoning.encrypted_content"]));
}

fn caching(model: &Model, request: &Request, body: &mut Map<String, Value>) {
    if request.cache == CacheTime::None {
        return;
    }
    if let Some(session) = &request.session_id {
        body.insert("prompt_cache_key".into(), json!(ids::fitting(session, ID_MOST, "cache_")));
    }
    let host = address::host(&model.base_url);
    if request.cache == CacheTime::Long && (host.is_empty() || address::is_beneath(&host, "api.openai.com")) {
        body.insert("prompt_cache_retention".into(), json!("24h"));
    }
}

fn input(model: &Model, request: &Request) -> Vec<Value> {
    let mut items = Vec::new();
    let developer = if model.compat.supports_developer_role.unwrap_or(true) { "developer" } else { "user" };
    for turn in history::turns(model, &request.messages) {
        match turn {
            Turn::User(content) => message("user", &history::parts(model, content), &mut items),
            Turn::Developer(content) => message(developer, &history::parts(model, content), &mut items),
            Turn::Stray(result) => message("user", &history::stray(model, result), &mut items),
            Turn::Answer(answer) => said(&answer, &mut items),
            Turn::Outcome(outcome) => items.push(output(model, &outcome)),
        }
    }
    items
}

fn message(role: &str, parts: &[Part<'_>], items: &mut Vec<Value>) {
    if !parts.is_empty() {
        items.push(json!({"role": role, "content": content(parts)}));
    }
}

fn content(parts: &[Part<'_>]) -> Vec<Value> {
    let part = |part: &Part<'_>| match part {
        Part::Text(text) => json!({"type": "input_text", "text": text}),
        Part::Image(image) => {
            json!({"type": "input_image", "detail": "auto", "image_url": history::data_url(image)})
        }
    };
    parts.iter().map(part).collect()
}

/// An answer, piece by piece.
fn said(answer: &Answer<'_>, items: &mut Vec<Value>) {
    let goes_back = |content: &&AssistantContent| match content {
        AssistantContent::Thinking(thinking) => thought(thinking).is_some(),
        AssistantContent::Text(_) | AssistantContent::ToolCall(_) => true,
    };
    let whole = answer.own && answer.content.iter().all(goes_back);
    for content in &answer.content {
        match content {
            AssistantContent::Thinking(thinking) if whole => items.extend(thought(thinking)),
            AssistantContent::Thinking(_) => {}
            AssistantContent::Text(text) => items.push(text_item(text, whole)),
            AssistantContent::ToolCall(call) => items.push(call_item(call, answer.own, whole)),
        }
    }
}

/// The item as it came. Without its encrypted part the server would look it up, and it stored nothing.
fn thought(thinking: &Thinking) -> Option<Value> {
    let item: Value = serde_json::from_str(thinking.thinking_signature.as_deref()?).ok()?;
    let sealed = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
    (item["type"] == "reasoning" && sealed).then_some(item)
}

fn text_item(text: &Text, whole: bool) -> Value {
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

fn output(model: &Model, outcome: &Outcome<'_>) -> Value {
    let parts = outcome.parts(model);
    let images = parts.iter().any(|part| matches!(part, Part::Image(_)));
    let output = if images { json!(content(&parts)) } else { json!(history::text(&parts)) };
    json!({"type": "function_call_output", "call_id": call_id(outcome.call, outcome.own), "output": output})
}

/// `call_id|item_id`
fn split(id: &str) -> (&str, Option<&str>) {
    id.split_once('|').map_or((id, None), |(call, item)| (call, Some(item)))
}

fn call_id(call: &ToolCall, own: bool) -> String {
    let (id, _) = split(&call.id);
    if own && id.len() <= ID_MOST { id.to_owned() } else { ids::fitting(id, ID_MOST, "call_") }
}

fn is_item(id: &str, kind: &str) -> bool {
    id.starts_with(kind) && id.len() <= ID_MOST
}
