//! What keys do in the pager.

use super::search::PagerSearch;
use super::{Pager, PagerKind, PagerOutcome, PagerPlace, PagerStage};
use crate::input::{KeyCode, KeyPress};
use crate::picker::TextField;

/// Cells that a step to the side moves.
const SIDE_STEP: usize = 16;
/// Most cells to the right; longer lines are for wrapping.
const MOST_LEFT: usize = 20_000;

impl Pager {
    pub fn handle_key(&mut self, key: KeyPress) -> PagerOutcome {
        self.note = "";
        match std::mem::replace(&mut self.stage, PagerStage::Read) {
            PagerStage::Read => self.read_key(key),
            PagerStage::Search(field, from) => self.search_key(field, from, key),
            PagerStage::GoTo(field) => self.go_to_key(field, key),
        }
    }

    fn read_key(&mut self, key: KeyPress) -> PagerOutcome {
        let page = isize::try_from(self.size.get().1.saturating_sub(1).max(1)).unwrap_or(1);
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Char('q') | KeyCode::Escape, false, false) => return PagerOutcome::Closed,
            (KeyCode::Char('c'), true, false) => return PagerOutcome::Closed,
            (KeyCode::Down | KeyCode::Enter, ..) | (KeyCode::Char('j'), false, false) => {
                return self.scroll(1);
            }
            (KeyCode::Up, ..) | (KeyCode::Char('k'), false, false) => return self.scroll(-1),
            (KeyCode::PageDown, ..) | (KeyCode::Char(' ' | 'f'), false, false) => return self.scroll(page),
            (KeyCode::PageUp, ..) | (KeyCode::Char('b'), false, false) => return self.scroll(-page),
            (KeyCode::Char('d'), ..) => return self.scroll((page / 2).max(1)),
            (KeyCode::Char('u'), ..) => return self.scroll(-(page / 2).max(1)),
            (KeyCode::Home, ..) | (KeyCode::Char('g'), false, false) => self.top = PagerPlace::default(),
            (KeyCode::End, ..) | (KeyCode::Char('G'), false, false) => self.top = self.last_top(),
            (KeyCode::Left, ..) if !self.wraps => self.left = self.left.saturating_sub(SIDE_STEP),
            (KeyCode::Right, ..) if !self.wraps => self.left = (self.left + SIDE_STEP).min(MOST_LEFT),
            (KeyCode::Char('w'), false, false) => self.toggle_wrap(),
            (KeyCode::Char('l'), false, false) => self.numbers = !self.numbers,
            (KeyCode::Char('/'), false, false) => {
                self.stage = PagerStage::Search(TextField::default(), self.top);
            }
            (KeyCode::Char('n'), false, false) => self.next_match(),
            (KeyCode::Char('N'), false, false) => self.previous_match(),
            (KeyCode::Char(':'), false, false) => self.stage = PagerStage::GoTo(TextField::default()),
            (KeyCode::Char(letter @ ('[' | ']' | '{' | '}')), false, false)
                if self.text.kind() == PagerKind::Diff =>
            {
                self.jump(letter);
            }
            _ => return PagerOutcome::Ignored,
        }
        PagerOutcome::Changed
    }

    fn toggle_wrap(&mut self) {
        self.wraps = !self.wraps;
        let line = self.text.line_of_piece(self.top.piece);
        self.top = PagerPlace { piece: self.text.piece_of_line(line), row: 0 };
        self.left = 0;
    }

    fn search_key(&mut self, mut field: TextField, from: PagerPlace, key: KeyPress) -> PagerOutcome {
        match key.code {
            KeyCode::Escape => {
                self.top = from;
                self.search = None;
            }
            _ if key == KeyPress::ctrl('c') => self.top = from,
            KeyCode::Enter => {
                // Nothing typed repeats the search before.
                if field.is_empty() {
                    self.next_match();
                }
            }
            _ => {
                if field.handle_key(key) {
                    self.search = PagerSearch::new(field.text());
                    self.top = from;
                    self.find_from(self.text.piece_start(from.piece));
                }
                self.stage = PagerStage::Search(field, from);
            }
        }
        PagerOutcome::Changed
    }

    fn go_to_key(&mut self, mut field: TextField, key: KeyPress) -> PagerOutcome {
        match key.code {
            KeyCode::Escape => {}
            _ if key == KeyPress::ctrl('c') => {}
            KeyCode::Enter => match field.text().trim().parse() {
                Ok(line) => self.go_to_line(line),
                Err(_) => self.note = "that is no number of a line",
            },
            _ => {
                field.handle_key(key);
                self.stage = PagerStage::GoTo(field);
            }
        }
        PagerOutcome::Changed
    }

    /// The first match from a byte on, else from the beginning.
    fn find_from(&mut self, byte: usize) {
        let Some(search) = &self.search else { return };
        let text = self.text.all();
        match search.next(text, byte).or_else(|| search.next(text, 0)) {
            Some(found) => {
                if found.start < byte {
                    self.note = "from the beginning";
                }
                self.show_byte(found.start);
            }
            None => self.note = "not found",
        }
    }

    fn next_match(&mut self) {
        if self.search.is_none() {
            self.note = "nothing to look for yet";
            return;
        }
        // Behind the first row that is shown.
        let next = self.step_down(self.top).map_or(self.text.all().len(), |place| self.byte_of(place));
        self.find_from(next);
    }

    fn previous_match(&mut self) {
        let Some(search) = &self.search else {
            self.note = "nothing to look for yet";
            return;
        };
        let (text, top) = (self.text.all(), self.byte_of(self.top));
        let found = search.previous(text, top);
        let note = if found.is_none() { "from the end" } else { "" };
        match found.or_else(|| search.previous(text, text.len())) {
            Some(found) => {
                self.note = note;
                self.show_byte(found.start);
            }
            None => self.note = "not found",
        }
    }

    fn byte_of(&self, place: PagerPlace) -> usize {
        let start = self.text.piece_start(place.piece);
        if place.row == 0 || !self.wraps {
            return start;
        }
        let rows = self.starts(self.text.piece(place.piece));
        start + rows.get(place.row).copied().unwrap_or_default()
    }

    /// Its row becomes the first.
    fn show_byte(&mut self, byte: usize) {
        let piece = self.text.piece_at(byte);
        if !self.wraps {
            let line = self.text.line_of_piece(piece);
            let first = self.text.piece_of_line(line);
            self.top = PagerPlace { piece: first, row: 0 };
            let cells = byte - self.text.piece_start(first);
            let width = self.size.get().0;
            self.left = if cells < width { 0 } else { (cells - width / 2).min(MOST_LEFT) };
            return;
        }
        let within = byte - self.text.piece_start(piece);
        let rows = self.starts(self.text.piece(piece));
        let row = rows.partition_point(|start| *start <= within).saturating_sub(1);
        self.top = PagerPlace { piece, row };
    }

    /// `]` next hunk, `[` the one before, `}` next file, `{` the one before.
    fn jump(&mut self, letter: char) {
        let is_target = |line: usize| {
            let text = self.text.line(line);
            match letter {
                '[' | ']' => text.starts_with("@@"),
                _ => is_file_head(text, (line > 0).then(|| self.text.line(line - 1))),
            }
        };
        let here = self.text.line_of_piece(self.top.piece);
        let found = match letter {
            ']' | '}' => (here + 1..self.text.line_count()).find(|line| is_target(*line)),
            _ => (0..here).rev().find(|line| is_target(*line)),
        };
        match found {
            Some(line) => self.go_to_line(line + 1),
            None => {
                self.note = match letter {
                    ']' => "no more hunks",
                    '[' => "this is the first hunk",
                    '}' => "no more files",
                    _ => "this is the first file",
                };
            }
        }
    }
}

/// The first line of a file in a diff.
fn is_file_head(line: &str, before: Option<&str>) -> bool {
    let follows_head =
        before.is_some_and(|before| before.starts_with("diff --git") || before.starts_with("index "));
    line.starts_with("diff --git ") || line.starts_with("--- ") && !follows_head
}
