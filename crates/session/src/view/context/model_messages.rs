//! The messages of a context in the four roles that models know.
//!
//! Summaries and messages of extensions become messages of the user; unknown roles are left out.

use relaycode_llm::message::{AssistantContent, UserContent, UserMessage};
use relaycode_llm::{Message, TokenUsage};
use serde::Deserialize;
use serde_json::Value;

use super::content_text;
use crate::SessionContext;

impl SessionContext {
    /// Failed and aborted answers are included: the sender decides about them.
    pub fn to_model_messages(&self) -> Vec<Message> {
        self.to_model_entries().into_iter().map(|(_, message)| message).collect()
    }

    /// Each message with its entry. Answers that counted another context than this one have no count.
    pub fn to_model_entries(&self) -> Vec<(String, Message)> {
        let entries = self.messages.iter().enumerate().filter_map(|(at, value)| {
            let mut message = to_model_message(value)?;
            if let (Message::Assistant(answer), true) = (&mut message, at < self.counted_from) {
                answer.usage = TokenUsage::default();
            }
            Some((self.sources.get(at).cloned().unwrap_or_default(), message))
        });
        entries.collect()
    }
}

fn to_model_message(value: &Value) -> Option<Message> {
    let words = |text: String| Some(user(vec![UserContent::text(text)], value));
    match value.get("role")?.as_str()? {
        "user" | "developer" | "assistant" | "toolResult" => parse_known_role(value),
        "custom" | "hookMessage" => custom_to_user(value),
        "branchSummary" => words(format!(
            "The conversation came back here from another branch. What happened there, in short:\n\n<summary>\n{}\n</summary>",
            text(value, "summary")
        )),
        "compactionSummary" => words(format!(
            "What was said before this point is summed up here in place of the messages themselves:\n\n<summary>\n{}\n</summary>",
            text(value, "summary")
        )),
        "bashExecution" => shell_to_text(value).and_then(words),
        _ => None,
    }
}

/// Unknown pieces of content are left out, not the message.
fn parse_known_role(value: &Value) -> Option<Message> {
    // From what it borrows: a long conversation is copied once, not twice.
    if let Ok(message) = Message::deserialize(value) {
        return Some(message);
    }
    let mut value = value.clone();
    let pieces = value.get_mut("content").and_then(Value::as_array_mut)?;
    let role_of_pieces = |piece: &Value| {
        UserContent::deserialize(piece).is_ok() || AssistantContent::deserialize(piece).is_ok()
    };
    pieces.retain(role_of_pieces);
    serde_json::from_value(value).ok()
}

fn custom_to_user(value: &Value) -> Option<Message> {
    let content = match value.get("content")? {
        Value::String(text) => vec![UserContent::text(text.as_str())],
        Value::Array(pieces) => {
            pieces.iter().filter_map(|piece| serde_json::from_value(piece.clone()).ok()).collect()
        }
        _ => return None,
    };
    (!content.is_empty()).then(|| user(content, value))
}

/// A command that a person ran beside the conversation, with its output.
fn shell_to_text(value: &Value) -> Option<String> {
    if value.get("excludeFromContext").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let command = value.get("command")?.as_str()?;
    let output = value.get("output").map(content_text).unwrap_or_default();
    let code = match value.get("exitCode").and_then(Value::as_i64) {
        Some(0) | None => String::new(),
        Some(code) => format!("\n(exit code {code})"),
    };
    Some(format!("I ran `{command}`. It printed:\n\n```\n{output}\n```{code}"))
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn user(content: Vec<UserContent>, value: &Value) -> Message {
    let timestamp = value.get("timestamp").and_then(Value::as_i64).unwrap_or(0);
    Message::User(UserMessage { content, timestamp })
}
