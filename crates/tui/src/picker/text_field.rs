//! One line that is typed in a full-screen view: a filter, a label, a value.

use relaycode_text::width::cells;

use super::painted_row::{PaintedRow, char_cells};
use crate::input::{KeyCode, KeyPress};
use crate::theme::ThemeToken;

/// Most bytes; what is pasted beyond is left out.
const FIELD_BYTES: usize = 4_096;

/// A line being typed, with the place of its cursor in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    cursor: usize,
}

impl TextField {
    pub fn with_text(text: &str) -> TextField {
        let mut field = TextField::default();
        field.insert(text);
        field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn clear(&mut self) {
        *self = TextField::default();
    }

    /// Typed or pasted; line ends become blanks, other controls are left out.
    pub fn insert(&mut self, text: &str) -> bool {
        let before = self.text.len();
        for c in text.chars() {
            let c = if matches!(c, '\n' | '\t') { ' ' } else { c };
            if c.is_control() {
                continue;
            }
            if self.text.len() + c.len_utf8() > FIELD_BYTES {
                break;
            }
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
        self.text.len() != before
    }

    /// The keys of a filter: typing and deleting at the end. True if the text changed.
    pub fn handle_filter_key(&mut self, key: KeyPress) -> bool {
        self.cursor = self.text.len();
        let before = self.text.len();
        match key.code {
            KeyCode::Char('u') if key == KeyPress::ctrl('u') => self.clear(),
            KeyCode::Char('w') if key == KeyPress::ctrl('w') => self.delete_word(),
            KeyCode::Backspace if key.alt || key.ctrl => self.delete_word(),
            KeyCode::Backspace => self.delete_back(),
            _ => {
                if let Some(c) = key.typed_char() {
                    self.insert(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        self.text.len() != before
    }

    /// All keys of a line. True if something changed, be it the cursor.
    pub fn handle_key(&mut self, key: KeyPress) -> bool {
        let before = (self.text.len(), self.cursor);
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Left, false, false) => self.cursor = self.before_cursor(),
            (KeyCode::Right, false, false) => self.cursor = self.after_cursor(),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.cursor = 0,
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.cursor = self.text.len(),
            (KeyCode::Char('k'), true, false) => self.text.truncate(self.cursor),
            (KeyCode::Char('u'), true, false) => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            (KeyCode::Char('w'), true, false)
            | (KeyCode::Backspace, true, _)
            | (KeyCode::Backspace, _, true) => {
                self.delete_word();
            }
            (KeyCode::Backspace, ..) => self.delete_back(),
            (KeyCode::Delete, ..) => {
                let end = self.after_cursor();
                self.text.drain(self.cursor..end);
            }
            _ => {
                if let Some(c) = key.typed_char() {
                    self.insert(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        (self.text.len(), self.cursor) != before
    }

    /// Draws the text and its cursor into the rest of a row; of a long text the part around the cursor.
    pub fn draw(&self, row: &mut PaintedRow<'_>, utf8: bool) {
        let room = row.room();
        let (before, after) = self.text.split_at(self.cursor);
        // Blanks for the cursor and for what stands behind it.
        let after_cells = cells(after).min(room / 3);
        let most = room.saturating_sub(1 + after_cells);
        let mut start = before.len();
        let mut used = 0;
        for (at, c) in before.char_indices().rev() {
            // A character that is shown escaped takes more.
            let width = if relaycode_text::escape::is_unsafe(c) { 8 } else { char_cells(c) };
            if used + width > most {
                break;
            }
            used += width;
            start = at;
        }
        row.plain(&before[start..]);
        row.colored(ThemeToken::Accent, if utf8 { "▏" } else { "_" });
        row.plain(after);
    }

    fn before_cursor(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after_cursor(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |c| self.cursor + c.len_utf8())
    }

    fn delete_back(&mut self) {
        let start = self.before_cursor();
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }

    fn delete_word(&mut self) {
        let head = self.text[..self.cursor].trim_end();
        let start = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let start = if head.is_empty() { 0 } else { start };
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }
}
