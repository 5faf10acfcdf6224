//! A response as lines: one pass finds where each begins, everything after that is slicing. Line endings
//! are `\n` here, whatever the response had; indexes begin at 0, only those shown to a person begin at 1.

use std::borrow::Cow;
use std::ops::Range;

/// Does not copy the text.
#[derive(Debug)]
pub(super) struct ResponseLines<'a> {
    text: &'a str,
    /// Byte offset of each line, and the text's length at the end. Four bytes each: a text may consist of
    /// line endings, and [`MOST_BYTES`] keeps them in range.
    starts: Vec<u32>,
    /// Index of the first line: not 0 if the text is a later part of a response.
    first: usize,
}

impl<'a> ResponseLines<'a> {
    /// The line endings of `text` are `\n`.
    pub(super) fn new(text: &'a str) -> ResponseLines<'a> {
        ResponseLines::from_line(text, 0)
    }

    /// For a part of a response that begins on its line `first`.
    pub(super) fn from_line(text: &'a str, first: usize) -> ResponseLines<'a> {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| offset(at + 1)));
        if starts.last() != Some(&offset(text.len())) {
            starts.push(offset(text.len()));
        }
        ResponseLines { text, starts, first }
    }

    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// The index past the last line.
    pub(super) fn end(&self) -> usize {
        self.first + self.starts.len() - 1
    }

    /// Without its ending; empty if there is no such line.
    pub(super) fn get(&self, line: usize) -> &'a str {
        if line < self.first || line >= self.end() {
            return "";
        }
        let text = &self.text[self.start(line)..self.start(line + 1)];
        text.strip_suffix('\n').unwrap_or(text)
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        let text = self.get(line);
        text.is_empty() || text.trim_start().is_empty()
    }

    /// With their endings.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        let end = range.end.clamp(self.first, self.end());
        let start = range.start.clamp(self.first, end);
        &self.text[self.start(start)..self.start(end)]
    }

    fn start(&self, line: usize) -> usize {
        self.starts[line - self.first] as usize
    }

    /// With up to `indent` columns of blanks removed from each line, every line ending in `\n`.
    pub(super) fn block_text(&self, range: Range<usize>, indent: usize) -> Cow<'a, str> {
        let text = self.slice(range.clone());
        if indent == 0 && (text.is_empty() || text.ends_with('\n')) {
            return Cow::Borrowed(text);
        }
        let mut block = String::with_capacity(text.len() + 1);
        for line in range {
            block.push_str(dedent(self.get(line), indent));
            block.push('\n');
        }
        Cow::Owned(block)
    }

    /// The first non-blank line from `line` on, before `end`.
    pub(super) fn next_nonblank(&self, line: usize, end: usize) -> Option<usize> {
        (line..end.min(self.end())).find(|line| !self.is_blank(*line))
    }

    /// The last non-blank line before `line`, not before `floor`.
    pub(super) fn last_nonblank(&self, line: usize, floor: usize) -> Option<usize> {
        (floor..line.min(self.end())).rev().find(|line| !self.is_blank(*line))
    }
}

/// Longer texts are not read, whatever the limits say.
pub(super) const MOST_BYTES: usize = u32::MAX as usize;

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Columns of a tab.
const TAB: usize = 4;

/// Columns of blanks at the beginning of a line.
pub(super) fn indent(line: &str) -> usize {
    blank_columns(line).sum()
}

/// The columns of each blank at the beginning of a line.
fn blank_columns(line: &str) -> impl Iterator<Item = usize> {
    line.bytes().map_while(|byte| match byte {
        b' ' => Some(1),
        b'\t' => Some(TAB),
        _ => None,
    })
}

fn dedent(line: &str, indent: usize) -> &str {
    let mut width = 0;
    let inside = |columns: &usize| {
        width += columns;
        width <= indent
    };
    &line[blank_columns(line).take_while(inside).count()..]
}

/// With `\n` as the only line ending and no byte order mark.
pub(super) fn normalize_newlines(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        let carriage = if rest.as_bytes().get(at + 1) == Some(&b'\n') { at } else { at + 1 };
        clean.push_str(&rest[..carriage]);
        rest = &rest[at + 1..];
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_with_and_without_a_final_newline() {
        for (text, lines) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("a\n\nb", vec!["a", "", "b"]),
            ("\n", vec![""]),
        ] {
            let found = ResponseLines::new(text);
            let all: Vec<&str> = (0..found.end()).map(|line| found.get(line)).collect();
            assert_eq!(all, lines, "{text:?}");
        }
    }

    #[test]
    fn a_later_part_keeps_the_numbers_of_its_lines() {
        let part = ResponseLines::from_line("c\n\nd\n", 2);
        assert_eq!((part.first(), part.end()), (2, 5));
        assert_eq!([part.get(1), part.get(2), part.get(4), part.get(5)], ["", "c", "d", ""]);
        assert_eq!((part.slice(0..3), part.slice(3..9), part.slice(7..9)), ("c\n", "\nd\n", ""));
        assert_eq!((part.next_nonblank(3, 9), part.last_nonblank(4, 2)), (Some(4), Some(2)));
    }

    #[test]
    fn indentation_is_taken_off_up_to_the_given_width() {
        let lines = ResponseLines::new("  a\n b\n\tc\n    d");
        assert_eq!(lines.block_text(0..4, 2), "a\nb\n\tc\n  d\n");
        assert_eq!(lines.block_text(0..1, 0), "  a\n");
    }

    #[test]
    fn only_line_endings_are_changed() {
        assert_eq!(normalize_newlines("\u{feff}a\r\nb\rc\r\n\r"), "a\nb\rc\n\r");
    }
}
