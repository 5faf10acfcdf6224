//! The conversation as chat messages.
//!
//! Invariant: a tool's result directly follows the answer that called it. Images have no place there, so
//! they follow as a user's message after all results of the answer.

use bytes::Bytes;
use serde_json::{Value, json};

use super::compat::CompletionsCompat;
use crate::message::{AssistantContent, ImageContent, ThinkingContent, ToolCall};
use crate::wire::history::{self, HistoryAnswer, HistoryPart, HistoryToolResult, HistoryTurn};
use crate::wire::ids;
use crate::wire::kept_turns::TurnWriter;
use crate::wire::request_body::{JsonRope, RequestBody, json_bytes};
use crate::{models::model::Model, request::ChatRequest};

/// Longest id of a call that every server accepts.
const CALL_ID_MOST: usize = 40;

/// Separates a tool's result from a user's message where something must.
const BETWEEN: &str = "I have read the results.";

pub(super) fn messages(model: &Model, request: &ChatRequest, switches: &CompletionsCompat<'_>) -> JsonRope {
    let mut kept = TurnWriter::new("openai-completions", model, request, 0);
    let mut writer = CompletionsWriter::new(model, switches);
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        let role = if switches.developer_role && model.reasoning { "developer" } else { "system" };
        writer.all.push(json_bytes(&json!({"role": role, "content": system})));
    }
    for keyed in history::turns(model, &request.messages) {
        let pieces = kept.pieces(&keyed, || {
            let made = match &keyed.turn {
                HistoryTurn::ToolResult(outcome) => Some(writer.outcome_message(outcome)),
                HistoryTurn::Answer(answer) => Some(writer.answer_message(answer)),
                HistoryTurn::User(content) => message("user", &history::parts(model, content)),
                HistoryTurn::Developer(content) => {
                    let role = if switches.developer_role { "developer" } else { "user" };
                    message(role, &history::parts(model, content))
                }
                HistoryTurn::OrphanResult(result) => message("user", &history::orphan_parts(model, result)),
            };
            made.into_iter().collect()
        });
        match &keyed.turn {
            HistoryTurn::ToolResult(outcome) => writer.push_outcome(outcome, &pieces),
            HistoryTurn::Answer(_) => writer.push_answer(&pieces),
            HistoryTurn::User(_) | HistoryTurn::Developer(_) | HistoryTurn::OrphanResult(_) => {
                writer.show_images();
                writer.push_said(&pieces);
            }
        }
    }
    writer.show_images();
    JsonRope::list(writer.all)
}

struct CompletionsWriter<'a> {
    model: &'a Model,
    switches: &'a CompletionsCompat<'a>,
    all: Vec<Bytes>,
    /// The last one is a tool's result.
    is_after_result: bool,
    /// Images from tools that are not shown yet.
    images: Vec<&'a ImageContent>,
}

impl<'a> CompletionsWriter<'a> {
    fn new(model: &'a Model, switches: &'a CompletionsCompat<'a>) -> CompletionsWriter<'a> {
        CompletionsWriter { model, switches, all: Vec::new(), is_after_result: false, images: Vec::new() }
    }

    /// A message that neither the model nor a tool wrote, if there is one.
    fn push_said(&mut self, pieces: &[Bytes]) {
        if pieces.is_empty() {
            return;
        }
        if self.is_after_result && self.switches.assistant_after_tool_result {
            self.all.push(json_bytes(&json!({"role": "assistant", "content": BETWEEN})));
        }
        self.all.extend_from_slice(pieces);
        self.is_after_result = false;
    }

    fn push_answer(&mut self, pieces: &[Bytes]) {
        self.show_images();
        self.all.extend_from_slice(pieces);
        self.is_after_result = false;
    }

    fn push_outcome(&mut self, outcome: &HistoryToolResult<'a>, pieces: &[Bytes]) {
        self.images.extend(history::images(&outcome.parts(self.model)));
        self.all.extend_from_slice(pieces);
        self.is_after_result = true;
    }

    /// The images of the results before, as a message of the user.
    fn show_images(&mut self) {
        let images = std::mem::take(&mut self.images);
        if images.is_empty() {
            return;
        }
        let mut parts = vec![HistoryPart::Text("(the images that the tools gave back)".into())];
        parts.extend(images.into_iter().map(HistoryPart::Image));
        let shown: Vec<Bytes> = message("user", &parts).iter().map(json_bytes).collect();
        self.push_said(&shown);
    }

    fn answer_message(&self, answer: &HistoryAnswer<'_>) -> Value {
        let (mut texts, mut thoughts, mut calls, mut details) = (vec![], vec![], vec![], vec![]);
        for content in &answer.content {
            match content {
                AssistantContent::Text(text) => texts.push(text.text.as_str()),
                AssistantContent::Thinking(thinking) => {
                    thoughts.push(thinking.thinking.as_str());
                    details.extend(kept_details(thinking));
                }
                AssistantContent::ToolCall(call) => {
                    calls.push(json!({
                        "id": self.call_id(call, answer.same_model),
                        "type": "function",
                        "function": {
                            "name": call.name,
                            "arguments": Value::Object(call.arguments.clone()).to_string(),
                        },
                    }));
                    let kept = call.thought_signature.as_deref();
                    details.extend(kept.and_then(|kept| serde_json::from_str::<Value>(kept).ok()));
                }
            }
        }
        thoughts.retain(|thought| !thought.is_empty());
        let mut text = texts.join("\n");
        if self.switches.thinking_as_text && !thoughts.is_empty() {
            text = [thoughts.join("\n\n"), text].join("\n\n").trim_end().to_owned();
        }
        let mut message = RequestBody::default();
        message.set("role", "assistant");
        message.set("content", Some(text).filter(|text| !text.is_empty()));
        if answer.same_model && !self.switches.thinking_as_text {
            if self.switches.reasoning_details && !details.is_empty() {
                message.set("reasoning_details", details);
            } else if let Some(field) = self.switches.reasoning_content_field
                && !thoughts.is_empty()
            {
                message.set(
                    field,
                    thoughts.join(
                        "

",
                    ),
                );
            }
        }
        message.set_some("tool_calls", Some(calls).filter(|calls| !calls.is_empty()));
        json!(message)
    }

    fn outcome_message(&self, outcome: &HistoryToolResult<'_>) -> Value {
        let parts = outcome.parts(self.model);
        let mut text = history::joined_text(&parts);
        if text.is_empty() {
            "(an image follows)".clone_into(&mut text);
        }
        let id = self.call_id(outcome.call, outcome.same_model);
        let mut message = json!({"role": "tool", "tool_call_id": id, "content": text});
        if self.switches.tool_result_name {
            message["name"] = json!(outcome.call.name);
        }
        message
    }

    fn call_id(&self, call: &ToolCall, own: bool) -> String {
        // The part after the bar belongs to the Responses wire.
        let id = call.id.split('|').next().unwrap_or_default();
        if self.switches.mistral_tool_ids {
            ids::mistral_id(id)
        } else if own && !id.is_empty() {
            id.to_owned()
        } else {
            ids::fit_id(id, CALL_ID_MOST, "call_")
        }
    }
}

/// Nothing if nothing was said.
fn message(role: &str, parts: &[HistoryPart<'_>]) -> Option<Value> {
    let content = match parts {
        [] => return None,
        [HistoryPart::Text(text)] => json!(text),
        parts => parts.iter().map(part).collect(),
    };
    Some(json!({"role": role, "content": content}))
}

/// The details stored with thinking; other signatures are the name of a field.
fn kept_details(thinking: &ThinkingContent) -> Vec<Value> {
    let kept = thinking.thinking_signature.as_deref().filter(|kept| kept.starts_with('['));
    kept.and_then(|kept| serde_json::from_str(kept).ok()).unwrap_or_default()
}

fn part(part: &HistoryPart<'_>) -> Value {
    match part {
        HistoryPart::Text(text) => json!({"type": "text", "text": text}),
        HistoryPart::Image(image) => {
            json!({"type": "image_url", "image_url": {"url": history::data_url(image)}})
        }
    }
}
