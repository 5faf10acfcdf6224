//! The rows of a prompt on the screen: its text wrapped between words, and which byte stands in which cell.

use unicode_segmentation::UnicodeSegmentation;

use super::buffer::BufferState;
use super::chip::CHIP_MARK;
use crate::theme::{ThemeStyle, ThemeToken};
use crate::{OutputStyle, cells};

/// A character as it is shown.
#[derive(Debug, Clone)]
struct ShownCharacter {
    start: usize,
    text: String,
    cells: usize,
    is_chip: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct EditorRow {
    characters: Vec<ShownCharacter>,
    /// The byte behind it, without its line end.
    end: usize,
    start: usize,
    /// The next row goes on with the same line.
    wraps: bool,
}

/// Blanks that a tab takes.
const TAB: &str = "    ";

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
        let is_chip = cluster.starts_with(CHIP_MARK);
        let shown = match cluster {
            "\t" => TAB.to_string(),
            _ if is_chip => {
                let label = chips.next().map(|chip| chip.label()).unwrap_or_default();
                style.clip(&label, room)
            }
            _ => style.safe(cluster).into_owned(),
        };
        let character = ShownCharacter { start, cells: cells(&shown), text: shown, is_chip };
        // A blank behind a full row is not shown: the next row begins with a word.
        let is_blank = |shown: &ShownCharacter| shown.text == " ";
        if used + character.cells > room && !row.characters.is_empty() && !is_blank(&character) {
            let after_blank = row.characters.iter().rposition(is_blank).map(|at| at + 1);
            let cut = after_blank.filter(|_| !character.is_chip).unwrap_or(row.characters.len());
            let rest = row.characters.split_off(cut);
            let next = rest.first().map_or(start, |first| first.start);
            (row.end, row.wraps) = (next, true);
            rows.push(std::mem::take(&mut row));
            used = rest.iter().map(|shown| shown.cells).sum();
            (row.start, row.characters) = (next, rest);
        }
        used += character.cells;
        row.characters.push(character);
    }
    row.end = state.text.len();
    rows.push(row);
    rows
}

/// In which row and cell the cursor is.
pub(super) fn cursor_place(rows: &[EditorRow], cursor: usize) -> (usize, usize) {
    let row = rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
    let before = rows[row].characters.iter().take_while(|shown| shown.start < cursor);
    (row, before.map(|shown| shown.cells).sum())
}

impl EditorRow {
    /// The byte at a cell, or the last place of the row.
    pub(super) fn byte_at(&self, cell: usize) -> usize {
        let mut used = 0;
        for shown in &self.characters {
            if used + shown.cells > cell {
                return shown.start;
            }
            used += shown.cells;
        }
        // Behind the last character of a row that wraps is the beginning of the next one.
        self.characters.last().filter(|_| self.wraps).map_or(self.end, |last| last.start)
    }

    /// No wider than the room it was laid out for, but for a single character that is wider.
    pub(super) fn painted(&self, style: &ThemeStyle, room: usize) -> String {
        let mut line = String::new();
        let mut used = 0;
        let mut plain = String::new();
        for shown in &self.characters {
            if used + shown.cells > room {
                break;
            }
            used += shown.cells;
            if shown.is_chip {
                line += &style.paint(ThemeToken::Text, &std::mem::take(&mut plain));
                line += &style.paint(ThemeToken::Accent, &shown.text);
            } else {
                plain += &shown.text;
            }
        }
        if plain.is_empty() { line } else { line + &style.paint(ThemeToken::Text, &plain) }
    }
}
