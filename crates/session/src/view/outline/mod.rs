//! The tree of a session as it is shown: what a filter lets through, each with a line of what it says.
//!
//! What is left out is bridged: those that follow it follow, for the eye, the nearest one that is shown.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::error::SessionError;
use crate::file::row::{EntryRole, EntryRow, EntryType};
use crate::format::entry::{EntryBody, SessionEntry};
use crate::session::Session;
use crate::view::tree::SessionNode;

/// Characters of an entry that are shown.
const MAX_TEXT: usize = 300;

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutlineFilter {
    /// What was said; not labels, settings and what extensions keep.
    #[default]
    Default,
    /// The same without what tools gave back.
    NoTools,
    /// What people said.
    UserOnly,
    /// What has a label.
    LabeledOnly,
    /// Everything.
    All,
}

/// An entry that is shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlineLine {
    /// The entry.
    pub id: String,
    /// The place of the one that it follows, for the eye, among those that are shown.
    pub parent: Option<usize>,
    /// The conversation goes through it.
    pub active: bool,
    /// The conversation goes on behind it.
    pub leaf: bool,
    /// Its label.
    pub label: Option<String>,
    /// Who says it, or what it is: `user`, `assistant`, `compaction`.
    pub who: String,
    /// The beginning of what it says, on one line.
    pub text: String,
}

/// The lines of a session's tree; with `search`, those in which all its words are, whatever their case.
///
/// # Errors
/// The file cannot be read.
pub fn session_outline(
    session: &Session,
    filter: OutlineFilter,
    search: &str,
) -> Result<Vec<OutlineLine>, SessionError> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let tree = session.tree();
    // For each entry the line that stands for it: its own, or that of the nearest one before it that is shown.
    let mut stands: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    let mut lines = Vec::new();
    for node in &tree.nodes {
        let above = node.parent.and_then(|parent| stands[parent]);
        let shown = if passes_filter(node, filter) {
            outline_line(session, node, above, filter, &words)?
        } else {
            None
        };
        stands.push(match shown {
            Some(line) => {
                lines.push(line);
                Some(lines.len() - 1)
            }
            None => above,
        });
    }
    Ok(lines)
}

fn passes_filter(node: &SessionNode<'_>, filter: OutlineFilter) -> bool {
    let row: &EntryRow = node.row;
    let keeping = matches!(
        row.kind,
        EntryType::Label | EntryType::Custom | EntryType::ModelChange | EntryType::ThinkingLevelChange
    );
    match filter {
        OutlineFilter::All => true,
        OutlineFilter::Default => !keeping,
        OutlineFilter::NoTools => !keeping && row.role != EntryRole::ToolResult,
        OutlineFilter::UserOnly => row.kind == EntryType::Message && row.role == EntryRole::User,
        OutlineFilter::LabeledOnly => node.label.is_some(),
    }
}

/// An answer that only calls tools says nothing by itself, unless it ended in another way than it should (it failed, was broken
/// off, became too long) or is where the conversation goes on.
fn is_silent(node: &SessionNode<'_>, entry: &SessionEntry) -> bool {
    if node.row.role != EntryRole::Assistant || node.row.has_text || node.is_leaf {
        return false;
    }
    let EntryBody::Message { message } = &entry.body else { return false };
    matches!(message.get("stopReason").and_then(Value::as_str), None | Some("stop" | "toolUse"))
}

/// The line of an entry; `None` where it says nothing, or not all the words.
fn outline_line(
    session: &Session,
    node: &SessionNode<'_>,
    parent: Option<usize>,
    filter: OutlineFilter,
    words: &[String],
) -> Result<Option<OutlineLine>, SessionError> {
    let entry = session.entry(&node.row.id)?;
    if matches!(filter, OutlineFilter::Default | OutlineFilter::NoTools) && is_silent(node, &entry) {
        return Ok(None);
    }
    if !words.is_empty() {
        let (who, text) = speaker_and_text(&entry, usize::MAX);
        let calls = match &entry.body {
            EntryBody::Message { message } => {
                tool_calls_text(message.get("content").unwrap_or(&Value::Null), usize::MAX)
            }
            _ => String::new(),
        };
        let all = format!("{} {who} {text} {calls}", node.label.unwrap_or_default()).to_lowercase();
        if !words.iter().all(|word| all.contains(word.as_str())) {
            return Ok(None);
        }
    }
    let (who, text) = speaker_and_text(&entry, MAX_TEXT * 4);
    let text: Vec<&str> = text.split_whitespace().collect();
    Ok(Some(OutlineLine {
        id: node.row.id.to_string(),
        parent,
        active: node.on_path,
        leaf: node.is_leaf,
        label: node.label.map(str::to_string),
        who,
        text: text.join(" ").chars().take(MAX_TEXT).collect(),
    }))
}

/// Who says an entry, and at most so many characters of what.
fn speaker_and_text(entry: &SessionEntry, most: usize) -> (String, String) {
    let named = |who: &str, text: &str| (who.to_string(), text.to_string());
    match &entry.body {
        EntryBody::Message { message } => {
            let role = message.get("role").and_then(Value::as_str).unwrap_or("message");
            (role.to_string(), message_text(message, most))
        }
        EntryBody::ModelChange { model, .. } => named("model", model),
        EntryBody::ThinkingLevelChange { thinking_level } => {
            named("thinking", thinking_level.as_deref().unwrap_or("off"))
        }
        EntryBody::ServiceTierChange { service_tier } => {
            named("service tier", service_tier.as_deref().unwrap_or("none"))
        }
        EntryBody::Compaction { summary, short_summary, .. } => {
            named("compaction", short_summary.as_deref().unwrap_or(summary))
        }
        EntryBody::BranchSummary { summary, .. } => named("branch summary", summary),
        EntryBody::Custom { custom_type, .. } => named("custom", custom_type),
        EntryBody::CustomMessage { custom_type, content, .. } => {
            (custom_type.clone(), clipped_content_text(content, most))
        }
        EntryBody::Label { target_id, label } => match label {
            Some(label) => ("label".to_string(), format!("{label} for {target_id}")),
            None => ("label".to_string(), format!("none for {target_id}")),
        },
        EntryBody::TtsrInjection { injected_rules } => ("rules".to_string(), injected_rules.join(", ")),
        EntryBody::McpToolSelection { selected_tool_names } => {
            ("tools".to_string(), selected_tool_names.join(", "))
        }
        EntryBody::SessionInit { task, .. } => named("begin", task),
        EntryBody::ModeChange { mode, .. } => named("mode", mode),
        EntryBody::Other(fields) => named(fields.get("type").and_then(Value::as_str).unwrap_or("entry"), ""),
    }
}

/// What a message says; what it calls where it says nothing.
fn message_text(message: &Value, most: usize) -> String {
    let content = message.get("content").unwrap_or(&Value::Null);
    let text = clipped_content_text(content, most);
    if !text.trim().is_empty() {
        return text;
    }
    let calls = tool_calls_text(content, most);
    let failed = message.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    if calls.is_empty() { failed.to_string() } else { calls }
}

/// What a content calls.
fn tool_calls_text(content: &Value, most: usize) -> String {
    let calls = content.as_array().into_iter().flatten().filter_map(|piece| {
        let name = piece.get("name")?.as_str()?;
        let arguments = piece.get("arguments").map(Value::to_string).unwrap_or_default();
        Some(format!("{name} {}", arguments.chars().take(most).collect::<String>()))
    });
    calls.collect::<Vec<_>>().join("; ")
}

/// The text in a content.
fn clipped_content_text(content: &Value, most: usize) -> String {
    match content {
        Value::String(text) => text.chars().take(most).collect(),
        Value::Array(pieces) => {
            let texts = pieces.iter().filter_map(|piece| piece.get("text")?.as_str());
            texts.flat_map(|text| text.chars().chain([' '])).take(most).collect()
        }
        _ => String::new(),
    }
}
