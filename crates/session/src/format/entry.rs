//! One entry of a session: a line of the file after the header.
//!
//! Entries that this version does not know are kept as they are ([`EntryBody::Other`]). Messages are kept
//! as JSON too: foreign roles and fields survive, and what goes to a model is read from them when it is
//! needed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct SessionEntry {
    /// Eight characters if relay made it.
    pub id: String,
    /// `None` for a root.
    pub parent_id: Option<String>,
    /// RFC 3339.
    pub timestamp: String,
    pub body: EntryBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EntryBody {
    /// A message of the conversation: [`relaycode_llm::Message`], or an agent's own role.
    Message { message: Value },
    ModelChange {
        /// `provider/id`
        model: String,
        /// What the model is for; `None` means `default`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    ThinkingLevelChange {
        #[serde(default)]
        thinking_level: Option<String>,
    },
    ServiceTierChange {
        /// `None` for no tier.
        #[serde(default)]
        service_tier: Option<String>,
    },
    /// Summarises what came before.
    Compaction {
        /// Replaces it.
        summary: String,
        /// In a few words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        short_summary: Option<String>,
        /// The first entry that is still sent in full.
        #[serde(default)]
        first_kept_entry_id: String,
        /// Tokens of the context before it.
        #[serde(default)]
        tokens_before: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// Kept for extensions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preserve_data: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// Summarises an abandoned branch.
    BranchSummary {
        /// Where the branch begins; `root` for the very beginning.
        from_id: String,
        /// What happened there.
        summary: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// Kept for an extension; no model sees it.
    Custom {
        custom_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Said by an extension; a model sees it.
    CustomMessage {
        custom_type: String,
        /// A string, or pieces of text and images.
        content: Value,
        /// Also shown to people.
        #[serde(default)]
        display: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// `user` or `agent`: who wanted it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attribution: Option<String>,
    },
    /// A label for an entry; `None` removes it.
    Label {
        target_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Rules injected while a model was speaking.
    TtsrInjection { injected_rules: Vec<String> },
    /// The MCP tools that are switched on.
    McpToolSelection { selected_tool_names: Vec<String> },
    /// What an agent was started with.
    SessionInit {
        system_prompt: String,
        #[serde(default)]
        task: String,
        /// Names of the tools it may call.
        #[serde(default)]
        tools: Vec<String>,
        /// The required form of its answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_schema: Option<Value>,
    },
    ModeChange {
        mode: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Unknown to this version; kept as it is.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// Why a line is not an entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but not an object with a `type`.
    #[error("it is not an object with a type")]
    NoType,
    #[error("it has no id")]
    NoId,
}

impl SessionEntry {
    /// Fields of the wrong type make a known entry [`EntryBody::Other`]: they are kept, not guessed at.
    pub fn from_line(line: &[u8]) -> Result<SessionEntry, EntryError> {
        SessionEntry::from_object(serde_json::from_slice(line)?)
    }

    pub fn from_object(value: Value) -> Result<SessionEntry, EntryError> {
        let Value::Object(mut fields) = value else { return Err(EntryError::NoType) };
        if !fields.get("type").is_some_and(Value::is_string) {
            return Err(EntryError::NoType);
        }
        let Some(Value::String(id)) = fields.shift_remove("id") else { return Err(EntryError::NoId) };
        let mut text = |name: &str| match fields.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (parent_id, timestamp) = (text("parentId"), text("timestamp").unwrap_or_default());
        let body = serde_json::from_value(Value::Object(fields.clone()));
        let body = body.unwrap_or_else(|_| EntryBody::Other(fields));
        Ok(SessionEntry { id, parent_id, timestamp, body })
    }

    /// In the order of the file format.
    pub fn to_object(&self) -> Value {
        let mut body = serde_json::to_value(&self.body).unwrap_or_default();
        let kind = body.as_object_mut().and_then(|fields| fields.shift_remove("type"));
        let mut entry =
            json!({ "type": kind, "id": self.id, "parentId": self.parent_id, "timestamp": self.timestamp });
        if let (Value::Object(fields), Value::Object(rest)) = (&mut entry, body) {
            fields.extend(rest);
        }
        entry
    }
}

/// Eight characters.
pub(crate) fn random_entry_id() -> String {
    let mut name = uuid::Uuid::new_v4().simple().to_string();
    name.truncate(8);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_comes_back_as_it_was_written() {
        for line in [
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"t","message":{"role":"later","x":[1]}}"#,
            r#"{"type":"model_change","id":"a2","parentId":"a1","timestamp":"t","model":"openai/m","role":"default"}"#,
            r#"{"type":"label","id":"a3","parentId":"a2","timestamp":"t","targetId":"a1"}"#,
            r#"{"type":"mode_change","id":"a4","parentId":"a3","timestamp":"t","mode":"plan","data":{"planFile":"p"}}"#,
            r#"{"type":"from_the_future","id":"a5","parentId":"a4","timestamp":"t","what":{"ever":true}}"#,
        ] {
            let entry = SessionEntry::from_line(line.as_bytes()).unwrap();
            assert_eq!(entry.to_object().to_string(), line);
        }
    }

    #[test]
    fn a_known_type_with_the_wrong_fields_is_kept_as_it_stands() {
        let line = r#"{"type":"compaction","id":"a","parentId":null,"timestamp":"t","summary":7}"#;
        let entry = SessionEntry::from_line(line.as_bytes()).unwrap();
        assert!(matches!(entry.body, EntryBody::Other(_)));
        assert_eq!(entry.to_object().to_string(), line);
    }
}
