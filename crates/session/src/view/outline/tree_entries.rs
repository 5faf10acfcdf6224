//! All entries of a session with what a view of its tree needs, so that it can filter and search without reading again.

use std::collections::HashSet;

use super::{MAX_TEXT, context_change, is_bookkeeping, is_silent, speaker_and_text, tool_calls_text};
use crate::view::context::content_text;
use crate::{ContextChange, EntryBody, EntryRole, EntryRow, EntryType, Session, SessionError};
use serde_json::Value;

/// Characters of an entry that a search looks at.
const MAX_SEARCH: usize = 4_000;

/// An entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    pub id: String,
    /// Index of its parent in the same list, which stands before it.
    pub parent: Option<usize>,
    /// On the path to where the conversation continues.
    pub on_path: bool,
    /// The conversation continues after it.
    pub is_leaf: bool,
    pub label: Option<String>,
    pub kind: EntryType,
    pub role: EntryRole,
    /// A setting or a note of relay's own, which most filters leave out.
    pub is_bookkeeping: bool,
    /// An answer that only calls tools and ended as it should.
    pub is_silent: bool,
    /// `user`, `assistant`, `compaction`.
    pub who: String,
    /// The beginning of its text, on one line.
    pub text: String,
    /// More that a search finds, such as the commands that it ran.
    pub search: String,
    /// Choosing it means saying this again.
    pub prompt: Option<String>,
}

/// Every entry, parents before children, siblings oldest first.
///
/// # Errors
/// If an entry cannot be read.
pub fn tree_entries(session: &Session) -> Result<Vec<TreeEntry>, SessionError> {
    let tree = session.tree();
    let mut entries = Vec::with_capacity(tree.nodes.len());
    let mut undone = HashSet::new();
    for node in &tree.nodes {
        let row: &EntryRow = node.row;
        let entry = session.entry(&row.id)?;
        let change = context_change(session, node)?;
        let is_cut = matches!(change, Some(ContextChange::CutOutputs(_)));
        if let Some(ContextChange::Undone(id)) = change {
            undone.insert(id);
        }
        let (who, text) = speaker_and_text(&entry, MAX_SEARCH);
        let content = match &entry.body {
            EntryBody::Message { message } => &message["content"],
            EntryBody::CustomMessage { content, .. } => content,
            _ => &Value::Null,
        };
        let is_prompt = row.kind == EntryType::CustomMessage
            || row.kind == EntryType::Message && row.role == EntryRole::User;
        let words: Vec<&str> = text.split_whitespace().collect();
        entries.push(TreeEntry {
            id: row.id.to_string(),
            parent: node.parent,
            on_path: node.on_path,
            is_leaf: node.is_leaf,
            label: node.label.map(str::to_string),
            kind: row.kind,
            role: row.role,
            is_bookkeeping: is_bookkeeping(row) && !is_cut,
            is_silent: is_silent(node, &entry),
            who,
            text: words.join(" ").chars().take(MAX_TEXT).collect(),
            search: format!("{text} {}", tool_calls_text(content, MAX_SEARCH)),
            prompt: is_prompt.then(|| content_text(content)),
        });
    }
    for entry in entries.iter_mut().filter(|entry| undone.contains(&entry.id)) {
        entry.who.push_str(", undone");
    }
    Ok(entries)
}
