//! The prompt of the conversation: several lines of text with a cursor, history, large pastes and images as chips.
//!
//! What is shown is safe and fits; what is sent is what was typed and pasted, byte for byte.

mod buffer;
mod chip;
mod draft;
mod history;
mod layout;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use crate::input::KeyPress;
use crate::input::decode::PastedText;
use crate::keymap::{KeyAction, KeyContext, Keymap};
use crate::theme::{ThemeStyle, ThemeToken};
use crate::{OutputStyle, cells};

use buffer::{BufferState, PromptBuffer};
use chip::CHIP_MARK;
pub use chip::PromptChip;
pub use draft::PromptDraft;
use history::HistorySearch;
pub use history::{PromptHistory, RecentPrompts};
use layout::{EditorRow, cursor_place, layout_rows};

/// A paste of more lines is shown as a chip.
pub const PASTE_LINES: usize = 10;
/// A paste of more characters is shown as a chip.
pub const PASTE_CHARS: usize = 1_000;
/// Most chips in a prompt.
pub const PROMPT_CHIPS: usize = 100;
/// Most bytes of all chips together.
pub const PROMPT_BYTES: usize = 16 << 20;

/// The prompt being written.
#[derive(Debug, Default)]
pub struct PromptEditor {
    buffer: PromptBuffer,
    /// Numbers of pastes and images go on while the prompt lives.
    pastes: usize,
    images: usize,
    /// Which prompt of the history is shown, from the newest, and what was written before.
    browsed: Option<(usize, BufferState)>,
    search: Option<HistorySearch>,
    placeholder: String,
    /// How it was drawn last, and the room for text: going up and down needs it.
    drawn: Cell<Option<(OutputStyle, usize)>>,
    /// The first row that is shown.
    top: Cell<usize>,
    /// The cell that going up and down aims at.
    aim: Option<usize>,
}

/// The effect of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorOutcome {
    /// Not a key of the editor, or there is nothing to do for it.
    Ignored,
    /// Something is to be drawn.
    Changed,
    /// The prompt is to be sent: take it with [`PromptEditor::take_prompt`].
    Submit,
    /// To be told to the user; the prompt is as it was.
    Refused(String),
}

/// A prompt as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinishedPrompt {
    /// With pastes in place, and `[image 1]` where an image stands.
    pub text: String,
    /// As it was shown: for the history and the conversation.
    pub shown: String,
    /// In the order of their places.
    pub chips: Vec<PromptChip>,
}

impl PromptEditor {
    pub fn new(placeholder: &str) -> PromptEditor {
        PromptEditor { placeholder: placeholder.to_string(), ..PromptEditor::default() }
    }

    /// Nothing is written.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// With a mark for each chip.
    pub fn text(&self) -> &str {
        &self.buffer.state.text
    }

    /// A byte of [`PromptEditor::text`].
    pub fn cursor(&self) -> usize {
        self.buffer.state.cursor
    }

    pub fn set_placeholder(&mut self, placeholder: &str) {
        self.placeholder = placeholder.to_string();
    }

    /// A search of the history is open: it takes the keys, Escape and Ctrl-C too.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    pub fn handle_key(
        &mut self,
        key: KeyPress,
        keymap: &Keymap,
        history: &dyn PromptHistory,
    ) -> EditorOutcome {
        if self.search.is_some() {
            return self.search_key(key, keymap, history);
        }
        if let Some(action) = keymap.action(KeyContext::Editor, key) {
            return self.apply(action, history);
        }
        match key.typed_char() {
            Some(c) if c != CHIP_MARK => self.type_text(c.encode_utf8(&mut [0; 4])),
            _ => EditorOutcome::Ignored,
        }
    }

    /// Ctrl-R: looks for an earlier prompt.
    pub fn start_search(&mut self, history: &dyn PromptHistory) {
        self.search = Some(HistorySearch::new(history));
    }

    pub fn apply(&mut self, action: KeyAction, history: &dyn PromptHistory) -> EditorOutcome {
        if !matches!(action, KeyAction::CursorUp | KeyAction::CursorDown) {
            self.aim = None;
        }
        let before = self.buffer.state.clone();
        let buffer = &mut self.buffer;
        let cursor = buffer.state.cursor;
        match action {
            KeyAction::CursorLeft => buffer.move_to(buffer.before(cursor)),
            KeyAction::CursorRight => buffer.move_to(buffer.after(cursor)),
            KeyAction::CursorWordLeft => buffer.move_to(buffer.word_before()),
            KeyAction::CursorWordRight => buffer.move_to(buffer.word_after()),
            KeyAction::CursorLineStart => buffer.move_to(buffer.line_start()),
            KeyAction::CursorLineEnd => buffer.move_to(buffer.line_end()),
            KeyAction::CursorTextStart => buffer.move_to(0),
            KeyAction::CursorTextEnd => buffer.move_to(buffer.state.text.len()),
            KeyAction::CursorUp => self.move_row(-1, history),
            KeyAction::CursorDown => self.move_row(1, history),
            KeyAction::DeleteCharBackward => buffer.delete_back(),
            KeyAction::DeleteCharForward => buffer.delete_forward(),
            KeyAction::DeleteWordBackward => buffer.kill_back(buffer.space_before()),
            KeyAction::DeleteWordForward => buffer.kill_forward(buffer.word_after()),
            KeyAction::DeleteToLineStart => {
                let start = buffer.line_start();
                // At the start of a line, the line end before.
                buffer.kill_back(if start == cursor { buffer.before(cursor) } else { start });
            }
            KeyAction::DeleteToLineEnd => {
                let end = buffer.line_end();
                buffer.kill_forward(if end == cursor { buffer.after(cursor) } else { end });
            }
            KeyAction::Yank => buffer.yank(),
            KeyAction::YankPop => buffer.yank_pop(),
            KeyAction::EditorUndo => buffer.undo(),
            KeyAction::EditorRedo => buffer.redo(),
            KeyAction::NewLine => return self.type_text("\n"),
            // A backslash in front of Enter is for terminals where nothing else begins a new line.
            KeyAction::Submit if buffer.state.text[..cursor].ends_with('\\') => {
                buffer.replace(cursor - 1..cursor, "\n");
            }
            KeyAction::Submit => {
                let is_blank = buffer.state.text.trim().is_empty();
                return if is_blank { EditorOutcome::Ignored } else { EditorOutcome::Submit };
            }
            _ => return EditorOutcome::Ignored,
        }
        if self.buffer.state == before { EditorOutcome::Ignored } else { EditorOutcome::Changed }
    }

    /// What was pasted: in place if it is small, else as a chip.
    pub fn paste(&mut self, paste: &PastedText) -> EditorOutcome {
        if paste.truncated {
            let most = crate::input::decode::PASTE_BYTES >> 20;
            return EditorOutcome::Refused(format!(
                "that is more than {most} MB, too much to paste; save it to a file and write its name after @"
            ));
        }
        let text = String::from_utf8_lossy(&paste.bytes);
        let is_small = text.lines().count() <= PASTE_LINES
            && text.chars().count() <= PASTE_CHARS
            && !text.contains(CHIP_MARK);
        if text.is_empty() {
            return EditorOutcome::Ignored;
        }
        self.leave_history();
        if is_small && self.buffer.insert(&text) {
            return EditorOutcome::Changed;
        }
        self.pastes += 1;
        self.add_chip(PromptChip::paste(self.pastes, &text))
    }

    /// `key` is for the caller, to find the image when the prompt is sent.
    pub fn add_image(&mut self, name: &str, about: &str, key: &str) -> EditorOutcome {
        self.leave_history();
        self.images += 1;
        self.add_chip(PromptChip::Image {
            number: self.images,
            name: name.to_string(),
            about: about.to_string(),
            key: key.to_string(),
        })
    }

    /// Replaces a part of the text, as a completion does.
    pub fn replace(&mut self, range: std::ops::Range<usize>, text: &str) {
        let is_sound = self.text().get(range.clone()).is_some_and(|old| !old.contains(CHIP_MARK));
        if is_sound && self.text().len() + text.len() <= buffer::TEXT_BYTES && !text.contains(CHIP_MARK) {
            self.buffer.replace(range, text);
        }
    }

    /// Puts words in front of what is written: those that come back from the queue.
    pub fn prepend(&mut self, text: &str) {
        let mut state = self.buffer.state.clone();
        let words = text.replace(CHIP_MARK, "\u{fffd}");
        let gap = if state.text.is_empty() { "" } else { "\n" };
        state.text.insert_str(0, &format!("{words}{gap}"));
        state.cursor += words.len() + gap.len();
        self.buffer.set(state);
    }

    /// Replaces everything, as an external editor does.
    pub fn set_text(&mut self, text: &str) {
        let text = text.replace(CHIP_MARK, "\u{fffd}");
        self.buffer.set(BufferState { cursor: text.len(), text, chips: Vec::new() });
        self.browsed = None;
    }

    /// The text as it would be sent now.
    pub fn expanded_text(&self) -> String {
        expand(&self.buffer.state, PromptChip::sent_text)
    }

    /// The prompt, and the editor is empty.
    pub fn take_prompt(&mut self) -> FinishedPrompt {
        let state = std::mem::take(&mut self.buffer.state);
        let prompt = FinishedPrompt {
            text: expand(&state, PromptChip::sent_text),
            shown: expand(&state, PromptChip::label),
            chips: state.chips,
        };
        self.clear();
        prompt
    }

    /// Nothing is written any more; it cannot be undone, but what was cut stays.
    pub fn clear(&mut self) {
        self.buffer.clear_all();
        (self.pastes, self.images) = (0, 0);
        (self.browsed, self.search, self.aim) = (None, None, None);
        self.top.set(0);
    }

    /// The rows, at most `max_rows`, and where the cursor is: a row of them and a cell.
    pub fn lines(&self, style: &ThemeStyle, width: usize, max_rows: usize) -> (Vec<String>, (usize, usize)) {
        if let Some(search) = &self.search {
            return search.lines(style, width);
        }
        let sign = prompt_sign(style);
        let edge = cells(sign);
        // A cell stays free for the cursor.
        let room = width.saturating_sub(edge + 1).max(1);
        self.drawn.set(Some((style.output, room)));
        let rows = layout_rows(&self.buffer.state, &style.output, room);
        let (row, cell) = cursor_place(&rows, self.cursor());
        let top = self.scroll(row, rows.len(), max_rows.max(1));
        let paint_row = |(number, row): (usize, &EditorRow)| {
            let edge = if number == 0 { style.paint(ThemeToken::Accent, sign) } else { " ".repeat(edge) };
            format!("{edge}{}", row.painted(style, room))
        };
        let shown = rows.iter().enumerate().skip(top).take(max_rows.max(1));
        let mut lines: Vec<String> = shown.map(paint_row).collect();
        if self.is_empty() && !self.placeholder.is_empty() {
            lines[0] += &style.paint(ThemeToken::Dim, &style.output.clip(&self.placeholder, room));
        }
        (lines, (row - top, (edge + cell).min(width.saturating_sub(1))))
    }

    fn scroll(&self, row: usize, count: usize, most: usize) -> usize {
        let top = self.top.get().min(count.saturating_sub(most)).min(row).max((row + 1).saturating_sub(most));
        self.top.set(top);
        top
    }

    fn type_text(&mut self, text: &str) -> EditorOutcome {
        self.leave_history();
        match self.buffer.insert(text) {
            true => EditorOutcome::Changed,
            false => EditorOutcome::Refused(format!(
                "a prompt holds at most {} kB of text beside what is pasted",
                buffer::TEXT_BYTES >> 10
            )),
        }
    }

    fn add_chip(&mut self, chip: PromptChip) -> EditorOutcome {
        let size = |chip: &PromptChip| match chip {
            PromptChip::Paste { text, .. } => text.len(),
            PromptChip::Image { .. } => 0,
        };
        let chips = &self.buffer.state.chips;
        if chips.len() >= PROMPT_CHIPS {
            return EditorOutcome::Refused(format!(
                "a prompt holds at most {PROMPT_CHIPS} pastes and images"
            ));
        }
        if chips.iter().map(size).sum::<usize>() + size(&chip) > PROMPT_BYTES {
            return EditorOutcome::Refused(format!(
                "a prompt holds at most {} MB of pastes",
                PROMPT_BYTES >> 20
            ));
        }
        self.buffer.insert_chip(chip);
        EditorOutcome::Changed
    }

    /// One row up or down; beyond the first and the last is the history.
    fn move_row(&mut self, step: isize, history: &dyn PromptHistory) {
        let usual = (OutputStyle { color: false, utf8: true, width: None }, usize::MAX);
        let (style, room) = self.drawn.get().unwrap_or(usual);
        let rows = layout_rows(&self.buffer.state, &style, room);
        let (row, cell) = cursor_place(&rows, self.cursor());
        let aim = *self.aim.get_or_insert(cell);
        match row.checked_add_signed(step).filter(|row| *row < rows.len()) {
            Some(row) => {
                let at = self.buffer.boundary(rows[row].byte_at(aim));
                self.buffer.move_to(at);
            }
            None => {
                self.aim = None;
                self.browse_history(step, history);
            }
        }
    }

    fn browse_history(&mut self, step: isize, history: &dyn PromptHistory) {
        let (next, draft) = match (self.browsed.take(), step < 0) {
            (None, true) => (0, self.buffer.state.clone()),
            (None, false) => return,
            (Some((nth, draft)), true) => (nth + 1, draft),
            (Some((0, draft)), false) => {
                self.buffer.set(draft);
                return;
            }
            (Some((nth, draft)), false) => (nth - 1, draft),
        };
        match history.recent(next) {
            Some(text) => {
                let text = text.replace(CHIP_MARK, "\u{fffd}");
                self.buffer.set(BufferState { cursor: text.len(), text, chips: Vec::new() });
                self.browsed = Some((next, draft));
            }
            // The oldest stays.
            None if next > 0 => self.browsed = Some((next - 1, draft)),
            None => {}
        }
    }

    /// What is changed is a prompt of its own.
    fn leave_history(&mut self) {
        self.browsed = None;
        self.aim = None;
    }
}

fn prompt_sign(style: &ThemeStyle) -> &'static str {
    if style.output.utf8 { "› " } else { "> " }
}

fn expand(state: &BufferState, text_of: impl Fn(&PromptChip) -> String) -> String {
    let mut chips = state.chips.iter();
    let mut out = String::with_capacity(state.text.len());
    for piece in state.text.split_inclusive(CHIP_MARK) {
        match piece.strip_suffix(CHIP_MARK) {
            Some(text) => {
                out.push_str(text);
                out.push_str(&chips.next().map(&text_of).unwrap_or_default());
            }
            None => out.push_str(piece),
        }
    }
    out
}
