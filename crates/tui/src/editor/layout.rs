//! Where the rows of a text begin when it is broken to a width, kept up to date while the text is edited.
//!
//! A row depends only on the text from its beginning on. After an edit the rows are broken anew from two rows before it until a
//! row begins where one began already; what follows only moves. So a key costs about as much in a long text as in a short one.

use std::borrow::Cow;
use std::ops::Range;

use relaycode_text::escape::TAB_STOP;
use relaycode_text::hidden::{is_hidden, suspicious_chars};
use relaycode_text::width::cells;

use super::boundaries::cluster_end;
use crate::OutputStyle;

/// Characters of one cell that are shown.
const CLUSTER_CHARS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditorLayout {
    /// Cells of a row, without what stands before it.
    cells: usize,
    utf8: bool,
    /// The bytes at which rows begin; the first is 0.
    rows: Vec<usize>,
    /// Bytes of the text.
    len: usize,
}

impl EditorLayout {
    pub(super) fn new(text: &str, cells: usize, utf8: bool) -> EditorLayout {
        let mut layout = EditorLayout { cells: cells.max(1), utf8, rows: vec![0], len: text.len() };
        layout.break_from(text, 0, |_| false);
        layout
    }

    /// Whether it is for rows like these.
    pub(super) fn is_for(&self, cells: usize, utf8: bool) -> bool {
        self.cells == cells.max(1) && self.utf8 == utf8
    }

    /// `text` is the text after `removed` bytes at `at` gave way to `inserted`.
    pub(super) fn edited(&mut self, text: &str, at: usize, removed: usize, inserted: usize) {
        let first = self.rows.partition_point(|start| *start <= at).saturating_sub(3);
        let start = self.rows[first];
        let tail = self.rows.split_off(first + 1);
        self.len = text.len();
        let mut rest = tail.partition_point(|start| *start < at + removed);
        let mut met = None;
        self.break_from(text, start, |start| {
            let Some(behind) = start.checked_sub(at + inserted) else { return false };
            let before = at + removed + behind;
            while tail.get(rest).is_some_and(|row| *row < before) {
                rest += 1;
            }
            met = (tail.get(rest) == Some(&before)).then_some(rest);
            met.is_some()
        });
        if let Some(met) = met {
            self.rows.extend(tail[met + 1..].iter().map(|start| start + inserted - removed));
        }
    }

    /// Appends rows, until one begins where `is_met` says so.
    fn break_from(&mut self, text: &str, start: usize, mut is_met: impl FnMut(usize) -> bool) {
        let mut start = start;
        while let Some(next) = self.next_row(text, start) {
            self.rows.push(next);
            if is_met(next) {
                return;
            }
            start = next;
        }
    }

    /// Where the row behind the one at `start` begins.
    fn next_row(&self, text: &str, start: usize) -> Option<usize> {
        let (mut at, mut column, mut word) = (start, 0, start);
        while at < text.len() {
            let end = cluster_end(text, at);
            let cluster = &text[at..end];
            if cluster == "\n" {
                return Some(end);
            }
            let wide = self.cells_of(cluster, column);
            let is_blank = matches!(cluster, " " | "\t");
            // One blank may stand where the cursor would.
            if is_blank && column == self.cells {
                return Some(end + usize::from(text.as_bytes().get(end) == Some(&b'\n')));
            }
            if column + wide > self.cells && at > start {
                return Some(if word > start { word } else { at });
            }
            column += wide;
            at = end;
            if is_blank {
                word = end;
            }
        }
        None
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The row that `at` stands in; at its end it stands at the beginning of the next.
    pub(super) fn row_of(&self, at: usize) -> usize {
        self.rows.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// Its bytes, without the line feed.
    pub(super) fn row(&self, text: &str, row: usize) -> Range<usize> {
        let start = self.rows.get(row).copied().unwrap_or(self.len);
        let end = self.rows.get(row + 1).copied().unwrap_or(self.len);
        let has_break = end > start && text.as_bytes()[end - 1] == b'\n';
        start..end - usize::from(has_break)
    }

    /// The column of `at` in its row.
    pub(super) fn column_of(&self, text: &str, at: usize) -> usize {
        let row = self.row(text, self.row_of(at));
        let (mut place, mut column) = (row.start, 0);
        while place < row.end {
            let end = cluster_end(text, place);
            if end > at {
                break;
            }
            column += self.cells_of(&text[place..end], column);
            place = end;
        }
        column
    }

    /// The place in `row` that is nearest to `column` from the left.
    pub(super) fn at_column(&self, text: &str, row: usize, column: usize) -> usize {
        let range = self.row(text, row);
        let is_broken = self.rows.get(row + 1) == Some(&range.end);
        let (mut at, mut reached) = (range.start, 0);
        while at < range.end {
            let end = cluster_end(text, at);
            reached += self.cells_of(&text[at..end], reached);
            // The end of a broken row is the beginning of the next one.
            if reached > column || (is_broken && end >= range.end) {
                break;
            }
            at = end;
        }
        at
    }

    fn cells_of(&self, cluster: &str, column: usize) -> usize {
        shown_cells(&shown_cluster(cluster, column, self.utf8), self.cells)
    }
}

fn shown_cells(shown: &str, limit: usize) -> usize {
    cells(shown).min(limit)
}

/// A character as it stands on the screen: nothing that a terminal obeys or hides, and always at least one cell.
///
/// What joins and varies emoji is left out, so that every terminal agrees on the width; other hidden characters are written out.
pub(super) fn shown_cluster(cluster: &str, column: usize, utf8: bool) -> Cow<'_, str> {
    match cluster.as_bytes() {
        [b' '..=b'~'] => return Cow::Borrowed(cluster),
        b"\t" => return Cow::Borrowed(&"    "[..TAB_STOP - column % TAB_STOP]),
        _ => {}
    }
    let output = OutputStyle { color: false, utf8, width: None };
    if !utf8 && cluster == "×" {
        return Cow::Borrowed("x");
    }
    let is_long = cluster.chars().nth(CLUSTER_CHARS).is_some();
    let is_simple = !is_long && !cluster.chars().any(|c| is_hidden(c) || is_skin_tone(c));
    let shown = if is_simple || suspicious_chars(cluster).next().is_some() {
        output.safe(cluster)
    } else {
        let first = cluster.chars().next();
        let seen = cluster.chars().skip(1).filter(|c| !is_hidden(*c) && !is_skin_tone(*c));
        let kept: String = first.into_iter().chain(seen).take(CLUSTER_CHARS).collect();
        Cow::Owned(output.safe(&kept).into_owned())
    };
    if cells(&shown) == 0 { Cow::Owned(cluster.escape_unicode().to_string()) } else { shown }
}

fn is_skin_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}
