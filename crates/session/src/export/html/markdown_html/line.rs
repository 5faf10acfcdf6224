//! What a line of Markdown begins: pure questions about one line, each in time linear in its length.

/// Columns between tab stops.
const TAB: usize = 4;

/// Most characters shown of a language's name.
const MAX_INFO: usize = 100;

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Columns of blanks at the beginning.
pub(super) fn indent(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += TAB - columns % TAB,
            _ => break,
        }
    }
    columns
}

/// Removes up to `columns` columns of blanks at the beginning.
pub(super) fn outdent(line: &str, columns: usize) -> &str {
    let mut gone = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if gone >= columns => return &line[at..],
            b' ' => gone += 1,
            b'\t' => gone += TAB - gone % TAB,
            _ => return &line[at..],
        }
    }
    ""
}

/// The text after a quote mark.
pub(super) fn quoted(line: &str) -> Option<&str> {
    let inner = flat(line)?.strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// The level of a heading and its text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let text = flat(line)?;
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let title = &text[level..];
    let is_heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim()))
}

/// A horizontal rule.
pub(super) fn is_rule(line: &str) -> bool {
    let Some(text) = flat(line) else { return false };
    let mut marks = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let Some(first) = marks.next().filter(|byte| matches!(byte, b'-' | b'*' | b'_')) else { return false };
    let mut count = 1;
    for mark in marks {
        if mark != first {
            return false;
        }
        count += 1;
    }
    count >= 3
}

/// Whether the line ends a paragraph before it. A number at its beginning does not, unless it is the first
/// of a list.
pub(super) fn interrupts(line: &str) -> bool {
    begins_block(line)
        && ListMarker::parse(line).is_none_or(|marker| marker.number.is_none_or(|number| number == 1))
}

pub(super) fn begins_block(line: &str) -> bool {
    CodeFence::parse(line).is_some()
        || heading(line).is_some()
        || is_rule(line)
        || quoted(line).is_some()
        || ListMarker::parse(line).is_some()
}

/// The line without its indent, unless that is deep enough for code.
fn flat(line: &str) -> Option<&str> {
    (indent(line) < TAB).then(|| line.trim_start_matches([' ', '\t']))
}

/// The line that opens a block of code.
pub(super) struct CodeFence<'a> {
    mark: u8,
    length: usize,
    /// Columns that the code's lines may lose.
    pub(super) indent: usize,
    /// The language.
    pub(super) info: &'a str,
}

impl<'a> CodeFence<'a> {
    pub(super) fn parse(line: &'a str) -> Option<CodeFence<'a>> {
        let text = flat(line)?;
        let mark = *text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = text.bytes().take_while(|byte| *byte == mark).count();
        let info = text[length..].trim();
        let fits = length >= 3 && !(mark == b'`' && info.contains('`')) && info.chars().count() <= MAX_INFO;
        fits.then(|| CodeFence { mark, length, indent: indent(line), info })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let Some(text) = flat(line) else { return false };
        let length = text.bytes().take_while(|byte| *byte == self.mark).count();
        length >= self.length && text[length..].trim().is_empty()
    }
}

pub(super) struct ListMarker {
    /// `-`, `*`, `+`, `.` or `)`.
    mark: u8,
    /// Of a numbered list.
    pub(super) number: Option<u32>,
    /// Columns up to the item's text.
    pub(super) width: usize,
    /// Bytes up to the item's text.
    bytes: usize,
}

impl ListMarker {
    pub(super) fn parse(line: &str) -> Option<ListMarker> {
        let text = flat(line)?;
        let blanks = line.len() - text.len();
        let digits = text.bytes().take(9).take_while(u8::is_ascii_digit).count();
        let mark = *text.as_bytes().get(digits)?;
        let is_mark =
            if digits == 0 { matches!(mark, b'-' | b'*' | b'+') } else { matches!(mark, b'.' | b')') };
        let rest = text.get(digits + 1..)?;
        if !is_mark || is_rule(line) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return None;
        }
        // More blanks than that indent code within the item.
        let after = match indent(rest) {
            after @ 1..=4 if !is_blank(rest) => after,
            _ => 1,
        };
        let bytes = blanks + digits + 1 + (rest.len() - outdent(rest, after).len());
        Some(ListMarker {
            mark,
            number: text[..digits].parse().ok(),
            width: indent(line) + digits + 1 + after,
            bytes,
        })
    }

    /// Whether an item with this mark continues the other's list.
    pub(super) fn joins(&self, first: &ListMarker) -> bool {
        self.mark == first.mark
    }

    /// The item's first line, without the mark.
    pub(super) fn rest<'a>(&self, line: &'a str) -> &'a str {
        line.get(self.bytes..).unwrap_or_default()
    }
}
