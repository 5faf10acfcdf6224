//! The body of a request to Google Generative AI.
//!
//! Invariant: roles alternate, every call has its response in the content behind it, and what was signed goes back only to
//! the model that signed it, on the part on which it came.

use serde_json::{Map, Value, json};

use super::read::is_made_up;
use super::thinking;
use crate::message::{AssistantContent, Image, ToolCall};
use crate::model::Model;
use crate::request::{Call, Request, Tool, ToolChoice};
use crate::schema::{Dialect, normalise};
use crate::wire::history::{self, Answer, Outcome, Part, Turn};
use crate::wire::picture::{self, Rules};

/// What stands for a signature on calls that the model did not sign itself
/// (ai.google.dev/gemini-api/docs/thought-signatures).
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Pictures that are taken (ai.google.dev/gemini-api/docs/image-understanding); a request has at most 20 MB.
const PICTURES: Rules = Rules {
    kinds: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    bytes: 20 << 20,
    side: u32::MAX,
};

/// What `extraBody` cannot change: what is asked.
const FIXED: &str = "contents";

/// Stands where the person would have to speak and did not.
const GO_ON: &str = "(go on)";

pub(super) fn body(call: &Call<'_>) -> Value {
    let Call { model, request, .. } = call;
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
        "parametersJsonSchema": normalise(&tool.parameters, Dialect::Google).schema,
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

fn contents(model: &Model, request: &Request) -> Vec<Value> {
    let mut contents = Contents::default();
    for turn in history::turns(model, &request.messages) {
        match turn {
            Turn::User(content) | Turn::Developer(content) => {
                let parts = history::parts(model, content);
                contents.push("user", parts.iter().map(part).collect());
            }
            Turn::Answer(answer) => contents.push("model", said(model, &answer)),
            Turn::Outcome(outcome) => contents.push("user", response(model, &outcome)),
            Turn::Stray(result) => {
                let parts = history::stray(model, result);
                contents.push("user", parts.iter().map(part).collect());
            }
        }
    }
    contents.finish()
}

/// Contents in which the roles alternate.
#[derive(Default)]
struct Contents {
    all: Vec<(&'static str, Vec<Value>)>,
}

impl Contents {
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

fn part(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Image(image) => inline(image),
    }
}

fn inline(image: &Image) -> Value {
    if let Some(note) = picture::note(image, &PICTURES) {
        return json!({"text": note});
    }
    json!({"inlineData": {"mimeType": image.mime_type, "data": image.data}})
}

/// What a model answered. Thoughts go back only with their signature.
fn said(model: &Model, answer: &Answer<'_>) -> Vec<Value> {
    let mut parts = Vec::new();
    // Only the first call of a step needs a signature.
    let mut first = thinking::is_signed(model);
    for content in &answer.content {
        let (mut part, signature) = match content {
            AssistantContent::Text(text) => (json!({"text": text.text}), &text.text_signature),
            AssistantContent::Thinking(thought) => {
                if !answer.own || thought.thinking_signature.is_none() {
                    continue;
                }
                (json!({"text": thought.thinking, "thought": true}), &thought.thinking_signature)
            }
            AssistantContent::ToolCall(call) => {
                let mut function = named(call, answer.own);
                function.insert("args".into(), Value::Object(call.arguments.clone()));
                let mut part = json!({"functionCall": function});
                let unsigned = !answer.own || call.thought_signature.is_none();
                if std::mem::take(&mut first) && unsigned {
                    part["thoughtSignature"] = UNSIGNED.into();
                }
                (part, &call.thought_signature)
            }
        };
        if let Some(signature) = signature.as_deref().filter(|_| answer.own) {
            part["thoughtSignature"] = signature.into();
        }
        parts.push(part);
    }
    parts
}

/// A call's id goes back only to who gave it.
fn named(call: &ToolCall, own: bool) -> Map<String, Value> {
    let mut function = Map::new();
    if own && !is_made_up(&call.id) {
        function.insert("id".into(), call.id.clone().into());
    }
    function.insert("name".into(), call.name.clone().into());
    function
}

/// What became of a call. Pictures are part of the response where that is known, and stand behind it elsewhere.
fn response(model: &Model, outcome: &Outcome<'_>) -> Vec<Value> {
    let parts = outcome.parts(model);
    let failed = outcome.result.is_none_or(|result| result.is_error);
    let mut text = history::text(&parts);
    let images = parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(*image),
        Part::Text(_) => None,
    });
    let mut pictures = Vec::new();
    for image in images {
        match picture::note(image, &PICTURES) {
            // A response has room for pictures beside its text, and for nothing else.
            Some(note) => text = if text.is_empty() { note } else { format!("{text}\n{note}") },
            None => pictures.push(inline(image)),
        }
    }
    if text.is_empty() {
        text = "(see the picture)".into();
    }
    let mut function = named(outcome.call, outcome.own);
    function.insert("response".into(), if failed { json!({"error": text}) } else { json!({"output": text}) });
    if thinking::is_signed(model) && !pictures.is_empty() {
        function.insert("parts".into(), Value::Array(pictures));
        return vec![json!({"functionResponse": function})];
    }
    let mut all = vec![json!({"functionResponse": function})];
    all.extend(pictures);
    all
}
