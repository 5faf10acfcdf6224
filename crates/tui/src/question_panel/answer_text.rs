//! A line of words that answers a question: a few keys, bounded.

use crate::input::{KeyCode, KeyPress};

/// Bytes of an answer.
const MAX_BYTES: usize = 16 << 10;

#[derive(Debug, Clone, Default)]
pub(super) struct AnswerLine {
    text: String,
    /// Where the next letter goes, in bytes.
    cursor: usize,
    /// It is why the answer is no.
    pub(super) is_reason: bool,
}

impl AnswerLine {
    pub(super) fn new(is_reason: bool) -> AnswerLine {
        AnswerLine { is_reason, ..AnswerLine::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Before and after the cursor.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.text.split_at_checked(self.cursor).unwrap_or((&self.text, ""))
    }

    pub(super) fn insert(&mut self, text: &str) {
        let left = MAX_BYTES.saturating_sub(self.text.len());
        let end = (0..=left.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let text = &text[..end];
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Whether the key means something here.
    pub(super) fn edit(&mut self, key: KeyPress) -> bool {
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Enter, false, _) => self.insert("\n"),
            (KeyCode::Backspace, false, true) | (KeyCode::Char('w'), true, false) => self.remove_word(),
            (KeyCode::Backspace, ..) | (KeyCode::Char('h'), true, false) => {
                let start = self.before();
                self.text.replace_range(start..self.cursor, "");
                self.cursor = start;
            }
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), true, false) => {
                let end = self.after();
                self.text.replace_range(self.cursor..end, "");
            }
            (KeyCode::Left, ..) | (KeyCode::Char('b'), true, false) => self.cursor = self.before(),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), true, false) => self.cursor = self.after(),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.cursor = 0,
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.cursor = self.text.len(),
            (KeyCode::Char('u'), true, false) => {
                self.text.replace_range(..self.cursor, "");
                self.cursor = 0;
            }
            (KeyCode::Char('k'), true, false) => self.text.truncate(self.cursor),
            _ => match key.typed_char() {
                Some(c) => self.insert(c.encode_utf8(&mut [0; 4])),
                None => return false,
            },
        }
        true
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |c| self.cursor + c.len_utf8())
    }

    fn remove_word(&mut self) {
        let head = self.text[..self.cursor].trim_end();
        let start = head
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + head[at..].chars().next().map_or(0, char::len_utf8));
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }
}
