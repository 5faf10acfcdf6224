//! What the pager looks like.

use relaycode_text::escape::{TAB_STOP, is_unsafe};

use super::{Pager, PagerKind, PagerPlace, PagerStage};
use crate::Glyph;
use crate::picker::painted_row::char_cells;
use crate::picker::{PaintedRow, help_row, title_row};
use crate::theme::{ThemeStyle, ThemeToken};

/// Cells that a character takes at a column, as it is shown.
fn shown_cells(c: char, column: usize, utf8: bool) -> usize {
    match c {
        '\t' => TAB_STOP - column % TAB_STOP,
        _ if is_unsafe(c) || (!utf8 && !c.is_ascii()) => c.escape_default().count(),
        _ => char_cells(c),
    }
}

/// The bytes at which the rows of a piece begin.
pub(super) fn row_starts(piece: &str, width: usize, utf8: bool) -> Vec<usize> {
    let width = width.max(1);
    let mut starts = vec![0];
    let mut column = 0;
    for (at, c) in piece.char_indices() {
        let cells = shown_cells(c, column, utf8);
        if column + cells > width && column > 0 {
            starts.push(at);
            column = shown_cells(c, 0, utf8);
        } else {
            column += cells;
        }
    }
    starts
}

impl Pager {
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let (has_title, has_help) = (height >= 5, height >= 4);
        let is_typing = self.stage != PagerStage::Read;
        let foot = usize::from(has_help || is_typing);
        let rows = height.saturating_sub(usize::from(has_title) + foot);
        let gutter = self.gutter(width);
        self.size.set((width.saturating_sub(gutter).max(1), rows));
        self.utf8.set(style.output.utf8);

        let mut body = Vec::with_capacity(rows);
        let mut place = Some(self.clamped_top());
        while let Some(here) = place.filter(|_| body.len() < rows) {
            body.push(self.text_row(style, width, gutter, here));
            place = self.step_down(here);
        }
        body.resize(rows, String::new());

        let mut lines = Vec::with_capacity(height);
        if has_title {
            lines.push(title_row(style, width, &self.title, &self.position_text(style, rows)));
        }
        lines.append(&mut body);
        if foot > 0 {
            lines.push(self.foot_row(style, width));
        }
        lines
    }

    /// The place, if the width has changed meanwhile.
    fn clamped_top(&self) -> PagerPlace {
        PagerPlace { row: self.top.row.min(self.rows_of(self.top.piece) - 1), ..self.top }
    }

    fn gutter(&self, width: usize) -> usize {
        let cells = self.text.line_count().to_string().len() + 2;
        if self.numbers && cells + 10 <= width { cells } else { 0 }
    }

    fn text_row(&self, style: &ThemeStyle, width: usize, gutter: usize, place: PagerPlace) -> String {
        let mut row = PaintedRow::new(style, width);
        if gutter > 0 {
            let is_first = place.row == 0 && self.text.is_line_start(place.piece);
            let line = self.text.line_of_piece(place.piece) + 1;
            let number = if is_first { format!("{line:>width$}", width = gutter - 2) } else { String::new() };
            row.colored(ThemeToken::Dim, &number).pad_to(gutter);
        }
        let room = row.room();
        let piece = self.text.piece(place.piece);
        let (start, end, column) = match self.wraps {
            true => {
                let starts = self.starts(piece);
                let start = starts.get(place.row).copied().unwrap_or_default();
                (start, starts.get(place.row + 1).copied().unwrap_or(piece.len()), 0)
            }
            false => {
                // Lines begin with their first piece; what is to the right may be in a later one.
                return self.unwrapped_row(row, place);
            }
        };
        let token = self.line_token(place.piece);
        self.push_marked(&mut row, piece, (start, end), (column, room), token);
        row.finish()
    }

    fn unwrapped_row(&self, mut row: PaintedRow<'_>, place: PagerPlace) -> String {
        let utf8 = self.utf8.get();
        let (line, room) = (self.text.line(self.text.line_of_piece(place.piece)), row.room());
        let (mut column, mut start) = (0, line.len());
        for (at, c) in line.char_indices() {
            if column >= self.left {
                start = at;
                break;
            }
            column += shown_cells(c, column, utf8);
        }
        // As much as could be seen.
        let most = line[start..].char_indices().nth((room + 2) * 9).map_or(line.len(), |(at, _)| start + at);
        let token = self.line_token(place.piece);
        let shown = &line[start..most];
        self.push_marked(&mut row, shown, (0, shown.len()), (column, room), token);
        row.finish()
    }

    /// A part of `piece` with tabs as blanks and matches marked.
    fn push_marked(
        &self,
        row: &mut PaintedRow<'_>,
        piece: &str,
        (start, end): (usize, usize),
        (mut column, room): (usize, usize),
        token: Option<ThemeToken>,
    ) {
        let matches = self.search.as_ref().map(|search| search.all_in(piece)).unwrap_or_default();
        let utf8 = self.utf8.get();
        let (mut span, mut is_found) = (String::new(), false);
        let mut used = 0;
        for (at, c) in piece[start..end].char_indices().map(|(at, c)| (start + at, c)) {
            let found = matches.iter().any(|range| range.contains(&at));
            if found != is_found {
                self.push_span(row, &span, is_found, token);
                span.clear();
                is_found = found;
            }
            let cells = shown_cells(c, column, utf8);
            match c {
                '\t' => span.extend(std::iter::repeat_n(' ', cells)),
                _ => span.push(c),
            }
            column += cells;
            used += cells;
            if used > room {
                break;
            }
        }
        self.push_span(row, &span, is_found, token);
    }

    fn push_span(&self, row: &mut PaintedRow<'_>, span: &str, is_found: bool, token: Option<ThemeToken>) {
        match (is_found, token) {
            (false, None) => row.plain(span),
            (false, Some(token)) => row.colored(token, span),
            (true, _) => row.found(span),
        };
    }

    fn line_token(&self, piece: usize) -> Option<ThemeToken> {
        if self.text.kind() == PagerKind::Text {
            return None;
        }
        let first = self.text.piece_of_line(self.text.line_of_piece(piece));
        diff_token(self.text.piece(first))
    }

    /// `12–31 of 212 · 15 %`
    fn position_text(&self, style: &ThemeStyle, rows: usize) -> String {
        let first = self.text.line_of_piece(self.top.piece) + 1;
        let mut place = self.clamped_top();
        for _ in 1..rows {
            match self.step_down(place) {
                Some(next) => place = next,
                None => break,
            }
        }
        let (last, all) = (self.text.line_of_piece(place.piece) + 1, self.text.line_count());
        let (dash, dot) = (if style.output.utf8 { "–" } else { "-" }, style.output.glyph(Glyph::Dot));
        let percent = last * 100 / all.max(1);
        let cut = if self.text.is_cut() { ", the rest is left out" } else { "" };
        format!("{first}{dash}{last} of {all} {dot} {percent} %{cut}")
    }

    fn foot_row(&self, style: &ThemeStyle, width: usize) -> String {
        let mut row = PaintedRow::new(style, width);
        let (sign, field) = match &self.stage {
            PagerStage::Search(field, _) => ("/", field),
            PagerStage::GoTo(field) => ("line ", field),
            PagerStage::Read if !self.note.is_empty() => {
                row.colored(ThemeToken::Warning, self.note);
                return row.finish();
            }
            PagerStage::Read => {
                let keys: &[(&str, &str)] = match self.text.kind() {
                    PagerKind::Text => &[
                        ("q", "close"),
                        ("/", "search"),
                        ("n N", "next"),
                        ("w", "wrap"),
                        ("l", "numbers"),
                        (":", "line"),
                    ],
                    PagerKind::Diff => &[
                        ("q", "close"),
                        ("] [", "hunk"),
                        ("} {", "file"),
                        ("/", "search"),
                        ("n N", "next"),
                        ("w", "wrap"),
                        ("l", "numbers"),
                    ],
                };
                return help_row(style, width, keys);
            }
        };
        row.colored(ThemeToken::Accent, sign);
        field.draw(&mut row, style.output.utf8);
        if !self.note.is_empty() {
            row.colored(ThemeToken::Warning, &format!("  {}", self.note));
        }
        row.finish()
    }
}

/// The colour of a line of a unified diff.
pub(crate) fn diff_token(line: &str) -> Option<ThemeToken> {
    match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("diff --git ") => {
            Some(ThemeToken::Accent)
        }
        Some(b'+') => Some(ThemeToken::ToolDiffAdded),
        Some(b'-') => Some(ThemeToken::ToolDiffRemoved),
        Some(b'@') => Some(ThemeToken::Muted),
        Some(b' ') => Some(ThemeToken::ToolDiffContext),
        _ => Some(ThemeToken::Dim),
    }
}
