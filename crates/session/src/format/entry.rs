//! One entry of a session: a line of the file behind the header.
//!
//! What this version of relay does not know is kept as it stands ([`EntryBody::Other`]). Messages are kept as JSON too: roles and fields
//! that are not ours survive, and what goes to a model is read from them when it is needed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEntry {
    /// Its own name, eight characters where relay made it.
    pub id: String,
    /// The entry it follows; `None` for a root.
    pub parent_id: Option<String>,
    /// When, RFC 3339.
    pub timestamp: String,
    /// What it says.
    pub body: EntryBody,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EntryBody {
    /// A message of the conversation: [`relaycode_llm::Message`], or a role of an agent's own.
    Message {
        /// The message.
        message: Value,
    },
    /// Another model from here on.
    ModelChange {
        /// `provider/id`
        model: String,
        /// For what; none is `default`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// More or less thinking from here on.
    ThinkingLevelChange {
        /// The level's name.
        #[serde(default)]
        thinking_level: Option<String>,
    },
    /// Another service tier from here on.
    ServiceTierChange {
        /// The tier; `None` for none.
        #[serde(default)]
        service_tier: Option<String>,
    },
    /// What came before is summed up.
    Compaction {
        /// In place of it.
        summary: String,
        /// In a few words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        short_summary: Option<String>,
        /// The first entry that is still given in full.
        #[serde(default)]
        first_kept_entry_id: String,
        /// Tokens before it.
        #[serde(default)]
        tokens_before: u64,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// What extensions want kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preserve_data: Option<Value>,
        /// An extension made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// What was left behind on another branch.
    BranchSummary {
        /// Where the branch begins; `root` for the very beginning.
        from_id: String,
        /// What happened there.
        summary: String,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// An extension made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// Kept for an extension; no model sees it.
    Custom {
        /// Whose.
        custom_type: String,
        /// What.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Said by an extension; a model sees it.
    CustomMessage {
        /// Whose.
        custom_type: String,
        /// A string, or pieces of text and images.
        content: Value,
        /// People see it too.
        #[serde(default)]
        display: bool,
        /// More about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// `user` or `agent`: who wanted it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attribution: Option<String>,
    },
    /// A name for an entry; none takes it away.
    Label {
        /// Which entry.
        target_id: String,
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Rules that were put in while a model was speaking.
    TtsrInjection {
        /// Their names.
        injected_rules: Vec<String>,
    },
    /// The tools of other servers that are switched on.
    McpToolSelection {
        /// Their names.
        selected_tool_names: Vec<String>,
    },
    /// What an agent was started with.
    SessionInit {
        /// What it was told first.
        system_prompt: String,
        /// What it is to do.
        #[serde(default)]
        task: String,
        /// What it may call.
        #[serde(default)]
        tools: Vec<String>,
        /// What its answer must look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_schema: Option<Value>,
    },
    /// Another mode from here on.
    ModeChange {
        /// Its name.
        mode: String,
        /// What belongs to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Something that this version does not know, as it stands.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// Why a line is no entry.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but no object with a `type`.
    #[error("it is not an object with a type")]
    NoType,
    /// It has no `id`.
    #[error("it has no id")]
    NoId,
}

impl SessionEntry {
    /// Reads a line. Fields of a known type that are of the wrong kind make it [`EntryBody::Other`]: they are kept, not guessed at.
    ///
    /// # Errors
    /// What keeps it from being an entry at all.
    pub fn from_line(line: &[u8]) -> Result<SessionEntry, EntryError> {
        SessionEntry::from_object(serde_json::from_slice(line)?)
    }

    /// Reads an entry out of JSON.
    ///
    /// # Errors
    /// What keeps it from being an entry at all.
    pub fn from_object(value: Value) -> Result<SessionEntry, EntryError> {
        let Value::Object(mut fields) = value else { return Err(EntryError::NoType) };
        if !fields.get("type").is_some_and(Value::is_string) {
            return Err(EntryError::NoType);
        }
        let Some(Value::String(id)) = fields.shift_remove("id") else { return Err(EntryError::NoId) };
        let parent_id = match fields.shift_remove("parentId") {
            Some(Value::String(parent)) => Some(parent),
            _ => None,
        };
        let timestamp = match fields.shift_remove("timestamp") {
            Some(Value::String(timestamp)) => timestamp,
            _ => String::new(),
        };
        let body = match serde_json::from_value(Value::Object(fields.clone())) {
            Ok(body) => body,
            Err(_) => EntryBody::Other(fields),
        };
        Ok(SessionEntry { id, parent_id, timestamp, body })
    }

    /// The entry as JSON, in the order in which it is written.
    pub fn to_object(&self) -> Value {
        let mut fields = match serde_json::to_value(&self.body) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let rest = fields.split_off_type();
        fields.insert("id".into(), Value::String(self.id.clone()));
        fields.insert("parentId".into(), self.parent_id.clone().map_or(Value::Null, Value::String));
        fields.insert("timestamp".into(), Value::String(self.timestamp.clone()));
        fields.extend(rest);
        Value::Object(fields)
    }
}

/// A name for an entry: eight characters.
pub(crate) fn random_entry_id() -> String {
    let mut name = uuid::Uuid::new_v4().simple().to_string();
    name.truncate(8);
    name
}

/// Leaves only the type in a body's fields.
trait TypeFieldExt {
    fn split_off_type(&mut self) -> Map<String, Value>;
}

impl TypeFieldExt for Map<String, Value> {
    fn split_off_type(&mut self) -> Map<String, Value> {
        let kind = self.shift_remove("type").unwrap_or(Value::Null);
        let rest = std::mem::take(self);
        self.insert("type".into(), kind);
        rest
    }
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
