//! What the editor's own keys do: moving, deleting, cutting, putting back.

use std::ops::Range;

use super::boundaries::{is_no_blank, is_word_char};
use super::fragment::EditorFragment;
use super::undo::EditorStepKind;
use super::{EditorOutcome, LastEdit, PromptEditor};
use crate::keymap::KeyAction;

impl PromptEditor {
    pub(super) fn apply_action(&mut self, action: KeyAction) -> EditorOutcome {
        let text = &self.text;
        let at = self.cursor;
        match action {
            KeyAction::Submit => EditorOutcome::Submit,
            KeyAction::NewLine => self.insert(&EditorFragment::plain("\n"), EditorStepKind::Typed),
            KeyAction::CursorLeft => self.move_to(text.before(at)),
            KeyAction::CursorRight => self.move_to(text.behind(at)),
            KeyAction::CursorWordLeft => self.move_to(text.word_before(at, is_word_char)),
            KeyAction::CursorWordRight => self.move_to(text.word_behind(at, is_word_char)),
            KeyAction::CursorLineStart => self.move_to(text.line_start(at)),
            KeyAction::CursorLineEnd => self.move_to(text.line_end(at)),
            KeyAction::CursorTextStart => self.move_to(0),
            KeyAction::CursorTextEnd => self.move_to(text.text.len()),
            KeyAction::CursorUp => self.move_rows(-1),
            KeyAction::CursorDown => self.move_rows(1),
            KeyAction::PageUp => self.move_page(true),
            KeyAction::PageDown => self.move_page(false),
            KeyAction::DeleteBackward => self.delete(text.before(at)..at, EditorStepKind::DeletedBackward),
            KeyAction::DeleteForward => self.delete(at..text.behind(at), EditorStepKind::DeletedForward),
            KeyAction::KillWordBackward => self.kill(text.word_before(at, is_no_blank)..at, true),
            KeyAction::KillWordForward => self.kill(at..text.word_behind(at, is_word_char), false),
            KeyAction::KillToLineStart => {
                // At its start: the line feed before it.
                let start = Some(text.line_start(at)).filter(|start| *start < at);
                self.kill(start.unwrap_or_else(|| text.before(at))..at, true)
            }
            KeyAction::KillToLineEnd => {
                let end = Some(text.line_end(at)).filter(|end| at < *end);
                self.kill(at..end.unwrap_or_else(|| text.behind(at)), false)
            }
            KeyAction::Yank => self.yank(),
            KeyAction::YankPop => self.yank_pop(),
            KeyAction::Undo => self.undo_step(),
            KeyAction::Redo => self.redo_step(),
            other => EditorOutcome::Unhandled(other),
        }
    }

    fn move_to(&mut self, at: usize) -> EditorOutcome {
        let is_moved = at != self.cursor;
        self.place_cursor(at);
        self.column = None;
        if is_moved { EditorOutcome::Moved } else { EditorOutcome::Ignored }
    }

    fn place_cursor(&mut self, at: usize) {
        self.cursor = self.text.chip_around(at).map_or(at, |chip| chip.start);
        self.last = LastEdit::Other;
        self.undo.close_step();
    }

    /// Beyond the first and the last row lies the history.
    fn move_rows(&mut self, by: isize) -> EditorOutcome {
        let row = self.layout.row_of(self.cursor);
        match row.checked_add_signed(by).filter(|row| *row < self.layout.row_count()) {
            Some(target) => self.move_to_row(target),
            None => self.walk_history(by < 0),
        }
    }

    fn move_to_row(&mut self, row: usize) -> EditorOutcome {
        let text = &self.text.text;
        let column = self.column.unwrap_or_else(|| self.layout.column_of(text, self.cursor));
        let target = self.layout.at_column(text, row, column);
        // A label that reaches over several rows is left in the direction of the move.
        let is_down = target > self.cursor;
        let target = self.text.chip_around(target).filter(|_| is_down).map_or(target, |chip| chip.end);
        self.place_cursor(target);
        self.column = Some(column);
        EditorOutcome::Moved
    }

    fn move_page(&mut self, up: bool) -> EditorOutcome {
        let (row, page) = (self.layout.row_of(self.cursor), self.shown.len().max(2) - 1);
        let last = self.layout.row_count() - 1;
        self.move_to_row(if up { row.saturating_sub(page) } else { (row + page).min(last) })
    }

    fn delete(&mut self, range: Range<usize>, kind: EditorStepKind) -> EditorOutcome {
        if range.is_empty() {
            return EditorOutcome::Ignored;
        }
        self.replace(range, &EditorFragment::default(), kind);
        EditorOutcome::Changed
    }

    fn kill(&mut self, range: Range<usize>, backward: bool) -> EditorOutcome {
        let is_joined = self.last == LastEdit::Kill;
        if range.is_empty() {
            return EditorOutcome::Ignored;
        }
        self.undo.close_step();
        let cut = self.replace(range, &EditorFragment::default(), EditorStepKind::Other);
        self.kill_ring.push(cut, is_joined, backward);
        self.last = LastEdit::Kill;
        EditorOutcome::Changed
    }

    fn yank(&mut self) -> EditorOutcome {
        let Some(cut) = self.kill_ring.yank().cloned() else { return EditorOutcome::Ignored };
        self.put_back(self.cursor..self.cursor, &cut)
    }

    fn yank_pop(&mut self) -> EditorOutcome {
        let LastEdit::Yank(range) = self.last.clone() else { return EditorOutcome::Ignored };
        let Some(cut) = self.kill_ring.yank_before().cloned() else { return EditorOutcome::Ignored };
        self.put_back(range, &cut)
    }

    fn put_back(&mut self, range: Range<usize>, cut: &EditorFragment) -> EditorOutcome {
        if self.sent_bytes() + cut.sent_bytes() > crate::input::PROMPT_BYTES {
            return EditorOutcome::Refused(super::EditorRefusal::Full);
        }
        let start = range.start;
        self.undo.close_step();
        self.replace(range, cut, EditorStepKind::Other);
        self.last = LastEdit::Yank(start..self.cursor);
        EditorOutcome::Changed
    }

    fn undo_step(&mut self) -> EditorOutcome {
        let Some(step) = self.undo.undo(&mut self.text) else { return EditorOutcome::Ignored };
        self.layout.edited(&self.text.text, step.at, step.inserted.text.len(), step.removed.text.len());
        self.after_step(step.cursor_before)
    }

    fn redo_step(&mut self) -> EditorOutcome {
        let Some(step) = self.undo.redo(&mut self.text) else { return EditorOutcome::Ignored };
        self.layout.edited(&self.text.text, step.at, step.removed.text.len(), step.inserted.text.len());
        self.after_step(step.at + step.inserted.text.len())
    }

    fn after_step(&mut self, cursor: usize) -> EditorOutcome {
        self.cursor = cursor;
        self.column = None;
        self.last = LastEdit::Other;
        EditorOutcome::Changed
    }
}
