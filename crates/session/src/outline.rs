//! The tree of a session as it is shown: what a filter lets through, each with a line of what it says.
//!
//! What is left out is bridged: those that follow it follow, for the eye, the nearest one that is shown.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::entry::{Body, Entry};
use crate::error::SessionError;
use crate::file::row::{Kind, Role, Row};
use crate::session::Session;
use crate::tree::Node;

/// Characters of an entry that are shown.
const MAX_TEXT: usize = 300;

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
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
pub struct Line {
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
pub fn outline(session: &Session, filter: Filter, search: &str) -> Result<Vec<Line>, SessionError> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let tree = session.tree();
    // For each entry the line that stands for it: its own, or that of the nearest one before it that is shown.
    let mut stands: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    let mut lines = Vec::new();
    for node in &tree.nodes {
        let above = node.parent.and_then(|parent| stands[parent]);
        let shown = if passes(node, filter) { line(session, node, above, filter, &words)? } else { None };
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

fn passes(node: &Node<'_>, filter: Filter) -> bool {
    let row: &Row = node.row;
    let keeping =
        matches!(row.kind, Kind::Label | Kind::Custom | Kind::ModelChange | Kind::ThinkingLevelChange);
    match filter {
        Filter::All => true,
        Filter::Default => !keeping,
        Filter::NoTools => !keeping && row.role != Role::ToolResult,
        Filter::UserOnly => row.kind == Kind::Message && row.role == Role::User,
        Filter::LabeledOnly => node.label.is_some(),
    }
}

/// An answer that only calls tools says nothing by itself, unless it ended in another way than it should (it failed, was broken
/// off, became too long) or is where the conversation goes on.
fn is_silent(node: &Node<'_>, entry: &Entry) -> bool {
    if node.row.role != Role::Assistant || node.row.has_text || node.is_leaf {
        return false;
    }
    let Body::Message { message } = &entry.body else { return false };
    matches!(message.get("stopReason").and_then(Value::as_str), None | Some("stop" | "toolUse"))
}

/// The line of an entry; `None` where it says nothing, or not all the words.
fn line(
    session: &Session,
    node: &Node<'_>,
    parent: Option<usize>,
    filter: Filter,
    words: &[String],
) -> Result<Option<Line>, SessionError> {
    let entry = session.entry(&node.row.id)?;
    if matches!(filter, Filter::Default | Filter::NoTools) && is_silent(node, &entry) {
        return Ok(None);
    }
    if !words.is_empty() {
        let (who, text) = said(&entry, usize::MAX);
        let calls = match &entry.body {
            Body::Message { message } => calls_in(message.get("content").unwrap_or(&Value::Null), usize::MAX),
            _ => String::new(),
        };
        let all = format!("{} {who} {text} {calls}", node.label.unwrap_or_default()).to_lowercase();
        if !words.iter().all(|word| all.contains(word.as_str())) {
            return Ok(None);
        }
    }
    let (who, text) = said(&entry, MAX_TEXT * 4);
    let text: Vec<&str> = text.split_whitespace().collect();
    Ok(Some(Line {
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
fn said(entry: &Entry, most: usize) -> (String, String) {
    let named = |who: &str, text: &str| (who.to_string(), text.to_string());
    match &entry.body {
        Body::Message { message } => {
            let role = message.get("role").and_then(Value::as_str).unwrap_or("message");
            (role.to_string(), words_of(message, most))
        }
        Body::ModelChange { model, .. } => named("model", model),
        Body::ThinkingLevelChange { thinking_level } => {
            named("thinking", thinking_level.as_deref().unwrap_or("off"))
        }
        Body::ServiceTierChange { service_tier } => {
            named("service tier", service_tier.as_deref().unwrap_or("none"))
        }
        Body::Compaction { summary, short_summary, .. } => {
            named("compaction", short_summary.as_deref().unwrap_or(summary))
        }
        Body::BranchSummary { summary, .. } => named("branch summary", summary),
        Body::Custom { custom_type, .. } => named("custom", custom_type),
        Body::CustomMessage { custom_type, content, .. } => (custom_type.clone(), words_in(content, most)),
        Body::Label { target_id, label } => match label {
            Some(label) => ("label".to_string(), format!("{label} for {target_id}")),
            None => ("label".to_string(), format!("none for {target_id}")),
        },
        Body::TtsrInjection { injected_rules } => ("rules".to_string(), injected_rules.join(", ")),
        Body::McpToolSelection { selected_tool_names } => {
            ("tools".to_string(), selected_tool_names.join(", "))
        }
        Body::SessionInit { task, .. } => named("begin", task),
        Body::ModeChange { mode, .. } => named("mode", mode),
        Body::Other(fields) => named(fields.get("type").and_then(Value::as_str).unwrap_or("entry"), ""),
    }
}

/// What a message says; what it calls where it says nothing.
fn words_of(message: &Value, most: usize) -> String {
    let content = message.get("content").unwrap_or(&Value::Null);
    let text = words_in(content, most);
    if !text.trim().is_empty() {
        return text;
    }
    let calls = calls_in(content, most);
    let failed = message.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    if calls.is_empty() { failed.to_string() } else { calls }
}

/// What a content calls.
fn calls_in(content: &Value, most: usize) -> String {
    let calls = content.as_array().into_iter().flatten().filter_map(|piece| {
        let name = piece.get("name")?.as_str()?;
        let arguments = piece.get("arguments").map(Value::to_string).unwrap_or_default();
        Some(format!("{name} {}", arguments.chars().take(most).collect::<String>()))
    });
    calls.collect::<Vec<_>>().join("; ")
}

/// The text in a content.
fn words_in(content: &Value, most: usize) -> String {
    match content {
        Value::String(text) => text.chars().take(most).collect(),
        Value::Array(pieces) => {
            let texts = pieces.iter().filter_map(|piece| piece.get("text")?.as_str());
            texts.flat_map(|text| text.chars().chain([' '])).take(most).collect()
        }
        _ => String::new(),
    }
}
