//! What a model gets when a conversation continues: the messages from the root to the leaf, and the
//! settings in force there.
//!
//! Only relevant entries are read: those with settings, and the messages from what the latest compaction
//! kept on.

mod model_messages;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::file::parse_millis;
use crate::{EntryBody, EntryRole, EntryRow, EntryType, SessionEntry, SessionError};

/// The state of a conversation at a leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionContext {
    /// `off` if never set.
    pub thinking_level: String,
    pub service_tier: Option<String>,
    /// The model for each purpose, as `provider/id`. `default` is there as soon as one was chosen or has
    /// answered.
    pub models: BTreeMap<String, String>,
    /// Each once, in order.
    pub injected_ttsr_rules: Vec<String>,
    /// The MCP tools that are switched on; `None` if never chosen.
    pub selected_mcp_tools: Option<Vec<String>>,
    /// `none` if never set.
    pub mode: String,
    pub mode_data: Option<Value>,
    /// With the roles of the session file and `custom`, `branchSummary`, `compactionSummary`.
    pub messages: Vec<Value>,
    /// The entry of each message.
    pub sources: Vec<String>,
    /// How many images are not in the store any more; a text replaces each.
    pub missing_images: usize,
}

impl Default for SessionContext {
    fn default() -> SessionContext {
        SessionContext {
            thinking_level: "off".into(),
            service_tier: None,
            models: BTreeMap::new(),
            injected_ttsr_rules: Vec::new(),
            selected_mcp_tools: None,
            mode: "none".into(),
            mode_data: None,
            messages: Vec::new(),
            sources: Vec::new(),
            missing_images: 0,
        }
    }
}

/// Reads the entry of a row.
pub(crate) type ReadEntryFn<'r> = dyn FnMut(u32) -> Result<SessionEntry, SessionError> + 'r;

impl SessionContext {
    /// The context at the end of a path.
    pub(crate) fn build(
        rows: &[EntryRow],
        path: &[u32],
        read: &mut ReadEntryFn<'_>,
    ) -> Result<SessionContext, SessionError> {
        let mut context = SessionContext::default();
        let on_path =
            || path.iter().filter_map(|number| rows.get(*number as usize).map(|row| (*number, row)));
        let latest = |kind: EntryType| path.iter().copied().rfind(|number| is(rows, *number, kind));

        let once = [
            EntryType::ThinkingLevelChange,
            EntryType::ServiceTierChange,
            EntryType::McpToolSelection,
            EntryType::ModeChange,
        ];
        for number in once.into_iter().filter_map(latest) {
            context.take_setting(read(number)?.body);
        }
        let every = |row: &EntryRow| matches!(row.kind, EntryType::ModelChange | EntryType::TtsrInjection);
        for (number, _) in on_path().filter(|(_, row)| every(row)) {
            context.take_setting(read(number)?.body);
        }
        if !context.models.contains_key("default") {
            let answers = path.iter().rev().filter(|number| {
                rows.get(**number as usize)
                    .is_some_and(|row| row.kind == EntryType::Message && row.role == EntryRole::Assistant)
            });
            for number in answers {
                if let Some(model) = answering_model(&read(*number)?.body) {
                    context.models.insert("default".into(), model);
                    break;
                }
            }
        }

        let mut from = 0;
        let compaction = path.iter().rposition(|number| is(rows, *number, EntryType::Compaction));
        if let Some(at) = compaction {
            let entry = read(path[at])?;
            from = at;
            if let EntryBody::Compaction { first_kept_entry_id, .. } = &entry.body {
                let kept = path[..at].iter().position(|number| {
                    rows.get(*number as usize).is_some_and(|row| *row.id == **first_kept_entry_id)
                });
                from = kept.unwrap_or(at);
                context.take_message(entry);
            } else {
                // A compaction without a summary hides nothing.
                from = if from == at { 0 } else { from };
            }
        }
        for number in &path[from..] {
            let Some(row) = rows.get(*number as usize) else { continue };
            if matches!(row.kind, EntryType::Message | EntryType::CustomMessage | EntryType::BranchSummary) {
                context.take_message(read(*number)?);
            }
        }
        Ok(context)
    }

    fn take_setting(&mut self, body: EntryBody) {
        match body {
            EntryBody::ThinkingLevelChange { thinking_level } => {
                self.thinking_level = thinking_level.unwrap_or_else(|| "off".into());
            }
            EntryBody::ServiceTierChange { service_tier } => self.service_tier = service_tier,
            EntryBody::McpToolSelection { selected_tool_names } => {
                self.selected_mcp_tools = Some(selected_tool_names);
            }
            EntryBody::ModeChange { mode, data } => (self.mode, self.mode_data) = (mode, data),
            EntryBody::ModelChange { model, role } => {
                self.models.insert(role.unwrap_or_else(|| "default".into()), model);
            }
            EntryBody::TtsrInjection { injected_rules } => {
                for rule in injected_rules {
                    if !self.injected_ttsr_rules.contains(&rule) {
                        self.injected_ttsr_rules.push(rule);
                    }
                }
            }
            _ => {}
        }
    }

    fn take_message(&mut self, entry: SessionEntry) {
        let timestamp = parse_millis(&entry.timestamp);
        let message = match entry.body {
            EntryBody::Message { message } => message,
            EntryBody::CustomMessage { custom_type, content, display, details, attribution } => {
                let mut fields = Map::new();
                fields.insert("role".into(), "custom".into());
                fields.insert("customType".into(), custom_type.into());
                fields.insert("content".into(), content);
                fields.insert("display".into(), display.into());
                fields.extend(details.map(|details| ("details".to_string(), details)));
                fields.extend(attribution.map(|who| ("attribution".to_string(), Value::String(who))));
                fields.insert("timestamp".into(), timestamp.into());
                Value::Object(fields)
            }
            EntryBody::BranchSummary { from_id, summary, .. } => {
                json!({ "role": "branchSummary", "summary": summary, "fromId": from_id, "timestamp": timestamp })
            }
            EntryBody::Compaction { summary, short_summary, tokens_before, .. } => {
                let mut message =
                    json!({ "role": "compactionSummary", "summary": summary, "tokensBefore": tokens_before });
                if let Some(short) = short_summary {
                    message["shortSummary"] = short.into();
                }
                message["timestamp"] = timestamp.into();
                message
            }
            // A known type with invalid fields is kept in the file, but has no meaning.
            _ => return,
        };
        self.messages.push(message);
        self.sources.push(entry.id);
    }
}

fn is(rows: &[EntryRow], number: u32, kind: EntryType) -> bool {
    rows.get(number as usize).is_some_and(|row| row.kind == kind)
}

/// The model that answered, as `provider/id`.
fn answering_model(body: &EntryBody) -> Option<String> {
    let EntryBody::Message { message } = body else { return None };
    let provider = message.get("provider")?.as_str()?;
    let model = message.get("model")?.as_str()?;
    (!provider.is_empty() && !model.is_empty()).then(|| format!("{provider}/{model}"))
}

/// The text of a message's content: a string, or the texts among its pieces.
pub fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => {
            let texts = pieces.iter().filter_map(|piece| match piece {
                Value::String(text) => Some(text.as_str()),
                piece if piece.get("type").and_then(Value::as_str) == Some("text") => {
                    piece.get("text")?.as_str()
                }
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
