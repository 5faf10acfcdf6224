//! Messages, as they are sent, streamed and kept. The names of roles, kinds and fields are those of the
//! session file, so a message is written there as it is.
//!
//! Reading is lenient where older files differ (a bare string for content, a missing usage); writing has
//! one form.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    User(UserMessage),
    /// From the program itself: sent with the developer role if there is one, otherwise as the user's.
    Developer(UserMessage),
    Assistant(AssistantMessage),
    /// A tool's result.
    ToolResult(ToolResultMessage),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// Text and images, in order.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<UserContent>,
    /// In milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// A piece of what a person or a tool said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum UserContent {
    Text(TextContent),
    Image(ImageContent),
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextContent {
    pub text: String,
    /// The provider wants this back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_signature: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageContent {
    /// Base64; in a session file also `blob:sha256:…`.
    pub data: String,
    /// `image/png` and the like.
    pub mime_type: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AssistantMessage {
    /// In the order in which the pieces began.
    pub content: Vec<AssistantContent>,
    /// The wire, for example `anthropic-messages`.
    pub api: String,
    /// For example `anthropic`.
    pub provider: String,
    pub model: String,
    /// The provider's own id for this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    pub usage: TokenUsage,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// For [`StopReason::Error`] and [`StopReason::Aborted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub timestamp: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AssistantContent {
    Text(TextContent),
    /// What the model thought before.
    Thinking(ThinkingContent),
    ToolCall(ToolCall),
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingContent {
    /// The text that the provider shows; may be empty.
    pub thinking: String,
    /// The provider wants this back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// The provider hides the text; only the signature counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// A tool that a model wants to run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The result refers to it. On the Responses wire `call_id|item_id`.
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The provider wants this back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
}

/// A tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call that it answers.
    pub tool_call_id: String,
    #[serde(default)]
    pub tool_name: String,
    /// Text and images, in order.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<UserContent>,
    /// For the user interface; the model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// It failed.
    #[serde(default)]
    pub is_error: bool,
    /// In milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model was done.
    #[default]
    Stop,
    /// It reached its output limit.
    Length,
    /// It waits for tools.
    ToolUse,
    Error,
    /// Cancelled.
    Aborted,
}

/// Tokens and money. `input` excludes `cache_read` and `cache_write`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenUsage {
    /// Read at the full price.
    pub input: u64,
    /// Thinking included.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into it.
    pub cache_write: u64,
    pub total_tokens: u64,
    pub cost: UsageCost,
}

/// In US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageCost {
    /// For [`TokenUsage::input`].
    pub input: f64,
    /// For [`TokenUsage::output`].
    pub output: f64,
    /// For [`TokenUsage::cache_read`].
    pub cache_read: f64,
    /// For [`TokenUsage::cache_write`].
    pub cache_write: f64,
    pub total: f64,
}

impl Message {
    /// Of a person or a tool; empty for a model's.
    pub fn pieces(&self) -> &[UserContent] {
        match self {
            Message::User(message) | Message::Developer(message) => &message.content,
            Message::ToolResult(message) => &message.content,
            Message::Assistant(_) => &[],
        }
    }
}

impl UserMessage {
    pub fn text(text: impl Into<String>, timestamp: i64) -> UserMessage {
        UserMessage { content: vec![UserContent::text(text)], timestamp }
    }
}

impl ToolResultMessage {
    /// The result of `call`, as one text.
    pub fn text(call: &ToolCall, text: impl Into<String>, is_error: bool, now: i64) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: vec![UserContent::text(text)],
            details: None,
            is_error,
            timestamp: now,
        }
    }

    /// As a model sees it.
    pub fn without_details(&self) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: self.tool_call_id.clone(),
            tool_name: self.tool_name.clone(),
            content: self.content.clone(),
            details: None,
            is_error: self.is_error,
            timestamp: self.timestamp,
        }
    }
}

impl Message {
    /// As a model sees it: without what is for the user interface.
    pub fn without_details(&self) -> Message {
        match self {
            Message::ToolResult(result) => Message::ToolResult(result.without_details()),
            Message::User(_) | Message::Developer(_) | Message::Assistant(_) => self.clone(),
        }
    }
}

impl UserContent {
    pub fn text(text: impl Into<String>) -> UserContent {
        UserContent::Text(TextContent { text: text.into(), text_signature: None })
    }
}

impl AssistantMessage {
    /// Without thinking and tool calls; pieces are separated by a line end.
    pub fn text(&self) -> String {
        let pieces = self.content.iter().filter_map(|content| match content {
            AssistantContent::Text(text) => Some(text.text.as_str()),
            AssistantContent::Thinking(_) | AssistantContent::ToolCall(_) => None,
        });
        pieces.collect::<Vec<_>>().join("\n")
    }

    /// The tools that it wants to run.
    /// Gives calls ids of their own where a provider used one twice, in this answer or in `earlier` ones: results are found by
    /// them, and no provider takes a conversation in which they repeat.
    pub fn rename_repeated_calls<'a>(&mut self, earlier: impl Iterator<Item = &'a str>) {
        // On one wire the id of an item follows the call's own.
        let own = |id: &str| id.split('|').next().unwrap_or_default().to_string();
        let mut taken: HashSet<String> = earlier.map(own).collect();
        for content in &mut self.content {
            let AssistantContent::ToolCall(call) = content else { continue };
            let first = own(&call.id);
            let mut id = first.clone();
            for number in 2.. {
                if taken.insert(id.clone()) {
                    break;
                }
                id = format!("{first}_{number}");
            }
            if id != first {
                call.id = format!("{id}{}", &call.id[first.len()..]);
            }
        }
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|content| match content {
            AssistantContent::ToolCall(call) => Some(call),
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
        })
    }
}

/// Content is a list of pieces, or a string, which is one piece of text.
fn text_or_blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<UserContent>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrBlocks {
        Text(String),
        Blocks(Vec<UserContent>),
    }
    Ok(match TextOrBlocks::deserialize(from)? {
        TextOrBlocks::Text(text) => vec![UserContent::text(text)],
        TextOrBlocks::Blocks(blocks) => blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_the_session_format_is_read_and_written_by_its_names() {
        let text = r#"{"role":"assistant","provider":"anthropic","model":"m","content":[{"type":"text","text":"Done."},
            {"type":"toolCall","id":"t","name":"read","arguments":{"path":"a"}}],
            "usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"timestamp":1760000000000}"#;
        let Message::Assistant(message) = serde_json::from_str(text).unwrap() else { panic!("another role") };
        assert_eq!((message.text().as_str(), message.usage.input), ("Done.", 100));
        assert_eq!(message.tool_calls().count(), 1);
        let written = serde_json::to_value(Message::Assistant(message)).unwrap();
        assert_eq!(written["role"], "assistant");
        assert_eq!(written["stopReason"], "stop");
        assert_eq!(written["content"][1]["type"], "toolCall");
    }

    #[test]
    fn content_may_be_a_bare_string() {
        let Message::User(message) = serde_json::from_str(r#"{"role":"user","content":"hi"}"#).unwrap()
        else {
            panic!("another role")
        };
        assert_eq!(message.content, [UserContent::text("hi")]);
    }
}
