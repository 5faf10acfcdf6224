//! Whether a place in a text is quoted: in a closed fence of Markdown, in a code span of its paragraph, or in a string on its
//! line. A quote that nothing closes is none, since a leak goes on to the end.
//!
//! Places are asked for from left to right, so that each line and paragraph is read once.

use std::ops::Range;

pub(super) struct QuoteFinder<'t> {
    text: &'t str,
    /// From one fence to the one that closes it.
    fenced: Vec<Range<usize>>,
    paragraph: Delimiters,
    line: Delimiters,
    line_apostrophes: Delimiters,
}

/// A piece of the text, and where one kind of delimiter stands in it.
#[derive(Default)]
struct Delimiters {
    range: Range<usize>,
    places: Vec<usize>,
}

impl<'t> QuoteFinder<'t> {
    pub(super) fn new(text: &'t str) -> QuoteFinder<'t> {
        QuoteFinder {
            text,
            fenced: closed_fences(text),
            paragraph: Delimiters::default(),
            line: Delimiters::default(),
            line_apostrophes: Delimiters::default(),
        }
    }

    pub(super) fn is_quoted(&mut self, start: usize, end: usize) -> bool {
        let text = self.text;
        let fence = self.fenced.partition_point(|fence| fence.end <= start);
        if self.fenced.get(fence).is_some_and(|fence| fence.contains(&start)) {
            return true;
        }
        if !self.paragraph.range.contains(&start) {
            let range = piece_around(text, start, "\n\n");
            self.paragraph = Delimiters { places: backticks(text, &range), range };
        }
        if !self.line.range.contains(&start) {
            let range = piece_around(text, start, "\n");
            self.line = Delimiters { places: string_quotes(text, &range), range: range.clone() };
            self.line_apostrophes = Delimiters { places: apostrophes(text, &range), range };
        }
        let kinds = [&self.paragraph, &self.line, &self.line_apostrophes];
        kinds.iter().any(|delimiters| delimiters.enclose(text, start, end))
    }
}

impl Delimiters {
    /// One is open there and closed behind it, all of them in pairs.
    fn enclose(&self, text: &str, start: usize, end: usize) -> bool {
        let before = self.places.partition_point(|place| *place < start);
        let Some(close) = self.places[before..].iter().find(|place| **place >= end) else { return false };
        let goes_on = text[close + 1..].starts_with(|c: char| c.is_alphanumeric());
        before % 2 == 1 && self.places.len().is_multiple_of(2) && !goes_on
    }
}

/// The piece between two separators.
fn piece_around(text: &str, at: usize, separator: &str) -> Range<usize> {
    let start = text[..at].rfind(separator).map_or(0, |found| found + separator.len());
    let end = text[at..].find(separator).map_or(text.len(), |found| at + found);
    start..end.max(at + 1).min(text.len())
}

fn closed_fences(text: &str) -> Vec<Range<usize>> {
    let mut closed = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // Fences also stand in comments, quotes and added lines.
        let line = line.trim_start_matches([' ', '\t', '+', '/', '!', '*', '#', '>']).trim_end();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (mark, open) {
            (Some(mark), None) => open = Some((start, mark)),
            (Some(mark), Some((from, opened))) if mark == opened && line.len() == mark.len() => {
                closed.push(from..at);
                open = None;
            }
            _ => {}
        }
    }
    closed
}

/// Of code spans: one or two in a row are one, more are a fence.
fn backticks(text: &str, range: &Range<usize>) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let mut run: Option<Range<usize>> = None;
    let mut end = |run: &mut Option<Range<usize>>| {
        if let Some(run) = run.take().filter(|run| run.len() < 3) {
            places.push(run.end - 1);
        }
    };
    for at in range.clone().filter(|at| text.as_bytes()[*at] == b'`') {
        match &mut run {
            Some(run) if run.end == at => run.end += 1,
            _ => {
                end(&mut run);
                run = Some(at..at + 1);
            }
        }
    }
    end(&mut run);
    places
}

fn string_quotes(text: &str, range: &Range<usize>) -> Vec<usize> {
    let mut is_escaped = false;
    let is_quote = |at: &usize| {
        let byte = text.as_bytes()[*at];
        let counts = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        counts
    };
    range.clone().filter(is_quote).collect()
}

/// Those that are no apostrophe within a word.
fn apostrophes(text: &str, range: &Range<usize>) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    let is_quote =
        |at: &usize| bytes[*at] == b'\'' && !(at.checked_sub(1).is_some_and(is_word) && is_word(at + 1));
    range.clone().filter(is_quote).collect()
}
