//! What a model gets when a conversation continues: the messages from the root to the leaf, and the
//! settings in force there.
//!
//! Only relevant entries are read: those with settings, and the messages from what the latest compaction
//! kept on.

mod compacted_path;
mod model_messages;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use compacted_path::CompactedPath;

use crate::file::parse_millis;
use crate::format::compaction::cut_message;
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
    /// Answers among the messages before this one counted another context: it was compacted since, or outputs were cut.
    pub counted_from: usize,
    /// The compaction that the messages begin with.
    pub compaction: Option<ContextCompaction>,
    /// How many images are not in the store any more; a text replaces each.
    pub missing_images: usize,
}

/// What a compaction keeps beside its summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextCompaction {
    pub entry_id: String,
    pub details: Value,
    pub preserve_data: Value,
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
            counted_from: 0,
            compaction: None,
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
        let path = rows_of(rows, path);
        let mut context = SessionContext::read_settings(&path, read)?;
        context.read_messages(&path, read)?;
        Ok(context)
    }

    /// The same without a message.
    pub(crate) fn build_settings(
        rows: &[EntryRow],
        path: &[u32],
        read: &mut ReadEntryFn<'_>,
    ) -> Result<SessionContext, SessionError> {
        SessionContext::read_settings(&rows_of(rows, path), read)
    }

    fn read_settings(
        path: &[(u32, &EntryRow)],
        read: &mut ReadEntryFn<'_>,
    ) -> Result<SessionContext, SessionError> {
        let mut context = SessionContext::default();
        use EntryType::{McpToolSelection, ModeChange, ServiceTierChange, ThinkingLevelChange};
        let once = [ThinkingLevelChange, ServiceTierChange, McpToolSelection, ModeChange];
        for kind in once {
            if let Some((number, _)) = path.iter().rfind(|(_, row)| row.kind == kind) {
                context.take_setting(read(*number)?.body);
            }
        }
        let every = |row: &EntryRow| matches!(row.kind, EntryType::ModelChange | EntryType::TtsrInjection);
        for (number, _) in path.iter().filter(|(_, row)| every(row)) {
            context.take_setting(read(*number)?.body);
        }
        let is_answer = |row: &EntryRow| row.kind == EntryType::Message && row.role == EntryRole::Assistant;
        for (number, _) in path.iter().rev().filter(|(_, row)| is_answer(row)) {
            if context.models.contains_key("default") {
                break;
            }
            let model = answering_model(&read(*number)?.body);
            context.models.extend(model.map(|model| ("default".to_string(), model)));
        }
        Ok(context)
    }

    fn read_messages(
        &mut self,
        path: &[(u32, &EntryRow)],
        read: &mut ReadEntryFn<'_>,
    ) -> Result<(), SessionError> {
        let compacted = CompactedPath::find(path, read)?;
        if let Some(entry) = compacted.compaction {
            if let EntryBody::Compaction { details, preserve_data, .. } = &entry.body {
                self.compaction = Some(ContextCompaction {
                    entry_id: entry.id.clone(),
                    details: details.clone().unwrap_or_default(),
                    preserve_data: preserve_data.clone().unwrap_or_default(),
                });
            }
            self.take_message(entry);
        }
        for (at, (number, row)) in path.iter().enumerate().skip(compacted.from) {
            if matches!(row.kind, EntryType::Message | EntryType::CustomMessage | EntryType::BranchSummary) {
                let mut entry = read(*number)?;
                if let (EntryBody::Message { message }, Some(line)) =
                    (&mut entry.body, compacted.cuts.get(&*row.id))
                {
                    cut_message(message, line);
                }
                self.take_message(entry);
            }
            if at < compacted.behind_changes {
                self.counted_from = self.messages.len();
            }
        }
        Ok(())
    }

    fn take_setting(&mut self, body: EntryBody) {
        use EntryBody::*;
        match body {
            ThinkingLevelChange { thinking_level } => {
                self.thinking_level = thinking_level.unwrap_or_else(|| "off".into());
            }
            ServiceTierChange { service_tier } => self.service_tier = service_tier,
            McpToolSelection { selected_tool_names } => self.selected_mcp_tools = Some(selected_tool_names),
            ModeChange { mode, data } => (self.mode, self.mode_data) = (mode, data),
            ModelChange { model, role } => {
                self.models.insert(role.unwrap_or_else(|| "default".into()), model);
            }
            TtsrInjection { injected_rules } => {
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
                let mut message = json!({ "role": "custom", "customType": custom_type, "content": content, "display": display });
                if let Some(details) = details {
                    message["details"] = details;
                }
                if let Some(who) = attribution {
                    message["attribution"] = who.into();
                }
                message["timestamp"] = timestamp.into();
                message
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

/// The entries of a path with their numbers.
fn rows_of<'r>(rows: &'r [EntryRow], path: &[u32]) -> Vec<(u32, &'r EntryRow)> {
    path.iter().filter_map(|number| rows.get(*number as usize).map(|row| (*number, row))).collect()
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
