//! The colours of the pieces of a line.
//!
//! Red and green mean removed and added and nothing else. A line that was added or removed as a whole has
//! one colour. In a changed line only the differing words have it, and stand out; the rest, like the
//! context lines, has the quiet colours of its language. All are among the sixteen that every terminal
//! knows, and readable on dark and light backgrounds.

use std::ops::Range;
use std::time::{Duration, Instant};

use relaycode_change::diff::{self, DiffContent, DiffHunk, DiffLine, DiffLineKind, FileDiff, LineWords};
use relaycode_change::plan::FilePlan;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::syntax::highlight::{SyntaxClass, SyntaxSpan, SyntaxSpans, highlight_lines};

use crate::{OutputStyle, PaintRole};

/// Syntax classes of the lines of a file, before and after. The default has none.
#[derive(Debug, Default)]
pub(super) struct SyntaxColours {
    old: SyntaxSpans,
    new: SyntaxSpans,
}

impl SyntaxColours {
    /// Classifies the lines that `diff` shows, for at most `budget`.
    pub(super) fn for_diff(
        file: &FilePlan,
        diff: &FileDiff,
        budget: Duration,
        style: &OutputStyle,
    ) -> SyntaxColours {
        let DiffContent::Text { hunks, .. } = &diff.content else {
            return SyntaxColours::default();
        };
        if !style.color {
            return SyntaxColours::default();
        }
        let has = |hunk: &DiffHunk, kind: DiffLineKind| hunk.lines.iter().any(|line| line.kind == kind);
        // Lines added or removed as a whole show no syntax colours.
        let replaces = |hunk: &&DiffHunk| has(hunk, DiffLineKind::Removed) && has(hunk, DiffLineKind::Added);
        let shows = |hunk: &&DiffHunk| replaces(hunk) || has(hunk, DiffLineKind::Context);
        let old: Vec<Range<usize>> = hunks.iter().filter(replaces).map(old_lines).collect();
        let new: Vec<Range<usize>> = hunks.iter().filter(shows).map(new_lines).collect();
        let start = Instant::now();
        let side = |path: &RelPath, bytes: &Option<Vec<u8>>, lines: &[Range<usize>]| {
            let left = budget.saturating_sub(start.elapsed());
            let text = bytes.as_deref().filter(|_| !lines.is_empty()).and_then(diff::decode_text)?;
            highlight_lines(path, &text, lines, left)
        };
        // The new side is worth more: it also gives the context lines their colours.
        let new = side(&file.path, &file.after, &new).unwrap_or_default();
        let old_path = file.renamed_from.as_ref().unwrap_or(&file.path);
        let old = side(old_path, &file.before, &old).unwrap_or_default();
        SyntaxColours { old, new }
    }

    fn spans(&self, line: &DiffLine) -> &[SyntaxSpan] {
        match (line.kind, line.old, line.new) {
            (DiffLineKind::Removed, Some(number), _) => self.old.line(number),
            (_, _, Some(number)) => self.new.line(number),
            _ => &[],
        }
    }
}

fn old_lines(hunk: &DiffHunk) -> Range<usize> {
    hunk.old_start..hunk.old_start + hunk.old_lines
}

fn new_lines(hunk: &DiffHunk) -> Range<usize> {
    hunk.new_start..hunk.new_start + hunk.new_lines
}

/// A piece of a line in one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PaintedSpan<'a> {
    pub(super) text: &'a str,
    pub(super) paint: Option<PaintRole>,
}

/// The colour of a line added or removed as a whole.
pub(super) fn whole_line_paint(kind: DiffLineKind) -> Option<PaintRole> {
    match kind {
        DiffLineKind::Context => None,
        DiffLineKind::Added => Some(PaintRole::Good),
        DiffLineKind::Removed => Some(PaintRole::Bad),
    }
}

/// The pieces of line `at` of a hunk, which together are its whole text; `None` if it was added or removed
/// as a whole, or if no words are known.
pub(super) fn painted_spans<'a>(
    hunk: &'a DiffHunk,
    at: usize,
    words: &[LineWords],
    colours: &SyntaxColours,
) -> Option<Vec<PaintedSpan<'a>>> {
    let line = &hunk.lines[at];
    let changed = &words.get(at)?.changed;
    if line.kind != DiffLineKind::Context {
        // Partners that differ only in their line endings have no words to show.
        let partner = words.get(words[at].partner?)?;
        if changed.is_empty() && partner.changed.is_empty() {
            return None;
        }
    }
    let mut brush = LinePainter { text: &line.text, spans: colours.spans(line), at: 0, pieces: Vec::new() };
    for range in changed {
        brush.quiet(range.start);
        brush.word(range.end, line.kind);
    }
    brush.quiet(line.text.len());
    Some(brush.pieces)
}

/// Cuts a line into pieces, from left to right.
struct LinePainter<'a, 'c> {
    text: &'a str,
    /// The remaining syntax classes.
    spans: &'c [SyntaxSpan],
    at: usize,
    pieces: Vec<PaintedSpan<'a>>,
}

impl LinePainter<'_, '_> {
    /// Up to `end` in syntax colours.
    fn quiet(&mut self, end: usize) {
        while let Some(((bytes, class), rest)) = self.spans.split_first() {
            self.stroke(bytes.start.min(end), None);
            self.stroke(bytes.end.min(end), Some(quiet(*class)));
            if bytes.end > end {
                return;
            }
            self.spans = rest;
        }
        self.stroke(end, None);
    }

    /// Up to `end` as an added or removed word. Blanks cannot be bold.
    fn word(&mut self, end: usize, kind: DiffLineKind) {
        let blank = self.text.get(self.at..end).is_some_and(|text| text.trim().is_empty());
        let paint = match (kind, blank) {
            (DiffLineKind::Context, _) => None,
            (DiffLineKind::Added, false) => Some(PaintRole::GoodWord),
            (DiffLineKind::Added, true) => Some(PaintRole::GoodBlank),
            (DiffLineKind::Removed, false) => Some(PaintRole::BadWord),
            (DiffLineKind::Removed, true) => Some(PaintRole::BadBlank),
        };
        self.stroke(end, paint);
    }

    fn stroke(&mut self, end: usize, paint: Option<PaintRole>) {
        if end <= self.at {
            return;
        }
        // Cut only at character boundaries; the rest goes into the next piece.
        if let Some(text) = self.text.get(self.at..end) {
            self.pieces.push(PaintedSpan { text, paint });
            self.at = end;
        }
    }
}

fn quiet(class: SyntaxClass) -> PaintRole {
    match class {
        SyntaxClass::Comment => PaintRole::Dim,
        SyntaxClass::Text | SyntaxClass::Number => PaintRole::Literal,
        SyntaxClass::Keyword => PaintRole::Keyword,
        SyntaxClass::Type | SyntaxClass::Name => PaintRole::Name,
    }
}

/// `text` must be safe.
pub(super) fn paint_text(style: &OutputStyle, paint: Option<PaintRole>, text: &str) -> String {
    paint.map_or_else(|| text.to_string(), |paint| style.paint(paint, text))
}
