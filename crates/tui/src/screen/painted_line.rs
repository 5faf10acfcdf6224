//! A painted line taken apart: its text, its colours (SGR) and links (OSC 8). Nothing else of it is kept.

use relaycode_text::escape::is_unsafe;
use relaycode_text::width::cells;

const LINK_END: &str = "\x1b]8;;\x1b\\";
const PAINT_END: &str = "\x1b[0m";
/// Longest sequence that is passed on: a link to a long address.
const SEQUENCE_BYTES: usize = 4 << 10;
/// Colours that would have to be repeated; with more, a line is drawn from its beginning.
const PAINT_BYTES: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PaintedToken<'a> {
    Char(char),
    /// With whether it ends all colours.
    Paint(&'a str, bool),
    /// With whether it ends one.
    Link(&'a str, bool),
    /// Something else: not passed on.
    Foreign,
}

/// A line as it is written, and its width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ScreenLine {
    /// Colours and links end with it.
    pub(super) text: String,
    pub(super) cells: usize,
}

/// The cells that a painted line takes.
pub fn painted_cells(line: &str) -> usize {
    tokens(line).map(|(_, token)| token_cells(token)).sum()
}

/// The text alone.
pub fn strip_paint(line: &str) -> String {
    tokens(line)
        .filter_map(|(_, token)| if let PaintedToken::Char(c) = token { Some(c) } else { None })
        .collect()
}

impl ScreenLine {
    /// The beginning of the line that fits.
    pub(super) fn clipped(source: &str, width: usize) -> ScreenLine {
        split_painted(source, width, 1).pop().unwrap_or_default()
    }

    /// Blanks up to a number of cells.
    pub(super) fn pad_to(&mut self, count: usize) {
        let missing = count.saturating_sub(self.cells);
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.cells += missing;
    }

    /// How many rows it takes on a terminal that breaks it at `columns`.
    pub(super) fn rows_at(&self, columns: usize) -> usize {
        self.row_of(self.cells.saturating_sub(1), columns) + 1
    }

    /// In which of these rows a cell is.
    pub(super) fn row_of(&self, cell: usize, columns: usize) -> usize {
        if self.text.is_ascii() && !self.text.contains('\x1b') {
            return cell / columns.max(1);
        }
        // A wide character that does not fit begins the next row.
        let (mut row, mut used, mut seen) = (0, 0, 0);
        for wide in tokens(&self.text).map(|(_, token)| token_cells(token)).filter(|wide| *wide > 0) {
            if used + wide > columns && used > 0 {
                row += 1;
                used = 0;
            }
            used += wide;
            seen += wide;
            if seen > cell {
                break;
            }
        }
        row
    }

    /// Where this line begins to differ from the `old` one that stands there: a byte of the text, its column, and the colours
    /// that are on there.
    pub(super) fn first_difference(&self, old: &ScreenLine) -> (usize, usize, String) {
        let (mut best, mut column, mut paint) = ((0, 0, String::new()), 0, String::new());
        let (mut in_link, mut after_ascii) = (false, true);
        let (new_bytes, old_bytes) = (self.text.as_bytes(), old.text.as_bytes());
        let equal = new_bytes.iter().zip(old_bytes).take_while(|(new, old)| new == old).count();
        for (range, token) in tokens(&self.text) {
            let next_is_ascii = |bytes: &[u8]| bytes.get(range.start).is_none_or(u8::is_ascii);
            if !in_link
                && after_ascii
                && paint.len() <= PAINT_BYTES
                && next_is_ascii(new_bytes)
                && next_is_ascii(old_bytes)
            {
                best = (range.start, column, paint.clone());
            }
            if range.end > equal {
                return best;
            }
            match token {
                PaintedToken::Char(c) => {
                    after_ascii = c.is_ascii();
                    column += token_cells(token);
                }
                PaintedToken::Paint(_, true) => paint.clear(),
                PaintedToken::Paint(text, false) => paint.push_str(text),
                PaintedToken::Link(_, ends) => in_link = !ends,
                PaintedToken::Foreign => {}
            }
        }
        // This line is the beginning of the other one.
        if after_ascii && !in_link && old_bytes.get(self.text.len()).is_none_or(u8::is_ascii) {
            best = (self.text.len(), column, paint);
        }
        best
    }
}

/// Breaks a painted line into rows of at most `width` cells, `most` rows at most; colours and links go on in the next row.
pub(super) fn split_painted(source: &str, width: usize, most: usize) -> Vec<ScreenLine> {
    let mut rows = Vec::new();
    let mut row = ScreenLine::default();
    let (mut paint, mut link) = (String::new(), String::new());
    for (_, token) in tokens(source) {
        match token {
            PaintedToken::Char(c) => {
                let wide = token_cells(token);
                if row.cells + wide > width && row.cells > 0 {
                    end_row(&mut row, &paint, &link);
                    rows.push(std::mem::take(&mut row));
                    if rows.len() >= most {
                        return rows;
                    }
                    row.text = format!("{paint}{link}");
                }
                if wide <= width {
                    row.text.push(c);
                    row.cells += wide;
                }
            }
            PaintedToken::Paint(text, ends) => {
                // Colours of colours without any text between are not worth a byte.
                if ends {
                    if !paint.is_empty() {
                        row.text.push_str(PAINT_END);
                    }
                    paint.clear();
                } else {
                    paint.push_str(text);
                    row.text.push_str(text);
                }
            }
            PaintedToken::Link(text, ends) => {
                if ends && link.is_empty() {
                    continue;
                }
                row.text.push_str(if ends { LINK_END } else { text });
                link = if ends { String::new() } else { text.to_string() };
            }
            PaintedToken::Foreign => {}
        }
    }
    end_row(&mut row, &paint, &link);
    rows.push(row);
    rows
}

fn end_row(row: &mut ScreenLine, paint: &str, link: &str) {
    if !link.is_empty() {
        row.text.push_str(LINK_END);
    }
    if !paint.is_empty() {
        row.text.push_str(PAINT_END);
    }
}

fn token_cells(token: PaintedToken<'_>) -> usize {
    match token {
        PaintedToken::Char(c) if c.is_ascii() => 1,
        PaintedToken::Char(c) => cells(c.encode_utf8(&mut [0; 4])),
        _ => 0,
    }
}

/// The tokens with their bytes.
fn tokens(line: &str) -> impl Iterator<Item = (std::ops::Range<usize>, PaintedToken<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let first = rest.chars().next()?;
        let (length, token) = match first {
            '\x1b' => sequence(rest),
            c if is_unsafe(c) && !is_joiner(c) => (c.len_utf8(), PaintedToken::Foreign),
            c => (c.len_utf8(), PaintedToken::Char(c)),
        };
        let range = at..at + length;
        at += length;
        Some((range, token))
    })
}

/// Has no width of its own and only joins or picks the shape of what is beside it.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

fn sequence(rest: &str) -> (usize, PaintedToken<'_>) {
    let foreign = (1, PaintedToken::Foreign);
    if let Some(body) = rest.strip_prefix("\x1b[") {
        let Some(end) = body.bytes().position(|byte| (0x40..=0x7e).contains(&byte)) else { return foreign };
        let length = end + 3;
        let parameters = &body[..end];
        let is_paint = body.as_bytes()[end] == b'm'
            && length <= SEQUENCE_BYTES
            && parameters.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'));
        let ends = matches!(parameters, "" | "0");
        return match is_paint {
            true => (length, PaintedToken::Paint(&rest[..length], ends)),
            // Only as far as it is one: what follows a broken sequence is text.
            false if parameters.bytes().all(|byte| (0x20..0x40).contains(&byte)) => {
                (length, PaintedToken::Foreign)
            }
            false => foreign,
        };
    }
    if let Some(body) = rest.strip_prefix("\x1b]8;") {
        let end = body.find(|c: char| c.is_control());
        let Some(end) = end.filter(|end| *end <= SEQUENCE_BYTES) else { return foreign };
        let closing = if body[end..].starts_with("\x1b\\") {
            2
        } else if body[end..].starts_with('\u{7}') {
            1
        } else {
            return foreign;
        };
        let length = 4 + end + closing;
        let Some((_, address)) = body[..end].split_once(';') else { return (length, PaintedToken::Foreign) };
        return match address.chars().any(is_unsafe) {
            true => (length, PaintedToken::Foreign),
            false => (length, PaintedToken::Link(&rest[..length], address.is_empty())),
        };
    }
    foreign
}
