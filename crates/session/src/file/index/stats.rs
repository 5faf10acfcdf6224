//! What a list of sessions shows of one: counted while it is read or written, kept in the head of its
//! index.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EntryBody, EntryRole, EntryRow, EntryType, SessionEntry};

/// Most characters of a text kept for lists.
pub const MAX_CLIP_CHARS: usize = 400;

/// Facts about a whole session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionStats {
    /// On all branches.
    pub entries: u64,
    /// On all branches.
    pub messages: u64,
    /// Messages by a person.
    pub prompts: u64,
    /// Messages by a model: a failure without text does not count.
    pub answers: u64,
    /// Its beginning.
    pub first_prompt: Option<String>,
    /// Of the latest compaction.
    pub short_summary: Option<String>,
    /// Time of the latest entry, in milliseconds since 1970; 0 if unknown.
    pub last_entry: i64,
}

impl SessionStats {
    /// A model answered at least once.
    pub fn is_answered(&self) -> bool {
        self.answers > 0
    }

    pub(crate) fn count_entry(&mut self, row: &EntryRow, line: &[u8]) {
        self.entries += 1;
        self.last_entry = self.last_entry.max(row.timestamp);
        match (row.kind, row.role) {
            (EntryType::Message, role) => {
                self.messages += 1;
                match role {
                    EntryRole::User => {
                        self.prompts += 1;
                        if self.first_prompt.is_none() {
                            self.first_prompt = prompt_text(line).map(|text| clip_one_line(&text));
                        }
                    }
                    EntryRole::Assistant if !row.failed || row.has_text => self.answers += 1,
                    _ => {}
                }
            }
            (EntryType::Compaction, _) => {
                let body = SessionEntry::from_line(line).map(|entry| entry.body);
                if let Ok(EntryBody::Compaction { short_summary: Some(short), .. }) = body {
                    self.short_summary = Some(clip_one_line(&short));
                }
            }
            _ => {}
        }
    }
}

/// The text of a prompt; `None` if it has none.
fn prompt_text(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let text = crate::view::context::content_text(value.get("message")?.get("content")?);
    (!text.trim().is_empty()).then_some(text)
}

/// The beginning of a text, on one line.
fn clip_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CLIP_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_clipped_on_one_line() {
        assert_eq!(clip_one_line(" a\n\n b\tc "), "a b c");
        let long = clip_one_line(&"xy ".repeat(1000));
        assert!(long.ends_with('…') && long.chars().count() == MAX_CLIP_CHARS + 1, "{long}");
    }
}
