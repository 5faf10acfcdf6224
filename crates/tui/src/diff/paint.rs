//! Which colours the pieces of a line have.
//!
//! Red and green belong to what goes and comes and to nothing else. A line that came or went as a whole has
//! one colour. In a line that was changed, only the words that differ have it, and stand out; the rest, like the lines
//! around the change, has the quiet colours of its language. All are of the sixteen that every terminal knows, and
//! readable on a dark and on a light ground.

use std::ops::Range;
use std::time::{Duration, Instant};

use relaycode_change::diff::{self, Content, DiffHunk, DiffLine, FileDiff, LineKind, LineWords};
use relaycode_change::path::RelPath;
use relaycode_change::plan::FilePlan;
use relaycode_change::syntax::paint::{Class, Classes, Span, classes};

use crate::look::{Look, Paint};

/// What the lines of a file are made of, before and after. The default knows nothing.
#[derive(Debug, Default)]
pub(super) struct Colours {
    old: Classes,
    new: Classes,
}

impl Colours {
    /// Looks at the lines that `diff` shows, for at most `budget`.
    pub(super) fn of(file: &FilePlan, diff: &FileDiff, budget: Duration, look: &Look) -> Colours {
        let Content::Text { hunks, .. } = &diff.content else {
            return Colours::default();
        };
        if !look.color {
            return Colours::default();
        }
        let has = |hunk: &DiffHunk, kind: LineKind| hunk.lines.iter().any(|line| line.kind == kind);
        // Lines that come or go as a whole show no colours of their language.
        let replaces = |hunk: &&DiffHunk| has(hunk, LineKind::Removed) && has(hunk, LineKind::Added);
        let shows = |hunk: &&DiffHunk| replaces(hunk) || has(hunk, LineKind::Context);
        let old: Vec<Range<usize>> = hunks.iter().filter(replaces).map(old_lines).collect();
        let new: Vec<Range<usize>> = hunks.iter().filter(shows).map(new_lines).collect();
        let start = Instant::now();
        let side = |path: &RelPath, bytes: &Option<Vec<u8>>, lines: &[Range<usize>]| {
            let left = budget.saturating_sub(start.elapsed());
            let text = bytes.as_deref().filter(|_| !lines.is_empty()).and_then(diff::decode)?;
            classes(path, &text, lines, left)
        };
        // What is new is worth more: it also gives the lines around a change their colours.
        let new = side(&file.path, &file.after, &new).unwrap_or_default();
        let old_path = file.renamed_from.as_ref().unwrap_or(&file.path);
        let old = side(old_path, &file.before, &old).unwrap_or_default();
        Colours { old, new }
    }

    fn spans(&self, line: &DiffLine) -> &[Span] {
        match (line.kind, line.old, line.new) {
            (LineKind::Removed, Some(number), _) => self.old.line(number),
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

/// A piece of a line that has one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) paint: Option<Paint>,
}

/// The colour of a line that comes or goes as a whole.
pub(super) fn whole(kind: LineKind) -> Option<Paint> {
    match kind {
        LineKind::Context => None,
        LineKind::Added => Some(Paint::Good),
        LineKind::Removed => Some(Paint::Bad),
    }
}

/// The pieces of line `at` of a hunk, which together are all of its text; `None` if it comes or goes as a whole, and
/// where no words are known.
pub(super) fn pieces<'a>(
    hunk: &'a DiffHunk,
    at: usize,
    words: &[LineWords],
    colours: &Colours,
) -> Option<Vec<Piece<'a>>> {
    let line = &hunk.lines[at];
    let changed = &words.get(at)?.changed;
    if line.kind != LineKind::Context {
        // Partners that differ in their endings alone have no words to show.
        let partner = words.get(words[at].partner?)?;
        if changed.is_empty() && partner.changed.is_empty() {
            return None;
        }
    }
    let mut brush = Brush { text: &line.text, spans: colours.spans(line), at: 0, pieces: Vec::new() };
    for range in changed {
        brush.quiet(range.start);
        brush.word(range.end, line.kind);
    }
    brush.quiet(line.text.len());
    Some(brush.pieces)
}

/// Cuts a line into pieces, from left to right.
struct Brush<'a, 'c> {
    text: &'a str,
    /// What is left of the classes.
    spans: &'c [Span],
    at: usize,
    pieces: Vec<Piece<'a>>,
}

impl Brush<'_, '_> {
    /// Up to `end` in the colours of the language.
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

    /// Up to `end` as a word that comes or goes. Blanks have no strokes that could be bold.
    fn word(&mut self, end: usize, kind: LineKind) {
        let blank = self.text.get(self.at..end).is_some_and(|text| text.trim().is_empty());
        let paint = match (kind, blank) {
            (LineKind::Context, _) => None,
            (LineKind::Added, false) => Some(Paint::GoodWord),
            (LineKind::Added, true) => Some(Paint::GoodBlank),
            (LineKind::Removed, false) => Some(Paint::BadWord),
            (LineKind::Removed, true) => Some(Paint::BadBlank),
        };
        self.stroke(end, paint);
    }

    fn stroke(&mut self, end: usize, paint: Option<Paint>) {
        if end <= self.at {
            return;
        }
        // Only a boundary of characters is an end; what is before another one gets the next stroke.
        if let Some(text) = self.text.get(self.at..end) {
            self.pieces.push(Piece { text, paint });
            self.at = end;
        }
    }
}

fn quiet(class: Class) -> Paint {
    match class {
        Class::Comment => Paint::Dim,
        Class::Text | Class::Number => Paint::Literal,
        Class::Keyword => Paint::Keyword,
        Class::Type | Class::Name => Paint::Name,
    }
}

/// `text`, which is safe, in a colour or in none.
pub(super) fn tint(look: &Look, paint: Option<Paint>, text: &str) -> String {
    paint.map_or_else(|| text.to_string(), |paint| look.paint(paint, text))
}
