//! Hunks in two columns: before on the left, after on the right, each line with its number and sign.
//!
//! A changed line stands beside its new version. No line is cut: one wider than its column continues in the
//! next row, with `…` in place of a number. No row is wider than the terminal.

use std::fmt::Write;
use std::ops::Range;

use relaycode_change::diff::{DiffHunk, DiffLine, DiffLineKind, FileLineEnding, LineWords, changed_words};
use relaycode_text::escape::TAB_STOP;

use super::paint::{PaintedSpan, paint_text, painted_spans, whole_line_paint};
use super::{DiffView, NO_NEWLINE};
use crate::{Glyph, OutputStyle, PaintRole, StyledText, cells};

/// Least cells of a line number.
const NUMBER_CELLS: usize = 3;

/// Most zero-width marks in a row; those beyond become visible.
const MARKS: usize = 8;

pub(super) fn write(out: &mut String, hunks: &[DiffHunk], columns: usize, view: &DiffView<'_>) {
    let last = hunks.last().map_or(0, |hunk| {
        (hunk.old_start + hunk.old_lines).max(hunk.new_start + hunk.new_lines).saturating_sub(1)
    });
    let number = last.to_string().len().max(NUMBER_CELLS);
    let bar = view.style.paint(PaintRole::Dim, view.style.glyph(Glyph::Bar));
    // Number, blank, sign, text; blank, bar, blank; the same again.
    let text = (columns.saturating_sub(3) / 2).saturating_sub(number + 2).max(2);
    let sheet = SideBySideLayout { number, text, view };
    for hunk in hunks {
        let _ = writeln!(out, "{}", view.hunk_head(hunk));
        let words = changed_words(hunk);
        for (left, right) in rows(hunk, &words) {
            let mut left = sheet.column_rows(hunk, &words, left, |line| line.old).into_iter();
            let mut right = sheet.column_rows(hunk, &words, right, |line| line.new).into_iter();
            loop {
                let (left, right) = match (left.next(), right.next()) {
                    (None, None) => break,
                    (left, right) => (left.unwrap_or_default(), right.unwrap_or_default()),
                };
                let left = left.padded(number + 2 + text).text;
                let gap = if right.cells == 0 { "" } else { " " };
                let _ = writeln!(out, "{left} {bar}{gap}{}", right.text);
            }
        }
    }
}

/// The lines on both sides of a row.
type RowPair = (Option<usize>, Option<usize>);

/// Which lines stand beside each other, by their index in the hunk.
fn rows(hunk: &DiffHunk, words: &[LineWords]) -> Vec<RowPair> {
    let mut rows = Vec::new();
    let run_of = |from: usize, kind: DiffLineKind| {
        from..from + hunk.lines[from..].iter().take_while(|line| line.kind == kind).count()
    };
    let mut at = 0;
    while at < hunk.lines.len() {
        if hunk.lines[at].kind == DiffLineKind::Context {
            rows.push((Some(at), Some(at)));
            at += 1;
            continue;
        }
        let removed = run_of(at, DiffLineKind::Removed);
        let added = run_of(removed.end, DiffLineKind::Added);
        at = added.end;
        let (mut left, mut right) = (removed.start, added.start);
        for line in removed.clone() {
            if let Some(partner) = words[line].partner {
                pair_unrelated(left..line, right..partner, &mut rows);
                rows.push((Some(line), Some(partner)));
                (left, right) = (line + 1, partner + 1);
            }
        }
        pair_unrelated(left..removed.end, right..added.end, &mut rows);
    }
    rows
}

/// Unrelated lines share rows all the same: it saves half of them.
fn pair_unrelated(mut left: Range<usize>, mut right: Range<usize>, rows: &mut Vec<RowPair>) {
    let count = left.len().max(right.len());
    rows.extend((0..count).map(|_| (left.next(), right.next())));
}

/// Widths in cells.
struct SideBySideLayout<'a> {
    number: usize,
    /// One column's text.
    text: usize,
    view: &'a DiffView<'a>,
}

impl SideBySideLayout<'_> {
    /// The rows that a line takes in its column.
    fn column_rows(
        &self,
        hunk: &DiffHunk,
        words: &[LineWords],
        at: Option<usize>,
        number: fn(&DiffLine) -> Option<usize>,
    ) -> Vec<StyledText> {
        let Some((at, line)) = at.and_then(|at| Some((at, hunk.lines.get(at)?))) else {
            return Vec::new();
        };
        let style = self.view.style;
        let paint = whole_line_paint(line.kind);
        let mut ink = RowWrapper::new(style, self.text);
        match painted_spans(hunk, at, words, self.view.colours) {
            None => ink.push_piece(PaintedSpan { text: &line.text, paint }),
            Some(pieces) => pieces.into_iter().for_each(|piece| ink.push_piece(piece)),
        }
        ink.push_own(self.view.ending_mark(line), paint);
        let mut rows = Vec::new();
        for (row, text) in ink.finish().into_iter().enumerate() {
            let (count, sign) = match number(line).filter(|_| row == 0) {
                Some(number) => (number.to_string(), paint_text(style, paint, &line.kind.sign().to_string())),
                None => (style.glyph(Glyph::More).to_string(), " ".to_string()),
            };
            rows.push(self.gutter(&count, &sign).append(&text));
        }
        if line.ending == FileLineEnding::None {
            let mut ink = RowWrapper::new(style, self.text);
            ink.push_own(NO_NEWLINE, Some(PaintRole::Dim));
            rows.extend(ink.finish().iter().map(|text| self.gutter("", " ").append(text)));
        }
        rows
    }

    /// Before the text: a number, a blank, a sign of one cell.
    fn gutter(&self, number: &str, sign: &str) -> StyledText {
        let number = format!("{}{number}", " ".repeat(self.number.saturating_sub(cells(number))));
        let text = format!("{} {sign}", self.view.style.paint(PaintRole::Dim, &number));
        StyledText { text, cells: self.number + 2 }
    }
}

/// Breaks painted text into rows of a fixed width: between words and operators, and within one only if it is wider than
/// a row.
struct RowWrapper<'a> {
    style: &'a OutputStyle,
    width: usize,
    rows: Vec<StyledText>,
    /// Cells of the line so far, for tab stops.
    column: usize,
    /// Text of one colour that is not in a row yet.
    pending: (StyledText, Option<PaintRole>),
    /// A word or an operator that is not complete yet.
    token: Vec<TokenPart>,
    token_cells: usize,
    token_kind: TokenKind,
    /// It was too wide for a row, and is broken.
    token_broken: bool,
    marks: usize,
}

/// What stays together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Word,
    /// `==`, `->`, `&&`
    Operator,
    /// A blank, a bracket: on its own.
    Single,
}

/// A character as it is shown.
struct TokenPart {
    text: String,
    paint: Option<PaintRole>,
}

impl TokenKind {
    fn of(c: char) -> TokenKind {
        match c {
            _ if c.is_alphanumeric() || c == '_' => TokenKind::Word,
            '=' | '!' | '<' | '>' | '&' | '|' | '+' | '-' | '*' | '/' | '%' | '^' | '~' | '?' | ':' | '.' => {
                TokenKind::Operator
            }
            _ => TokenKind::Single,
        }
    }
}

impl<'a> RowWrapper<'a> {
    fn new(style: &'a OutputStyle, width: usize) -> RowWrapper<'a> {
        RowWrapper {
            style,
            width,
            rows: vec![StyledText::default()],
            column: 0,
            pending: (StyledText::default(), None),
            token: Vec::new(),
            token_cells: 0,
            token_kind: TokenKind::Single,
            token_broken: false,
            marks: 0,
        }
    }

    /// Foreign text in one colour. An escaped character stays in one row.
    fn push_piece(&mut self, piece: PaintedSpan<'_>) {
        for c in piece.text.chars() {
            match c {
                '\t' => {
                    self.end_token();
                    (0..TAB_STOP - self.column % TAB_STOP).for_each(|_| self.push_unbroken(" ", piece.paint));
                }
                _ => self.push_character(c, piece.paint),
            }
        }
    }

    fn push_character(&mut self, c: char, paint: Option<PaintRole>) {
        let mut bytes = [0; 4];
        let shown = self.style.code(c.encode_utf8(&mut bytes));
        self.marks = if cells(&shown) == 0 { self.marks + 1 } else { 0 };
        let shown = if self.marks > MARKS { c.escape_unicode().to_string() } else { shown.into_owned() };
        let width = cells(&shown);
        let kind = match width {
            // A mark belongs to the character before it.
            0 => self.token_kind,
            1 => TokenKind::of(c),
            // An escape, or a script that is broken anywhere.
            _ => TokenKind::Single,
        };
        if width > 0 && (kind != self.token_kind || kind == TokenKind::Single) {
            self.end_token();
        }
        self.token_kind = kind;
        if self.token_broken {
            return self.push_unbroken(&shown, paint);
        }
        self.token.push(TokenPart { text: shown, paint });
        self.token_cells += width;
        if self.token_cells > self.width {
            self.token_broken = true;
            self.place_token();
        }
    }

    /// The token is complete: it goes into this row, or begins the next.
    fn end_token(&mut self) {
        let used = self.used_cells();
        if used > 0 && used + self.token_cells > self.width {
            self.begin_row();
        }
        self.place_token();
        self.token_broken = false;
    }

    fn place_token(&mut self) {
        self.token_cells = 0;
        for part in std::mem::take(&mut self.token) {
            self.push_unbroken(&part.text, part.paint);
        }
    }

    /// Relay's own words.
    fn push_own(&mut self, text: &str, paint: Option<PaintRole>) {
        self.end_token();
        text.split_inclusive(' ').for_each(|word| self.push_unbroken(word, paint));
    }

    /// Safe text that is not broken.
    fn push_unbroken(&mut self, text: &str, paint: Option<PaintRole>) {
        let width = cells(text);
        let used = self.used_cells();
        if used > 0 && used + width > self.width {
            self.begin_row();
        }
        if self.pending.1 != paint {
            self.flush();
            self.pending.1 = paint;
        }
        self.pending.0.text.push_str(text);
        self.pending.0.cells += width;
        self.column += width;
    }

    fn used_cells(&self) -> usize {
        self.rows.last().map_or(0, |row| row.cells) + self.pending.0.cells
    }

    fn begin_row(&mut self) {
        self.flush();
        self.rows.push(StyledText::default());
    }

    fn flush(&mut self) {
        let (text, paint) = (std::mem::take(&mut self.pending.0), self.pending.1);
        if let Some(row) = self.rows.last_mut() {
            row.text += &paint_text(self.style, paint, &text.text);
            row.cells += text.cells;
        }
    }

    fn finish(mut self) -> Vec<StyledText> {
        self.end_token();
        self.flush();
        self.rows
    }
}
