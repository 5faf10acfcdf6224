//! The tree of a session for people: the entries that pass a filter, each with a line of text.
//!
//! Entries left out are bridged: their children are shown below the nearest visible ancestor.

#[cfg(test)]
mod tests;
mod tree_entries;

pub use tree_entries::{TreeEntry, tree_entries};

use std::collections::HashSet;

use serde_json::Value;

use crate::view::tree::SessionNode;
use crate::{ContextChange, EntryBody, EntryRole, EntryRow, EntryType, Session, SessionEntry, SessionError};

/// Most characters shown of an entry.
const MAX_TEXT: usize = 300;

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutlineFilter {
    /// Messages; no labels, settings or extension data.
    #[default]
    Default,
    /// The same without tool results.
    NoTools,
    /// Only prompts.
    UserOnly,
    LabeledOnly,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutlineLine {
    pub id: String,
    /// Index of its nearest visible ancestor.
    pub parent: Option<usize>,
    /// The entry is on the active path.
    pub active: bool,
    /// The conversation continues after it.
    pub leaf: bool,
    pub label: Option<String>,
    /// `user`, `assistant`, `compaction`.
    pub who: String,
    /// The beginning of its text, on one line.
    pub text: String,
}

/// The lines of a session's tree; with `search`, those that contain all its words in any case.
pub fn session_outline(
    session: &Session,
    filter: OutlineFilter,
    search: &str,
) -> Result<Vec<OutlineLine>, SessionError> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let tree = session.tree();
    // For each entry the line that represents it: its own, or that of its nearest visible ancestor.
    let mut stands: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    let (mut lines, mut undone) = (Vec::new(), HashSet::new());
    for node in &tree.nodes {
        let above = node.parent.and_then(|parent| stands[parent]);
        let before = lines.len();
        let change = context_change(session, node)?;
        if let Some(ContextChange::Undone(id)) = &change {
            undone.insert(id.clone());
        }
        let is_cut = matches!(change, Some(ContextChange::CutOutputs(_)));
        let with_cuts = matches!(filter, OutlineFilter::Default | OutlineFilter::NoTools);
        if passes_filter(node, filter) || (is_cut && with_cuts) {
            lines.extend(outline_line(session, node, above, filter, &words)?);
        }
        stands.push(if lines.len() > before { Some(before) } else { above });
    }
    for line in lines.iter_mut().filter(|line| undone.contains(&line.id)) {
        line.who.push_str(", undone");
    }
    Ok(lines)
}

fn passes_filter(node: &SessionNode<'_>, filter: OutlineFilter) -> bool {
    let row: &EntryRow = node.row;
    let keeping = is_bookkeeping(row);
    match filter {
        OutlineFilter::All => true,
        OutlineFilter::Default => !keeping,
        OutlineFilter::NoTools => !keeping && row.role != EntryRole::ToolResult,
        OutlineFilter::UserOnly => row.kind == EntryType::Message && row.role == EntryRole::User,
        OutlineFilter::LabeledOnly => node.label.is_some(),
    }
}

/// Settings, labels and notes of relay's own.
fn is_bookkeeping(row: &EntryRow) -> bool {
    use EntryType::{Custom, Label, ModelChange, ThinkingLevelChange};
    matches!(row.kind, Label | Custom | ModelChange | ThinkingLevelChange)
}

/// What relay notes of compactions in entries that others pass by.
fn context_change(session: &Session, node: &SessionNode<'_>) -> Result<Option<ContextChange>, SessionError> {
    if node.row.kind != EntryType::Custom {
        return Ok(None);
    }
    Ok(ContextChange::from_body(&session.entry(&node.row.id)?.body))
}

/// An answer that only calls tools is not shown, unless it ended abnormally (failed, aborted, too long) or
/// the conversation continues after it.
fn is_silent(node: &SessionNode<'_>, entry: &SessionEntry) -> bool {
    if node.row.role != EntryRole::Assistant || node.row.has_text || node.is_leaf {
        return false;
    }
    let EntryBody::Message { message } = &entry.body else { return false };
    matches!(message.get("stopReason").and_then(Value::as_str), None | Some("stop" | "toolUse"))
}

/// `None` if the entry has no text, or not all the words.
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
        let content = match &entry.body {
            EntryBody::Message { message } => &message["content"],
            _ => &Value::Null,
        };
        let calls = tool_calls_text(content, usize::MAX);
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

/// Who speaks, and at most `most` characters of the text.
fn speaker_and_text(entry: &SessionEntry, most: usize) -> (String, String) {
    use EntryBody::*;
    let named = |who: &str, text: &str| (who.to_string(), text.to_string());
    match &entry.body {
        Message { message } => {
            let role = message.get("role").and_then(Value::as_str).unwrap_or("message");
            (role.to_string(), message_text(message, most))
        }
        ModelChange { model, .. } => named("model", model),
        ThinkingLevelChange { thinking_level } => {
            named("thinking", thinking_level.as_deref().unwrap_or("off"))
        }
        ServiceTierChange { service_tier } => {
            named("service tier", service_tier.as_deref().unwrap_or("none"))
        }
        Compaction { summary, short_summary, .. } => {
            named("compaction", short_summary.as_deref().unwrap_or(summary))
        }
        BranchSummary { summary, .. } => named("branch summary", summary),
        Custom { custom_type, .. } => match ContextChange::from_body(&entry.body) {
            Some(ContextChange::Undone(id)) => named("undone", &id),
            Some(ContextChange::CutOutputs(lines)) => {
                named("cut", &format!("outputs of tools: {}", lines.len()))
            }
            None => named("custom", custom_type),
        },
        CustomMessage { custom_type, content, .. } => {
            (custom_type.clone(), clipped_content_text(content, most))
        }
        Label { target_id, label } => {
            named("label", &format!("{} for {target_id}", label.as_deref().unwrap_or("none")))
        }
        TtsrInjection { injected_rules } => named("rules", &injected_rules.join(", ")),
        McpToolSelection { selected_tool_names } => named("tools", &selected_tool_names.join(", ")),
        SessionInit { task, .. } => named("begin", task),
        ModeChange { mode, .. } => named("mode", mode),
        Other(fields) => named(fields.get("type").and_then(Value::as_str).unwrap_or("entry"), ""),
    }
}

/// A message's text; if it has none, the tools it calls.
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

fn tool_calls_text(content: &Value, most: usize) -> String {
    let calls = content.as_array().into_iter().flatten().filter_map(|piece| {
        let name = piece.get("name")?.as_str()?;
        let arguments = piece.get("arguments").map(Value::to_string).unwrap_or_default();
        Some(format!("{name} {}", arguments.chars().take(most).collect::<String>()))
    });
    calls.collect::<Vec<_>>().join("; ")
}

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
