//! The body of a request to Google Generative AI.
//!
//! Invariant: roles alternate, every call has its response in the next content, and signed content goes
//! back only to the model that signed it, on the same part.

use serde_json::{Map, Value, json};

use super::{reader::is_generated_id, thinking};
use crate::message::{AssistantContent, ImageContent, ToolCall};
use crate::models::model::Model;
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{ChatRequest, Tool, ToolChoice, WireCall};
use crate::wire::history::{
    self, AlternatingTurns, GO_ON, HistoryAnswer, HistoryPart, HistoryToolResult, HistoryTurn,
};
use crate::wire::kept_turns::TurnWriter;
use crate::wire::picture::{self, ImageLimits};
use crate::wire::request_body::{JsonRope, RequestBody};

/// Replaces the signature on calls that the model did not sign itself
/// (ai.google.dev/gemini-api/docs/thought-signatures).
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Accepted images (ai.google.dev/gemini-api/docs/image-understanding); a request has at most 20 MB.
const PICTURES: ImageLimits = ImageLimits {
    kinds: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    bytes: 20 << 20,
    side: u32::MAX,
};

pub(super) fn body(call: &WireCall<'_>) -> Vec<u8> {
    let WireCall { model, request, .. } = call;
    let mut body = RequestBody::default();
    body.set_conversation("contents", contents(model, request));
    let system = request.system.as_deref().filter(|system| !system.trim().is_empty());
    body.set_some("systemInstruction", system.map(|system| json!({"parts": [{"text": system}]})));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.set("tools", json!([{"functionDeclarations": declarations}]));
        let choice = choice(&request.tool_choice);
        body.set_some("toolConfig", choice.map(|choice| json!({"functionCallingConfig": choice})));
    }
    let mut config = RequestBody::default();
    let most = request.max_tokens.unwrap_or(model.max_tokens).min(model.max_tokens);
    config.set_some("maxOutputTokens", Some(most).filter(|most| *most > 0));
    config.set_some("temperature", request.temperature);
    config.set_some("thinkingConfig", thinking::config(model, request.thinking));
    body.set_object("generationConfig", config);
    body.finish(model, &["contents"])
}

fn declaration(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": normalise(&tool.parameters, SchemaDialect::Google).schema,
    })
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"mode": "NONE"})),
        ToolChoice::Required => Some(json!({"mode": "ANY"})),
        ToolChoice::Named(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
    }
}

fn contents(model: &Model, request: &ChatRequest) -> JsonRope {
    let mut contents = AlternatingTurns::new("model", &json!({"text": GO_ON}));
    let mut writer = TurnWriter::new("google-generative-ai", model, request, 0);
    for keyed in history::turns(model, &request.messages) {
        let pieces = writer.pieces(&keyed, || match &keyed.turn {
            HistoryTurn::User(content) | HistoryTurn::Developer(content) => {
                history::parts(model, content).iter().map(part).collect()
            }
            HistoryTurn::Answer(answer) => answer_parts(model, answer),
            HistoryTurn::ToolResult(outcome) => result_parts(model, outcome),
            HistoryTurn::OrphanResult(result) => {
                history::orphan_parts(model, result).iter().map(part).collect()
            }
        });
        let is_answer = matches!(keyed.turn, HistoryTurn::Answer(_));
        contents.push(if is_answer { "model" } else { "user" }, &pieces);
    }
    JsonRope::messages(contents.finish(), "parts")
}

fn part(part: &HistoryPart<'_>) -> Value {
    match part {
        HistoryPart::Text(text) => json!({"text": text}),
        HistoryPart::Image(image) => image_part(image),
    }
}

fn image_part(image: &ImageContent) -> Value {
    if let Some(note) = picture::refusal_note(image, &PICTURES) {
        return json!({"text": note});
    }
    json!({"inlineData": {"mimeType": image.mime_type, "data": image.data}})
}

/// Thinking goes back only with its signature.
fn answer_parts(model: &Model, answer: &HistoryAnswer<'_>) -> Vec<Value> {
    let mut parts = Vec::new();
    // Only the first call of a step needs a signature.
    let mut first = thinking::is_signed(model);
    for content in &answer.content {
        let (mut part, signature) = match content {
            AssistantContent::Text(text) => (json!({"text": text.text}), &text.text_signature),
            AssistantContent::Thinking(thought) => {
                if !answer.same_model || thought.thinking_signature.is_none() {
                    continue;
                }
                (json!({"text": thought.thinking, "thought": true}), &thought.thinking_signature)
            }
            AssistantContent::ToolCall(call) => {
                let mut function = function_header(call, answer.same_model);
                function.insert("args".into(), Value::Object(call.arguments.clone()));
                let mut part = json!({"functionCall": function});
                let unsigned = !answer.same_model || call.thought_signature.is_none();
                if std::mem::take(&mut first) && unsigned {
                    part["thoughtSignature"] = UNSIGNED.into();
                }
                (part, &call.thought_signature)
            }
        };
        if let Some(signature) = signature.as_deref().filter(|_| answer.same_model) {
            part["thoughtSignature"] = signature.into();
        }
        parts.push(part);
    }
    parts
}

/// A call's id goes back only to the server that sent it.
fn function_header(call: &ToolCall, own: bool) -> Map<String, Value> {
    let mut function = Map::new();
    if own && !is_generated_id(&call.id) {
        function.insert("id".into(), call.id.clone().into());
    }
    function.insert("name".into(), call.name.clone().into());
    function
}

/// Images are part of the response if the model supports that, and otherwise follow it.
fn result_parts(model: &Model, outcome: &HistoryToolResult<'_>) -> Vec<Value> {
    let parts = outcome.parts(model);
    let failed = outcome.result.is_none_or(|result| result.is_error);
    let mut text = history::joined_text(&parts);
    let mut pictures = Vec::new();
    for image in history::images(&parts) {
        match picture::refusal_note(image, &PICTURES) {
            // A response has room for images beside its text, and for nothing else.
            Some(note) => text = if text.is_empty() { note } else { format!("{text}\n{note}") },
            None => pictures.push(image_part(image)),
        }
    }
    if text.is_empty() {
        text = "(see the picture)".into();
    }
    let mut function = function_header(outcome.call, outcome.same_model);
    function.insert("response".into(), if failed { json!({"error": text}) } else { json!({"output": text}) });
    if thinking::is_signed(model) && !pictures.is_empty() {
        function.insert("parts".into(), Value::Array(pictures));
        return vec![json!({"functionResponse": function})];
    }
    let mut all = vec![json!({"functionResponse": function})];
    all.extend(pictures);
    all
}
