//! Text with looks, and fitting it into lines: broken between words, within words that are wider than a line, and
//! between characters that take two cells.

use std::sync::Arc;

use relaycode_text::escape::is_unsafe;
use relaycode_text::hidden::suspicious_chars;

use crate::cells;
use crate::theme::{ThemeStyle, ThemeToken};

/// How a piece of text looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SpanLook {
    pub(super) token: Option<ThemeToken>,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) strike: bool,
    pub(super) link: Option<Arc<str>>,
}

/// Safe text with one look; [`LINE_END`] ends a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StyledSpan {
    pub(super) text: String,
    pub(super) look: SpanLook,
}

pub(super) const LINE_END: char = '\n';

/// Zero-width marks that may follow one another.
const MARKS: usize = 8;

/// A line of spans, and its width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SpanLine {
    pub(super) spans: Vec<StyledSpan>,
    pub(super) cells: usize,
}

impl SpanLine {
    pub(super) fn painted(&self, style: &ThemeStyle) -> String {
        self.spans.iter().map(|span| paint_span(style, span)).collect()
    }
}

fn paint_span(style: &ThemeStyle, span: &StyledSpan) -> String {
    let look = &span.look;
    if *look == SpanLook::default() {
        return span.text.clone();
    }
    let mut text = span.text.clone();
    if look.bold {
        text = style.bold(&text);
    }
    if look.italic {
        text = style.italic(&text);
    }
    if look.underline {
        text = style.underline(&text);
    }
    if look.strike {
        text = style.strike(&text);
    }
    if let Some(token) = look.token {
        text = style.paint(token, &text);
    }
    match &look.link {
        Some(address) => style.link(address, &text),
        None => text,
    }
}

/// The width of text that does not wrap.
pub(super) fn spans_width(spans: &[StyledSpan]) -> usize {
    spans.iter().map(|span| cells(&span.text)).sum()
}

/// The width of its widest word.
pub(super) fn widest_word(spans: &[StyledSpan]) -> usize {
    let (mut widest, mut word) = (0, 0);
    for c in spans.iter().flat_map(|span| span.text.chars()) {
        let wide = char_cells(c);
        // Beside a wide character a line may end.
        if c == ' ' || c == LINE_END || wide == 2 {
            word = 0;
        } else {
            word += wide;
        }
        widest = widest.max(word).max(wide);
    }
    widest
}

/// Lines of at most `width` cells.
pub(super) fn wrap_spans(spans: &[StyledSpan], width: usize) -> Vec<SpanLine> {
    let (width, chars) = (width.max(2), numbered_chars(spans));
    let mut lines = Vec::new();
    let mut start = 0;
    while start < chars.len() {
        let (end, next) = line_end(&chars, start, width);
        lines.push(line_of(&chars[start..end], spans));
        start = next;
    }
    if chars.last().is_some_and(|(c, _)| *c == LINE_END) {
        // A break at the very end ends nothing.
        while lines.last().is_some_and(|line: &SpanLine| line.cells == 0) {
            lines.pop();
        }
    }
    lines
}

/// Lines of at most `width` cells, cut wherever they are full.
pub(super) fn cut_spans(spans: &[StyledSpan], width: usize) -> Vec<SpanLine> {
    let (width, chars) = (width.max(2), numbered_chars(spans));
    let (mut lines, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, (c, _)) in chars.iter().enumerate() {
        let wide = char_cells(*c);
        if used + wide > width {
            lines.push(line_of(&chars[start..at], spans));
            (start, used) = (at, 0);
        }
        used += wide;
    }
    lines.push(line_of(&chars[start..], spans));
    lines
}

/// Every character, and the number of its span; without piles of marks.
fn numbered_chars(spans: &[StyledSpan]) -> Vec<(char, usize)> {
    let mut chars = Vec::new();
    let mut marks = 0;
    for (number, span) in spans.iter().enumerate() {
        for c in span.text.chars() {
            marks = if char_cells(c) == 0 && c != LINE_END { marks + 1 } else { 0 };
            if marks <= MARKS {
                chars.push((c, number));
            }
        }
    }
    chars
}

/// Where the line from `start` on ends, and where the next one begins.
fn line_end(chars: &[(char, usize)], start: usize, width: usize) -> (usize, usize) {
    let mut used = 0;
    // The end of the line and the beginning of the next, if it is broken there.
    let mut breakable: Option<(usize, usize)> = None;
    for (at, (c, _)) in chars.iter().enumerate().skip(start) {
        if *c == LINE_END {
            return (trimmed(chars, start, at), skip_blanks(chars, at + 1));
        }
        let wide = char_cells(*c);
        if *c == ' ' {
            breakable = Some((at, at + 1));
            if used + wide > width {
                break;
            }
        } else if used + wide > width {
            if breakable.is_none() {
                // At least one character, lest it never ends.
                let at = at.max(start + 1);
                return (at, at);
            }
            break;
        } else if wide == 2 && at > start && breakable.is_none_or(|(end, _)| end < at) && used > 0 {
            breakable = Some((at, at));
        }
        used += wide;
        if at + 1 == chars.len() {
            return (trimmed(chars, start, chars.len()), chars.len());
        }
    }
    match breakable {
        Some((end, next)) => (trimmed(chars, start, end), skip_blanks(chars, next)),
        None => (chars.len(), chars.len()),
    }
}

fn skip_blanks(chars: &[(char, usize)], mut at: usize) -> usize {
    while chars.get(at).is_some_and(|(c, _)| *c == ' ') {
        at += 1;
    }
    at
}

fn trimmed(chars: &[(char, usize)], start: usize, mut end: usize) -> usize {
    while end > start && chars[end - 1].0 == ' ' {
        end -= 1;
    }
    end
}

fn line_of(chars: &[(char, usize)], spans: &[StyledSpan]) -> SpanLine {
    let mut line = SpanLine::default();
    let mut number = usize::MAX;
    for (c, from) in chars {
        line.cells += char_cells(*c);
        if *from == number
            && let Some(last) = line.spans.last_mut()
        {
            last.text.push(*c);
        } else {
            line.spans.push(StyledSpan { text: c.to_string(), look: spans[*from].look.clone() });
            number = *from;
        }
    }
    line
}

pub(super) fn char_cells(c: char) -> usize {
    let mut buffer = [0; 4];
    if c.is_ascii() { usize::from(!c.is_ascii_control()) } else { cells(c.encode_utf8(&mut buffer)) }
}

/// Prose made safe: as [`crate::OutputStyle::safe`], but what only joins or varies an emoji or a letter is left out
/// rather than shown, since terminals disagree about it; and tabs are blanks.
pub(super) fn safe_prose(style: &ThemeStyle, text: &str) -> String {
    let text =
        if text.contains('\t') { text.replace('\t', " ").into() } else { std::borrow::Cow::Borrowed(text) };
    if !style.output.utf8 || !text.chars().any(is_unsafe) {
        return style.output.safe(&text).into_owned();
    }
    let suspicious: Vec<usize> = suspicious_chars(&text).map(|(at, _)| at).collect();
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if !is_unsafe(c) {
            out.push(c);
        } else if c.is_control() || suspicious.binary_search(&at).is_ok() {
            out.extend(c.escape_default());
        }
    }
    out
}
