//! A conversation on the terminal: finished lines are printed once and belong to the terminal from then on; the live lines
//! below them are redrawn where they differ.
//!
//! Everything is written relative to the cursor, whose place within the live lines is known. Where the terminal may have
//! moved something (it was resized), what is erased is rather too little than too much: a finished line is never lost, and
//! never written twice.

use std::time::Duration;

use super::painted_line::{ScreenLine, split_painted};
use super::{
    CURSOR_HIDE, CURSOR_SHOW, ERASE_BELOW, ERASE_RIGHT, FRAME_BEGIN, FRAME_END, ScreenTraits, push_column,
    push_motion,
};

#[derive(Debug)]
pub struct InlineScreen {
    traits: ScreenTraits,
    /// The live lines as they stand on the terminal.
    drawn: Vec<ScreenLine>,
    /// Where the cursor is within them.
    row: usize,
    column: usize,
    is_cursor_shown: bool,
    /// The terminal may show something else than `drawn`.
    is_stale: bool,
    /// The size has changed just now.
    is_settling: bool,
    /// How wide the terminal was when the live lines were drawn is not how wide it is now.
    has_new_width: bool,
    /// Finished lines that wait for it.
    held: Vec<String>,
    out: Vec<u8>,
}

/// Most rows that one finished line is broken into.
const SPLIT_ROWS: usize = 10_000;
/// A size that has not changed for so long stays. Multiplexers tell of a change up to a quarter of a second later.
pub const SETTLE_TIME: Duration = Duration::from_millis(300);

impl InlineScreen {
    /// The cursor must be at the beginning of an empty line.
    pub fn new(traits: ScreenTraits) -> InlineScreen {
        InlineScreen {
            traits,
            drawn: Vec::new(),
            row: 0,
            column: 0,
            is_cursor_shown: true,
            is_stale: false,
            is_settling: false,
            has_new_width: false,
            held: Vec::new(),
            out: Vec::new(),
        }
    }

    pub fn traits(&self) -> &ScreenTraits {
        &self.traits
    }

    /// Cells for laying out a line.
    pub fn width(&self) -> usize {
        self.traits.width()
    }

    /// Most live lines that are shown.
    pub fn live_rows(&self) -> usize {
        self.traits.rows.saturating_sub(1).max(1)
    }

    /// The terminal has another size now; the next frame draws everything anew. On a terminal that re-flows nothing is drawn
    /// until [`InlineScreen::settle`]: how many rows the live lines take is only known when the size stays.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        let (columns, rows) = (columns.max(1), rows.max(1));
        if (columns, rows) != (self.traits.columns, self.traits.rows) {
            self.has_new_width |= self.traits.reflows && columns != self.traits.columns;
            self.is_settling |= self.traits.reflows && columns != self.traits.columns;
            (self.traits.columns, self.traits.rows) = (columns, rows);
            self.is_stale = true;
        }
    }

    /// Frames are held back: call [`InlineScreen::settle`] when the size has not changed for [`SETTLE_TIME`], and then draw.
    pub fn is_settling(&self) -> bool {
        self.is_settling
    }

    pub fn settle(&mut self) {
        self.is_settling = false;
    }

    /// Something else may have been written to the terminal: the next frame draws everything anew.
    pub fn redraw(&mut self) {
        self.is_stale = true;
    }

    /// Prints `finished` above the live lines and makes `live` the live lines, best with an empty one first. `cursor` is a
    /// row of `live` and a column. The bytes are empty if nothing changes.
    pub fn frame(&mut self, finished: &[String], live: &[String], cursor: Option<(usize, usize)>) -> &[u8] {
        self.out.clear();
        if self.is_settling {
            self.held.extend_from_slice(finished);
            return &self.out;
        }
        let held = std::mem::take(&mut self.held);
        let (view, cursor) = self.view(live, cursor);
        let has_finished = !finished.is_empty() || !held.is_empty();
        let is_redrawn = self.is_stale || has_finished || view != self.drawn;
        let (row, column) = cursor.unwrap_or((0, 0));
        if is_redrawn {
            self.out.extend_from_slice(FRAME_BEGIN.as_bytes());
            if std::mem::take(&mut self.is_stale) {
                self.erase_live();
            }
            self.print_finished(&held);
            self.print_finished(finished);
            self.draw_live(view);
            self.move_to_row(row);
            push_column(&mut self.out, column);
            self.out.extend_from_slice(if cursor.is_some() { CURSOR_SHOW } else { "" }.as_bytes());
            self.out.extend_from_slice(FRAME_END.as_bytes());
        } else if (row, column) != (self.row, self.column) || cursor.is_some() != self.is_cursor_shown {
            self.move_to_row(row);
            push_column(&mut self.out, column);
            if cursor.is_some() != self.is_cursor_shown {
                let sign = if cursor.is_some() { CURSOR_SHOW } else { CURSOR_HIDE };
                self.out.extend_from_slice(sign.as_bytes());
            }
        }
        self.column = column;
        self.is_cursor_shown = cursor.is_some();
        &self.out
    }

    /// Before another program gets the terminal, or relay stops: the live lines are gone, the cursor stands on an empty
    /// line below what is finished. The next frame draws the live lines again, wherever the cursor is then.
    pub fn leave(&mut self) -> &[u8] {
        self.out.clear();
        self.erase_live();
        self.is_settling = false;
        let held = std::mem::take(&mut self.held);
        self.print_finished(&held);
        self.out.extend_from_slice(b"\x1b[0m");
        self.out.extend_from_slice(CURSOR_SHOW.as_bytes());
        self.is_cursor_shown = true;
        self.is_stale = false;
        &self.out
    }

    /// The live lines stay where they are, as if they were finished; what follows comes below.
    pub fn leave_standing(&mut self) -> &[u8] {
        self.out.clear();
        if !self.drawn.is_empty() {
            self.move_to_row(self.drawn.len() - 1);
            self.out.extend_from_slice(b"\r\n");
        }
        self.drawn.clear();
        (self.row, self.column) = (0, 0);
        self.out.extend_from_slice(CURSOR_SHOW.as_bytes());
        self.is_cursor_shown = true;
        self.is_stale = false;
        &self.out
    }

    /// Something else cleared the whole screen, and the cursor is at its beginning.
    pub fn forget_drawn(&mut self) {
        self.drawn.clear();
        (self.row, self.column) = (0, 0);
        self.is_stale = false;
    }

    /// The live lines that are shown: those at the end, or so many before that the cursor is among them.
    fn view(
        &self,
        live: &[String],
        cursor: Option<(usize, usize)>,
    ) -> (Vec<ScreenLine>, Option<(usize, usize)>) {
        let width = self.width();
        let room = self.live_rows();
        let cursor = cursor.map(|(row, column)| (row.min(live.len().saturating_sub(1)), column.min(width)));
        let cursor = cursor.filter(|_| !live.is_empty());
        let mut first = live.len().saturating_sub(room);
        if let Some((row, _)) = cursor
            && first > 0
            && row < first + usize::from(room > 1)
        {
            // One line says what is hidden.
            first = row.saturating_sub(usize::from(room > 1));
            first = if first <= 1 { 0 } else { first };
        }
        let shown = &live[first..live.len().min(first + room)];
        let mut view: Vec<ScreenLine> = shown.iter().map(|line| ScreenLine::clipped(line, width)).collect();
        let cursor = cursor.map(|(row, column)| (row - first, column));
        let (above, below) = (first, live.len() - first - shown.len());
        if room > 1 {
            if above > 0 && cursor.is_none_or(|(row, _)| row > 0) {
                view[0] = self.hidden_line(above + 1, width);
            }
            let last = view.len().saturating_sub(1);
            if below > 0 && cursor.is_none_or(|(row, _)| row < last) {
                view[last] = self.hidden_line(below + 1, width);
            }
        }
        if self.traits.reflows
            && let Some((row, column)) = cursor
        {
            // A cursor behind the text has no certain place on a terminal that re-flows.
            view[row].pad_to(column + 1);
        }
        (view, cursor)
    }

    fn hidden_line(&self, count: usize, width: usize) -> ScreenLine {
        let sign = if self.traits.utf8 { "…" } else { "..." };
        let noun = if count == 1 { "line" } else { "lines" };
        ScreenLine::clipped(&format!("\x1b[2m{sign} {count} {noun} hidden\x1b[0m"), width)
    }

    /// Goes to the first live line, wherever the terminal has it now, and erases it and all below.
    fn erase_live(&mut self) {
        self.out.push(b'\r');
        let rows_up = match self.traits.reflows {
            true => {
                let columns = self.traits.columns;
                let above: usize = self.drawn.iter().take(self.row).map(|line| line.rows_at(columns)).sum();
                let within = self
                    .drawn
                    .get(self.row)
                    .map_or(0, |line| line.row_of(self.column.min(line.cells.saturating_sub(1)), columns));
                // tmux is sometimes off by one with the cursor after it re-flowed, so one row stays in any case. It is the first
                // live line, best an empty one.
                let guard = usize::from(std::mem::take(&mut self.has_new_width));
                if above + within < guard {
                    self.out.push(b'\n');
                }
                (above + within).saturating_sub(guard)
            }
            false => self.row,
        };
        push_motion(&mut self.out, rows_up, 'A');
        self.out.extend_from_slice(ERASE_BELOW.as_bytes());
        self.drawn.clear();
        (self.row, self.column) = (0, 0);
    }

    /// Makes room above the live lines, which move down by themselves.
    fn print_finished(&mut self, finished: &[String]) {
        let width = self.width();
        let rows: Vec<ScreenLine> =
            finished.iter().flat_map(|line| split_painted(line, width, SPLIT_ROWS)).collect();
        if rows.is_empty() {
            return;
        }
        // The live lines move down as they are only where a row is a line. On a terminal that re-flows, and got narrower before
        // relay knows, they are more rows: drawn again, they at least stay below what is printed now.
        let can_insert = !self.traits.reflows && self.drawn.len() + rows.len() <= self.traits.rows;
        if !self.drawn.is_empty() && can_insert {
            let last = self.drawn.len() - 1;
            self.move_to_row(last);
            self.out.push(b'\r');
            self.out.extend(std::iter::repeat_n(b'\n', rows.len()));
            push_motion(&mut self.out, last + rows.len(), 'A');
            push_motion(&mut self.out, rows.len(), 'L');
        } else if !self.drawn.is_empty() {
            self.move_to_row(0);
            self.out.push(b'\r');
            self.out.extend_from_slice(ERASE_BELOW.as_bytes());
            self.drawn.clear();
        }
        for row in &rows {
            self.out.extend_from_slice(row.text.as_bytes());
            self.out.extend_from_slice(b"\r\n");
        }
        (self.row, self.column) = (0, 0);
    }

    fn draw_live(&mut self, view: Vec<ScreenLine>) {
        for (row, line) in view.iter().enumerate() {
            let Some(old) = self.drawn.get(row) else {
                if row > 0 {
                    self.move_to_row(row - 1);
                    self.out.extend_from_slice(b"\r\n");
                    self.row = row;
                } else {
                    self.out.push(b'\r');
                }
                self.out.extend_from_slice(line.text.as_bytes());
                self.column = line.cells;
                continue;
            };
            if old.text == line.text {
                continue;
            }
            let (start, column, paint) = line.first_difference(old);
            let is_shorter = line.cells < old.cells;
            self.move_to_row(row);
            push_column(&mut self.out, column);
            // From its beginning, a row is erased first: that also ends its belonging to the next row, if it wrapped.
            if is_shorter || (column == 0 && self.traits.reflows) {
                self.out.extend_from_slice(ERASE_RIGHT.as_bytes());
            }
            self.out.extend_from_slice(paint.as_bytes());
            self.out.extend_from_slice(&line.text.as_bytes()[start..]);
            self.column = line.cells;
        }
        if view.len() < self.drawn.len() {
            if view.is_empty() {
                self.move_to_row(0);
                self.out.push(b'\r');
            } else {
                // Not from the last line itself: what it shows stays.
                self.move_to_row(view.len());
                self.out.push(b'\r');
            }
            self.out.extend_from_slice(ERASE_BELOW.as_bytes());
        }
        self.drawn = view;
    }

    fn move_to_row(&mut self, row: usize) {
        push_motion(&mut self.out, self.row.saturating_sub(row), 'A');
        // Not by a motion: that would end at the last row of a terminal that is lower than it was, and the way back up would
        // be too long then. A line feed goes on.
        self.out.extend(std::iter::repeat_n(b'\n', row.saturating_sub(self.row)));
        self.row = row;
    }
}
