//! A line made of pieces that are measured, cut and wrapped before they are painted. The pieces must be safe already:
//! foreign text comes in through [`shown`].
//!
//! Invariant: what [`SpanLine::clip`] and [`SpanLine::wrap`] give is never wider than asked, whatever it consists of.

use std::borrow::Cow;

use relaycode_text::escape::{EscapeOptions, EscapeTabs};
use relaycode_text::width::cells;

use crate::theme::{ThemeStyle, ThemeToken};
use crate::{Glyph, OutputStyle};

/// Marks without width that may follow one another; more are left out, so that a line is bounded in bytes, too.
const MAX_MARKS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
struct LineSpan {
    paint: SpanPaint,
    text: String,
}

/// How a piece is painted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SpanPaint {
    token: Option<ThemeToken>,
    /// It stands out: bold, or underlined where there are only blanks.
    is_strong: bool,
}

/// Pieces of one line, from left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SpanLine {
    spans: Vec<LineSpan>,
    cells: usize,
}

/// One line of foreign text made safe: tabs become blanks, everything else that is no character becomes visible.
pub(crate) fn shown<'t>(output: &OutputStyle, text: &'t str) -> Cow<'t, str> {
    EscapeOptions { tabs: EscapeTabs::Expand, newlines: false, ascii: !output.utf8 }.apply(text)
}

impl SpanLine {
    pub(crate) fn plain(text: impl AsRef<str>) -> SpanLine {
        SpanLine::default().add(None, text)
    }

    pub(crate) fn painted(token: ThemeToken, text: impl AsRef<str>) -> SpanLine {
        SpanLine::default().with(token, text)
    }

    pub(crate) fn with(self, token: ThemeToken, text: impl AsRef<str>) -> SpanLine {
        self.add(Some(token), text)
    }

    pub(crate) fn then(self, text: impl AsRef<str>) -> SpanLine {
        self.add(None, text)
    }

    pub(crate) fn add(mut self, token: Option<ThemeToken>, text: impl AsRef<str>) -> SpanLine {
        self.push(token, text);
        self
    }

    pub(crate) fn push(&mut self, token: Option<ThemeToken>, text: impl AsRef<str>) {
        self.push_painted(SpanPaint { token, is_strong: false }, text.as_ref());
    }

    /// Text that stands out.
    pub(crate) fn push_strong(&mut self, token: Option<ThemeToken>, text: impl AsRef<str>) {
        self.push_painted(SpanPaint { token, is_strong: true }, text.as_ref());
    }

    fn push_painted(&mut self, paint: SpanPaint, text: &str) {
        if text.is_empty() {
            return;
        }
        self.cells += cells(text);
        match self.spans.last_mut() {
            Some(last) if last.paint == paint => last.text.push_str(text),
            _ => self.spans.push(LineSpan { paint, text: text.to_string() }),
        }
    }

    fn push_char(&mut self, paint: SpanPaint, c: char) {
        self.push_painted(paint, c.encode_utf8(&mut [0; 4]));
    }

    pub(crate) fn append(mut self, other: SpanLine) -> SpanLine {
        for LineSpan { paint, text } in other.spans {
            self.push_painted(paint, &text);
        }
        self
    }

    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Nothing but an ellipsis.
    pub(crate) fn is_gap(&self) -> bool {
        let text = self.spans.last().map(|span| span.text.trim());
        self.spans.len() <= 2 && matches!(text, Some("…" | "..."))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Filled with blanks up to `width` cells.
    pub(crate) fn padded(self, width: usize) -> SpanLine {
        let blanks = width.saturating_sub(self.cells);
        self.then(" ".repeat(blanks))
    }

    /// The line if it fits into `width` cells, else its beginning and an ellipsis.
    pub(crate) fn clip(self, width: usize, output: &OutputStyle) -> SpanLine {
        if self.cells <= width {
            return self.without_piles();
        }
        let sign: String = output.glyph(Glyph::More).chars().take(width).collect();
        let room = width - cells(&sign);
        let mut clipped = SpanLine::default();
        let mut marks = 0;
        for (paint, c) in self.chars() {
            let wide = cells(c.encode_utf8(&mut [0; 4]));
            marks = if wide == 0 { marks + 1 } else { 0 };
            if clipped.cells + wide > room {
                let paint = clipped.spans.last().map(|last| last.paint).unwrap_or_default();
                clipped.push_painted(paint, &sign);
                return clipped;
            }
            if marks <= MAX_MARKS {
                clipped.push_char(paint, c);
            }
        }
        clipped
    }

    /// Broken between words into lines of at most `width` cells, all but the first beginning with `indent`; a word that
    /// is too long for a line is cut into several.
    pub(crate) fn wrap(self, width: usize, indent: &SpanLine) -> Vec<SpanLine> {
        let width = width.max(1);
        if self.cells <= width {
            return vec![self.without_piles()];
        }
        let mut wrapping =
            LineWrapping { width, indent, lines: Vec::new(), line: SpanLine::default(), has_word: true };
        let mut word = SpanLine::default();
        let mut is_blank = true;
        let mut marks = 0;
        for (paint, c) in self.chars() {
            marks = if cells(c.encode_utf8(&mut [0; 4])) == 0 { marks + 1 } else { 0 };
            if marks > MAX_MARKS {
                continue;
            }
            if (c == ' ') != is_blank && !word.is_empty() {
                wrapping.take(std::mem::take(&mut word), is_blank);
            }
            is_blank = c == ' ';
            word.push_char(paint, c);
        }
        wrapping.take(word, is_blank);
        wrapping.lines.push(wrapping.line);
        wrapping.lines
    }

    /// `left` at the beginning and `right` at the end of a line, if both fit.
    pub(crate) fn justify(self, right: SpanLine, width: usize) -> Option<SpanLine> {
        let gap = if right.is_empty() { 0 } else { 2 };
        (self.cells + gap + right.cells <= width).then(|| {
            let room = width - right.cells;
            self.padded(if gap == 0 { 0 } else { room }).append(right)
        })
    }

    pub(crate) fn paint(&self, style: &ThemeStyle) -> String {
        let paint = |span: &LineSpan| {
            let text = match span.paint.is_strong && style.output.color {
                true => strong(&span.text),
                false => span.text.clone(),
            };
            match span.paint.token {
                Some(token) => style.paint(token, &text),
                None => text,
            }
        };
        self.spans.iter().map(paint).collect()
    }

    fn chars(&self) -> impl Iterator<Item = (SpanPaint, char)> {
        self.spans.iter().flat_map(|span| span.text.chars().map(|c| (span.paint, c)))
    }

    fn without_piles(self) -> SpanLine {
        /// A line of so few cells has piles if it has so many more bytes.
        const PER_CELL: usize = 4 + 3 * MAX_MARKS;
        let bytes: usize = self.spans.iter().map(|span| span.text.len()).sum();
        if bytes <= (self.cells + 1) * PER_CELL {
            return self;
        }
        let (mut kept, mut marks) = (SpanLine::default(), 0);
        for (paint, c) in self.chars() {
            marks = if cells(c.encode_utf8(&mut [0; 4])) == 0 { marks + 1 } else { 0 };
            if marks <= MAX_MARKS {
                kept.push_char(paint, c);
            }
        }
        kept
    }
}

/// Blanks cannot be bold.
fn strong(text: &str) -> String {
    match text.trim().is_empty() {
        true => format!("\x1b[4m{text}\x1b[24m"),
        false => format!("\x1b[1m{text}\x1b[22m"),
    }
}

struct LineWrapping<'a> {
    width: usize,
    indent: &'a SpanLine,
    lines: Vec<SpanLine>,
    line: SpanLine,
    /// Something else than the indent stands in the line.
    has_word: bool,
}

impl LineWrapping<'_> {
    fn take(&mut self, word: SpanLine, is_blank: bool) {
        let is_first = self.lines.is_empty() && self.line.is_empty();
        if is_blank {
            // Blanks at a break go away; those at the very beginning are an indentation.
            if self.line.cells + word.cells < self.width && (is_first || self.has_word) {
                let line = std::mem::take(&mut self.line);
                self.line = line.append(word);
            } else {
                self.end_line();
            }
            return;
        }
        if self.line.cells + word.cells > self.width && self.has_word && !is_first {
            self.end_line();
        }
        if self.line.cells + word.cells <= self.width {
            let line = std::mem::take(&mut self.line);
            self.line = line.append(word);
            self.has_word = true;
            return;
        }
        for (paint, c) in word.chars() {
            if self.line.cells + cells(c.encode_utf8(&mut [0; 4])) > self.width {
                self.end_line();
            }
            self.line.push_char(paint, c);
            self.has_word = true;
        }
    }

    fn end_line(&mut self) {
        let done = std::mem::take(&mut self.line);
        self.lines.push(done.trimmed());
        // An indent that leaves no room is none.
        if self.indent.cells + 2 < self.width {
            self.line = self.indent.clone();
        }
        self.has_word = false;
    }
}

impl SpanLine {
    fn trimmed(mut self) -> SpanLine {
        while let Some(last) = self.spans.last_mut() {
            let kept = last.text.trim_end_matches(' ').len();
            self.cells -= last.text.len() - kept;
            last.text.truncate(kept);
            if kept > 0 {
                break;
            }
            self.spans.pop();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OUTPUT: OutputStyle = OutputStyle { color: false, utf8: true, width: None };

    fn text(line: &SpanLine) -> String {
        line.spans.iter().map(|span| span.text.as_str()).collect()
    }

    fn wrapped(line: &str, width: usize, indent: &str) -> Vec<String> {
        SpanLine::plain(line).wrap(width, &SpanLine::plain(indent)).iter().map(text).collect()
    }

    #[test]
    fn lines_break_between_words_and_long_words_are_cut() {
        assert_eq!(
            wrapped("note: a few more words", 12, "      "),
            ["note: a few", "      more", "      words"]
        );
        assert_eq!(wrapped("abcdefghij", 4, ""), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a abcdefghij b", 4, ""), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrapped("  indented words", 10, "  "), ["  indented", "  words"]);
        assert_eq!(wrapped("日本語", 4, ""), ["日本", "語"]);
        assert_eq!(wrapped("", 4, ""), [""]);
    }

    #[test]
    fn a_line_that_is_cut_says_so_in_the_colour_of_its_end() {
        let line = SpanLine::plain("one ").with(ThemeToken::Dim, "two three");
        assert_eq!(text(&line.clone().clip(8, &OUTPUT)), "one two…");
        assert_eq!(text(&line.clone().clip(13, &OUTPUT)), "one two three");
        assert_eq!(text(&line.clip(0, &OUTPUT)), "");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(text in any::<String>(), width in 1_usize..60, indent in 0_usize..8) {
            let line = SpanLine::plain(shown(&OUTPUT, &text));
            prop_assert!(line.clone().clip(width, &OUTPUT).cells() <= width);
            // A character of two cells is whole.
            for line in line.wrap(width.max(2), &SpanLine::plain(" ".repeat(indent))) {
                prop_assert!(line.cells() <= width.max(2));
                prop_assert_eq!(line.cells(), cells(&super::tests::text(&line)));
            }
        }

        #[test]
        fn wrapping_keeps_every_letter(text in "[a-z日]{1,9}( [a-z日]{1,30}){0,9}", width in 2_usize..40) {
            let lines = SpanLine::plain(text.as_str()).wrap(width, &SpanLine::default());
            let kept: String = lines.iter().map(super::tests::text).collect();
            prop_assert_eq!(kept.replace(' ', ""), text.replace(' ', ""));
        }
    }
}
