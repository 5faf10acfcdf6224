//! A view that covers the whole terminal and leaves no trace: pickers, pagers.

use super::painted_line::ScreenLine;
use super::{
    CURSOR_HIDE, CURSOR_SHOW, ERASE_RIGHT, FRAME_BEGIN, FRAME_END, ScreenTraits, push_column, push_motion,
};

#[derive(Debug)]
pub struct FullScreen {
    traits: ScreenTraits,
    drawn: Vec<ScreenLine>,
    cursor: Option<(usize, usize)>,
    is_stale: bool,
    out: Vec<u8>,
}

impl FullScreen {
    pub fn new(traits: ScreenTraits) -> FullScreen {
        FullScreen { traits, drawn: Vec::new(), cursor: None, is_stale: true, out: Vec::new() }
    }

    /// Cells for laying out a line, and lines.
    pub fn size(&self) -> (usize, usize) {
        (self.traits.width(), self.traits.rows)
    }

    pub fn resize(&mut self, columns: usize, rows: usize) {
        (self.traits.columns, self.traits.rows) = (columns.max(1), rows.max(1));
        self.is_stale = true;
    }

    /// To be written before the first frame.
    pub fn enter(&mut self) -> &[u8] {
        self.is_stale = true;
        self.out.clear();
        self.out.extend_from_slice(b"\x1b[?1049h");
        self.out.extend_from_slice(CURSOR_HIDE.as_bytes());
        &self.out
    }

    /// The terminal shows what it showed before.
    pub fn leave(&mut self) -> &[u8] {
        self.out.clear();
        self.out.extend_from_slice(b"\x1b[0m\x1b[?1049l");
        self.out.extend_from_slice(CURSOR_SHOW.as_bytes());
        &self.out
    }

    /// Shows `lines` from the top; those for which there is no room are left out. The bytes are empty if nothing changes.
    pub fn frame(&mut self, lines: &[String], cursor: Option<(usize, usize)>) -> &[u8] {
        self.out.clear();
        let (width, rows) = self.size();
        let cursor = cursor.map(|(row, column)| (row.min(rows - 1), column.min(width)));
        let view: Vec<ScreenLine> =
            lines.iter().take(rows).map(|line| ScreenLine::clipped(line, width)).collect();
        if !self.is_stale && view == self.drawn && cursor == self.cursor {
            return &self.out;
        }
        self.out.extend_from_slice(FRAME_BEGIN.as_bytes());
        if self.is_stale {
            self.out.extend_from_slice(b"\x1b[0m\x1b[2J");
            self.drawn.clear();
        }
        let nothing = ScreenLine::default();
        for row in 0..view.len().max(self.drawn.len()) {
            let old = self.drawn.get(row).unwrap_or(&nothing);
            let new = view.get(row).unwrap_or(&nothing);
            if old.text == new.text {
                continue;
            }
            let (start, column, paint) = new.first_difference(old);
            push_motion(&mut self.out, row + 1, 'd');
            push_column(&mut self.out, column);
            if new.cells < old.cells {
                self.out.extend_from_slice(ERASE_RIGHT.as_bytes());
            }
            self.out.extend_from_slice(paint.as_bytes());
            self.out.extend_from_slice(&new.text.as_bytes()[start..]);
        }
        if let Some((row, column)) = cursor {
            push_motion(&mut self.out, row + 1, 'd');
            push_column(&mut self.out, column);
            self.out.extend_from_slice(CURSOR_SHOW.as_bytes());
        }
        self.out.extend_from_slice(FRAME_END.as_bytes());
        (self.drawn, self.cursor, self.is_stale) = (view, cursor, false);
        &self.out
    }
}
