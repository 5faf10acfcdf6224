//! A long text or diff on the whole screen: scrolled, searched, wrapped or not, with line numbers.
//!
//! ```text
//! src/cart.ts                                          12–31 of 212 · 15 %
//!  12  export function total(items: Item[]) {
//!  13    return items.reduce(
//! /total▏  2 of 7
//! q close · / search · n next · w wrap · l numbers
//! ```
//!
//! Lines are found once, 10 MB in some milliseconds; drawing looks only at what is seen. A line of megabytes is cut into
//! pieces of [`text::PIECE_BYTES`], so that no step ever walks all of it.

mod keys;
mod rows;
mod search;
#[cfg(test)]
mod tests;
pub mod text;

use std::cell::Cell;

use crate::picker::TextField;
use search::PagerSearch;
pub use text::{PagerKind, PagerText};

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerOutcome {
    Ignored,
    Changed,
    Closed,
}

/// What the keys go to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PagerStage {
    Read,
    /// A search is typed; where it began from.
    Search(TextField, PagerPlace),
    /// The number of a line is typed.
    GoTo(TextField),
}

/// The first row that is shown: a piece of the text, and how many of its rows are above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct PagerPlace {
    piece: usize,
    row: usize,
}

/// The state of the pager.
#[derive(Debug)]
pub struct Pager {
    title: String,
    text: PagerText,
    top: PagerPlace,
    /// Cells that are scrolled out on the left, where nothing is wrapped.
    left: usize,
    wraps: bool,
    numbers: bool,
    search: Option<PagerSearch>,
    stage: PagerStage,
    /// What the last key could not do.
    note: &'static str,
    /// Cells and rows of the text, as the last drawing found.
    size: Cell<(usize, usize)>,
    utf8: Cell<bool>,
}

impl Pager {
    pub fn new(title: impl Into<String>, text: PagerText) -> Pager {
        Pager {
            title: title.into(),
            text,
            top: PagerPlace::default(),
            left: 0,
            wraps: true,
            numbers: false,
            search: None,
            stage: PagerStage::Read,
            note: "",
            size: Cell::new((80, 20)),
            utf8: Cell::new(true),
        }
    }

    pub fn with_numbers(mut self) -> Pager {
        self.numbers = true;
        self
    }

    /// Begins at a line, counted from 1.
    pub fn at_line(mut self, line: usize) -> Pager {
        self.go_to_line(line);
        self
    }

    /// Pasted text goes into what is being typed.
    pub fn insert_text(&mut self, text: &str) {
        if let PagerStage::Search(field, _) | PagerStage::GoTo(field) = &mut self.stage {
            field.insert(text);
        }
    }

    fn go_to_line(&mut self, line: usize) {
        let line = line.clamp(1, self.text.line_count().max(1));
        self.top = PagerPlace { piece: self.text.piece_of_line(line - 1), row: 0 };
    }

    /// Rows of a piece at the present width.
    fn rows_of(&self, piece: usize) -> usize {
        if !self.wraps {
            return 1;
        }
        self.starts(self.text.piece(piece)).len()
    }

    /// Where the rows of a wrapped piece begin.
    fn starts(&self, piece: &str) -> Vec<usize> {
        rows::row_starts(piece, self.size.get().0, self.utf8.get())
    }

    fn step_down(&self, place: PagerPlace) -> Option<PagerPlace> {
        if place.row + 1 < self.rows_of(place.piece) {
            return Some(PagerPlace { row: place.row + 1, ..place });
        }
        let piece = if self.wraps { place.piece + 1 } else { self.text.next_line_piece(place.piece) };
        (piece < self.text.piece_count()).then_some(PagerPlace { piece, row: 0 })
    }

    fn step_up(&self, place: PagerPlace) -> Option<PagerPlace> {
        if place.row > 0 {
            return Some(PagerPlace { row: place.row - 1, ..place });
        }
        let piece = place.piece.checked_sub(1)?;
        let piece = if self.wraps { piece } else { self.text.piece_of_line(self.text.line_of_piece(piece)) };
        Some(PagerPlace { piece, row: self.rows_of(piece) - 1 })
    }

    /// The place where the end of the text is the last row.
    fn last_top(&self) -> PagerPlace {
        let last = self.text.piece_count().saturating_sub(1);
        let last = if self.wraps { last } else { self.text.piece_of_line(self.text.line_of_piece(last)) };
        let mut place = PagerPlace { piece: last, row: self.rows_of(last) - 1 };
        for _ in 1..self.size.get().1.max(1) {
            match self.step_up(place) {
                Some(above) => place = above,
                None => break,
            }
        }
        place
    }

    fn scroll(&mut self, by: isize) -> PagerOutcome {
        let before = self.top;
        let step = if by < 0 { Pager::step_up } else { Pager::step_down };
        for _ in 0..by.unsigned_abs() {
            match step(self, self.top) {
                Some(place) => self.top = place,
                None => break,
            }
        }
        if by > 0 {
            self.top = self.top.min(self.last_top().max(before));
        }
        PagerOutcome::Changed
    }
}
