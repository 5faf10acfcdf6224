//! What people see of a call: data that the tool makes and that terminal and page draw alike. Nothing here is safe to print:
//! it may quote foreign text, and whoever draws it escapes it.

use serde::Serialize;

/// A call in a conversation: one line, and what can be unfolded below it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCard {
    /// What was done and to what: `read src/main.rs`.
    pub title: String,
    /// What came of it, in a few words: `120 lines`.
    pub summary: String,
    pub body: CardBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CardBody {
    /// The line says it all.
    #[default]
    None,
    /// Text as it is; `first_line` numbers it, if it is part of a file.
    Text { text: String, first_line: Option<usize> },
    /// Unified diffs, file by file.
    Diff { files: Vec<CardDiff> },
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardDiff {
    pub path: String,
    pub added: usize,
    pub removed: usize,
    /// A unified diff.
    pub diff: String,
}

impl ToolCard {
    /// A card of one line.
    pub fn line(title: impl Into<String>, summary: impl Into<String>) -> ToolCard {
        ToolCard { title: title.into(), summary: summary.into(), body: CardBody::None }
    }
}
