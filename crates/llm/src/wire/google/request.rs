//! The body of a request to Google Generative AI.
//!
//! Invariant: roles alternate, every call has its response in the next content, and signed content goes
//! back only to the model that signed it, on the same part.

use serde_json::{Map, Value, json};

use super::reader::is_generated_id;
use super::thinking;
use crate::message::{AssistantContent, ImageContent, ToolCall};
use crate::models::model::Model;
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{ChatRequest, Tool, ToolChoice, WireCall};
use crate::wire::history::{self, HistoryAnswer, HistoryPart, HistoryToolResult, HistoryTurn};
use crate::wire::picture::{self, ImageLimits};

/// Replaces the signature on calls that the model did not sign itself
/// (ai.google.dev/gemini-api/docs/thought-signatures).
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Accepted images (ai.google.dev/gemini-api/docs/image-understanding); a request has at most 20 MB.
const PICTURES: ImageLimits = ImageLimits {
    kinds: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    bytes: 20 << 20,
    side: u32::MAX,
};

/// Not changeable by `extraBody`.
const FIXED: &str = "contents";

/// Used where the person would have to speak and did not.
const GO_ON: &str = "(go on)";

pub(super) fn body(call: &WireCall<'_>) -> Value {
    let WireCall { model, request, .. } = call;
    let mut body = json!({"contents": contents(model, request)});
    if let Some(system) = request.system.as_deref().filter(|system| !system.trim().is_empty()) {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body["tools"] = json!([{"functionDeclarations": declarations}]);
        if let Some(choice) = choice(&request.tool_choice) {
            body["toolConfig"] = json!({"functionCallingConfig": choice});
        }
    }
    let mut config = Map::new();
    let most = request.max_tokens.unwrap_or(model.max_tokens).min(model.max_tokens);
    if most > 0 {
        config.insert("maxOutputTokens".into(), most.into());
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), temperature.into());
    }
    if let Some(thinking) = thinking::config(model, request.thinking) {
        config.insert("thinkingConfig".into(), thinking);
    }
    if !config.is_empty() {
        body["generationConfig"] = Value::Object(config);
    }
    for (name, value) in model.compat.extra_body.iter().flatten() {
        if name != FIXED {
            body[name.as_str()] = value.clone();
        }
    }
    body
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

fn contents(model: &Model, request: &ChatRequest) -> Vec<Value> {
    let mut contents = GoogleContents::default();
    for turn in history::turns(model, &request.messages) {
        match turn {
            HistoryTurn::User(content) | HistoryTurn::Developer(content) => {
                let parts = history::parts(model, content);
                contents.push("user", parts.iter().map(part).collect());
            }
            HistoryTurn::Answer(answer) => contents.push("model", answer_parts(model, &answer)),
            HistoryTurn::ToolResult(outcome) => contents.push("user", result_parts(model, &outcome)),
            HistoryTurn::OrphanResult(result) => {
                let parts = history::orphan_parts(model, result);
                contents.push("user", parts.iter().map(part).collect());
            }
        }
    }
    contents.finish()
}

/// Contents with alternating roles.
#[derive(Default)]
struct GoogleContents {
    all: Vec<(&'static str, Vec<Value>)>,
}

impl GoogleContents {
    fn push(&mut self, role: &'static str, mut parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        match self.all.last_mut() {
            Some((last, content)) if *last == role => content.append(&mut parts),
            None if role == "model" => {
                self.all.push(("user", vec![json!({"text": GO_ON})]));
                self.all.push((role, parts));
            }
            _ => self.all.push((role, parts)),
        }
    }

    fn finish(mut self) -> Vec<Value> {
        if self.all.last().is_none_or(|(role, _)| *role == "model") {
            self.push("user", vec![json!({"text": GO_ON})]);
        }
        self.all.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
    }
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
    let images = parts.iter().filter_map(|part| match part {
        HistoryPart::Image(image) => Some(*image),
        HistoryPart::Text(_) => None,
    });
    let mut pictures = Vec::new();
    for image in images {
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
