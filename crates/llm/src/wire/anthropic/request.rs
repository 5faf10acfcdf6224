//! The body of a request to Anthropic Messages.
//!
//! Invariant: what the server checks holds for every conversation: roles alternate and the person speaks
//! first and last, every call has its result in the next message, no text is blank, and signed content goes
//! back only to the model that signed it.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{is_anthropic, thinking::ThinkingPlan};
use crate::message::{AssistantContent, ImageContent, Message, UserContent};
use crate::models::model::Model;
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{CacheRetention, ChatRequest, Tool, ToolChoice, WireCall};
use crate::wire::history::{
    self, AlternatingTurns, GO_ON, HistoryAnswer, HistoryPart, HistoryToolResult, HistoryTurn, KeyedTurn,
};
use crate::wire::ids::fit_id;
use crate::wire::kept_turns::TurnWriter;
use crate::wire::picture::{self, ImageLimits};
use crate::wire::request_body::{JsonRope, RequestBody, with_field, with_list};

/// Longest id of a call.
const ID_MOST: usize = 64;

/// Longest `metadata.user_id`.
const USER_ID_MOST: usize = 256;

/// Accepted images (platform.claude.com/docs/en/build-with-claude/vision).
const PICTURES: ImageLimits = ImageLimits {
    kinds: &["image/png", "image/jpeg", "image/gif", "image/webp"],
    bytes: 5 << 20,
    side: 8000,
};

/// With more images than this in one request, each side has this limit.
const MANY_PICTURES: (usize, u32) = (20, 2000);

pub(super) fn body(call: &WireCall<'_>, plan: &ThinkingPlan) -> Vec<u8> {
    let WireCall { model, request, .. } = call;
    let mark = cache_mark(request.cache);
    let turns = history::turns(model, &request.messages);
    let mut messages = messages(model, request, &turns);
    if let (Some(mark), Some(last)) = (&mark, last_block(&mut messages)) {
        *last = with_field(last, "cache_control", mark);
    }
    let mut body = RequestBody::default();
    body.set("model", &model.id);
    body.set("max_tokens", plan.max_tokens);
    let system = request.system.as_deref().filter(|system| !is_blank(system));
    body.set_some("system", system.map(|system| [with_cache_mark(text(system), mark.as_ref())]));
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut choice = choice(&request.tool_choice, plan);
    if tools.is_empty() {
        // A conversation with calls wants tools, even if none may be called any more.
        tools = called_tools(&turns).iter().map(|name| removed_tool(name)).collect();
        choice = json!({"type": "none"});
    }
    body.set_conversation("messages", JsonRope::messages(messages, "content"));
    if let Some(last) = tools.pop() {
        tools.push(with_cache_mark(last, mark.as_ref()));
        body.set("tools", tools);
        body.set("tool_choice", choice);
    }
    body.set_some("thinking", plan.thinking.as_ref());
    body.set_some("output_config", plan.effort.map(|effort| json!({"effort": effort})));
    body.set_some("temperature", request.temperature.filter(|_| plan.temperature));
    let tier = request.service_tier.as_deref();
    body.set_some("service_tier", tier.filter(|tier| ["auto", "standard_only"].contains(tier)));
    let session = request.session_id.as_deref().filter(|id| !id.is_empty() && id.len() <= USER_ID_MOST);
    body.set_some("metadata", session.map(|session| json!({"user_id": session})));
    body.set("stream", true);
    body.finish(model, &["model", "messages", "stream"])
}

/// Marks how far the cache reaches.
fn cache_mark(cache: CacheRetention) -> Option<Value> {
    match cache {
        CacheRetention::None => None,
        CacheRetention::Short => Some(json!({"type": "ephemeral"})),
        CacheRetention::Long => Some(json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

fn with_cache_mark(mut block: Value, mark: Option<&Value>) -> Value {
    if let Some(mark) = mark {
        block["cache_control"] = mark.clone();
    }
    block
}

fn last_block<'m>(messages: &'m mut [(&str, Vec<Bytes>)]) -> Option<&'m mut Bytes> {
    messages.last_mut()?.1.last_mut()
}

fn tool(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": normalise(&tool.parameters, SchemaDialect::Anthropic).schema,
    })
}

/// A tool that existed earlier.
fn removed_tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Not available any more.",
        "input_schema": {"type": "object", "properties": {}},
    })
}

/// The tools that were called, each once.
fn called_tools<'t>(turns: &[KeyedTurn<'t>]) -> Vec<&'t str> {
    let calls = turns.iter().filter_map(|keyed| match &keyed.turn {
        HistoryTurn::ToolResult(outcome) => Some(outcome.call),
        _ => None,
    });
    let mut names: Vec<&str> = calls.map(|call| call.name.as_str()).collect();
    names.sort();
    names.dedup();
    names
}

fn choice(choice: &ToolChoice, plan: &ThinkingPlan) -> Value {
    match choice {
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required if plan.forces => json!({"type": "any"}),
        ToolChoice::Named(name) if plan.forces => json!({"type": "tool", "name": name}),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => json!({"type": "auto"}),
    }
}

fn messages(
    model: &Model,
    request: &ChatRequest,
    turns: &[KeyedTurn<'_>],
) -> Vec<(&'static str, Vec<Bytes>)> {
    let mut messages = AlternatingTurns::new("assistant", &text(GO_ON));
    let rules = image_limits(request);
    let mut writer = TurnWriter::new("anthropic-messages", model, request, rules.side);
    for keyed in turns {
        let pieces = writer.pieces(keyed, || match &keyed.turn {
            HistoryTurn::User(content) | HistoryTurn::Developer(content) => {
                blocks(&history::parts(model, content), &rules)
            }
            HistoryTurn::Answer(answer) => answer_blocks(model, answer),
            HistoryTurn::ToolResult(outcome) => vec![outcome_block(model, outcome, &rules)],
            HistoryTurn::OrphanResult(result) => blocks(&history::orphan_parts(model, result), &rules),
        });
        let is_answer = matches!(keyed.turn, HistoryTurn::Answer(_));
        messages.push(if is_answer { "assistant" } else { "user" }, &pieces);
    }
    messages.finish()
}

/// The limits depend on the number of images.
fn image_limits(request: &ChatRequest) -> ImageLimits {
    let pieces = request.messages.iter().flat_map(Message::pieces);
    let pictures = pieces.filter(|piece| matches!(piece, UserContent::Image(_))).count();
    let (many, side) = MANY_PICTURES;
    if pictures > many { ImageLimits { side, ..PICTURES } } else { PICTURES }
}

fn blocks(parts: &[HistoryPart<'_>], rules: &ImageLimits) -> Vec<Value> {
    let block = |part: &HistoryPart<'_>| match part {
        HistoryPart::Text(said) => (!is_blank(said)).then(|| text(said)),
        HistoryPart::Image(image) => Some(image_block(image, rules)),
    };
    parts.iter().filter_map(block).collect()
}

fn image_block(image: &ImageContent, rules: &ImageLimits) -> Value {
    if let Some(note) = picture::refusal_note(image, rules) {
        return text(&note);
    }
    let source = json!({"type": "base64", "media_type": image.mime_type, "data": image.data});
    json!({"type": "image", "source": source})
}

/// Thinking of other models, and unsigned thinking if signatures are checked, is left out.
fn answer_blocks(model: &Model, answer: &HistoryAnswer<'_>) -> Vec<Value> {
    let block = |content: &AssistantContent| match content {
        AssistantContent::Text(said) => (!is_blank(&said.text)).then(|| text(&said.text)),
        AssistantContent::Thinking(_) if !answer.same_model => None,
        AssistantContent::Thinking(thought) => {
            let signature = thought.thinking_signature.as_deref().unwrap_or_default();
            match (thought.redacted, signature.is_empty()) {
                (true, false) => Some(json!({"type": "redacted_thinking", "data": signature})),
                (true, true) => None,
                (false, true) if is_anthropic(model) || thought.thinking.is_empty() => None,
                (false, _) => {
                    Some(json!({"type": "thinking", "thinking": thought.thinking, "signature": signature}))
                }
            }
        }
        AssistantContent::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": fit_id(&call.id, ID_MOST, "toolu_"),
            "name": call.name,
            "input": call.arguments,
        })),
    };
    answer.content.iter().copied().filter_map(block).collect()
}

fn outcome_block(model: &Model, outcome: &HistoryToolResult<'_>, rules: &ImageLimits) -> Value {
    let failed = outcome.result.is_none_or(|result| result.is_error);
    let mut parts = outcome.parts(model);
    if failed && parts.iter().any(|part| matches!(part, HistoryPart::Text(_))) {
        // A failure must not have images.
        parts.retain(|part| matches!(part, HistoryPart::Text(_)));
    }
    let mut content = blocks(&parts, rules);
    if content.is_empty() {
        content.push(text(history::NO_OUTPUT));
    }
    let id = fit_id(&outcome.call.id, ID_MOST, "toolu_");
    let mut block = with_list(json!({"type": "tool_result", "tool_use_id": id}), "content", content);
    if failed {
        block["is_error"] = true.into();
    }
    block
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Blank text is refused.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
