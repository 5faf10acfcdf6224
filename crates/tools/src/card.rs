//! What people see of a call: data that the tool makes and that terminal and page draw alike. Nothing here is safe to print:
//! it may quote foreign text, and whoever draws it escapes it.
//!
//! Fields are added, never renamed: cards are kept in sessions, and other programs read them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::builtin::todo_write::TodoPhase;

/// A call in a conversation: one line, and what can be unfolded below it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCard {
    /// What was done and to what: `read src/main.rs`.
    pub title: String,
    /// What came of it, in a few words: `120 lines`.
    pub summary: String,
    pub body: CardBody,
    /// How a command ended, if the call ran one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<CardExit>,
    /// Told by whoever ran the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CardBody {
    /// Text as it is; `first_line` numbers it, if it is part of a file.
    Text {
        text: String,
        #[serde(default)]
        first_line: Option<usize>,
        /// Its end says most, as that of a command's output.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_tail: bool,
    },
    /// Unified diffs, file by file.
    Diff { files: Vec<CardDiff> },
    /// What is to be done, phase by phase.
    Todo { phases: Vec<TodoPhase> },
    /// Data that no other kind fits.
    Json { value: Value },
    /// A picture, which the result of the call holds.
    Image(CardImage),
    /// The line says it all. Also a kind that a later version writes.
    #[default]
    #[serde(other)]
    None,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardDiff {
    pub path: String,
    pub added: usize,
    pub removed: usize,
    /// A unified diff.
    pub diff: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CardImage {
    pub path: String,
    pub mime_type: String,
    pub bytes: u64,
    /// In pixels, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CardExit {
    Exited {
        code: i32,
    },
    Signalled {
        signal: i32,
    },
    TimedOut,
    /// By whoever uses relay, or since what watches it was ended.
    Stopped,
    /// In a way that a later version knows.
    #[serde(other)]
    Unknown,
}

impl CardBody {
    /// Text that is no part of a file, and whose beginning says most.
    pub fn text(text: impl Into<String>) -> CardBody {
        CardBody::Text { text: text.into(), first_line: None, is_tail: false }
    }
}

impl ToolCard {
    pub fn new(title: impl Into<String>, summary: impl Into<String>, body: CardBody) -> ToolCard {
        ToolCard { title: title.into(), summary: summary.into(), body, ..ToolCard::default() }
    }

    /// A card of one line.
    pub fn line(title: impl Into<String>, summary: impl Into<String>) -> ToolCard {
        ToolCard::new(title, summary, CardBody::None)
    }

    /// As an event or a session has it. What cannot be read of it is left out.
    pub fn from_value(value: &Value) -> ToolCard {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        ToolCard {
            title: text("title"),
            summary: text("summary"),
            body: value.get("body").and_then(|body| CardBody::deserialize(body).ok()).unwrap_or_default(),
            exit: value.get("exit").and_then(|exit| CardExit::deserialize(exit).ok()),
            duration_ms: value.get("durationMs").and_then(Value::as_u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_is_read_as_it_is_written() {
        let bodies = [
            CardBody::None,
            CardBody::text("a"),
            CardBody::Text { text: "a".into(), first_line: Some(3), is_tail: true },
            CardBody::Json { value: json!({"a": [1, null]}) },
            CardBody::Image(CardImage { path: "a.png".into(), width: Some(3), ..CardImage::default() }),
            CardBody::Diff {
                files: vec![CardDiff { path: "a".into(), added: 1, removed: 0, diff: "+a".into() }],
            },
        ];
        for body in bodies {
            let exit = Some(CardExit::Exited { code: 1 });
            let card = ToolCard { exit, duration_ms: Some(9), ..ToolCard::new("read a", "1 line", body) };
            assert_eq!(ToolCard::from_value(&serde_json::to_value(&card).unwrap()), card);
        }
    }

    #[test]
    fn cards_of_other_versions_are_shown_as_far_as_they_are_known() {
        let card = ToolCard::from_value(
            &json!({"title": "x", "summary": 3, "body": {"kind": "hologram"}, "exit": {"kind": "later"}}),
        );
        assert_eq!(card, ToolCard { exit: Some(CardExit::Unknown), ..ToolCard::line("x", "") });
        assert_eq!(ToolCard::from_value(&json!("no card")), ToolCard::default());
        let old = ToolCard::from_value(
            &json!({"title": "t", "summary": "s", "body": {"kind": "text", "text": "a", "firstLine": 2}}),
        );
        assert_eq!(old.body, CardBody::Text { text: "a".into(), first_line: Some(2), is_tail: false });
    }
}
