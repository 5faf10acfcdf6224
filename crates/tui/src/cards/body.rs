//! The body of a card, folded or whole.

use relaycode_text::terminal_text::plain_terminal_text;
use relaycode_tools::{CardBody, CardImage};

use super::{CallCard, MAX_FULL_LINES, body_indent, diff, json_tree};
use crate::human_size;
use crate::layout::span_line::{SpanLine, shown};
use crate::panels::todo_lines;
use crate::theme::{ThemeStyle, ThemeToken};

/// Lines of a diff that are shown at once.
const FOLDED_DIFF: usize = 12;
/// Lines of the end of an output.
const FOLDED_TAIL: usize = 3;
/// The same for a command that failed.
const FOLDED_FAILURE: usize = 10;
const FOLDED_JSON: usize = 8;
const FOLDED_TODO: usize = 12;
/// Characters of a line that are looked at.
const MAX_LINE_CHARS: usize = 2_000;

/// Lines that fit the width, and how many lines of the body are not among them.
#[derive(Default)]
pub(super) struct DrawnBody {
    pub(super) lines: Vec<SpanLine>,
    pub(super) left_out: usize,
    /// They are its end.
    pub(super) is_end: bool,
}

pub(super) fn folded_body(call: &CallCard, style: &ThemeStyle, width: usize) -> DrawnBody {
    match &call.card.body {
        CardBody::Text { text, is_tail: true, .. } => {
            let most = if call.is_error { FOLDED_FAILURE } else { FOLDED_TAIL };
            output_end(text, most, style, width)
        }
        // What was read is known by its count; what went wrong is worth reading.
        CardBody::Text { text, .. } if !call.is_error => {
            DrawnBody { left_out: text.lines().count(), ..DrawnBody::default() }
        }
        CardBody::Text { text, .. } => head_of(text_lines(text, None, style, width, false), FOLDED_FAILURE),
        CardBody::Diff { files } => diff::folded(files, FOLDED_DIFF, style, width),
        CardBody::Json { value } => head_of(json_tree::lines(value, style, width), FOLDED_JSON),
        CardBody::Todo { phases } => {
            let lines = todo_lines(phases, style, width, body_indent(width));
            head_of(lines.into_iter(), FOLDED_TODO)
        }
        CardBody::Image(image) => image_line(image, style, width),
        CardBody::None => DrawnBody::default(),
    }
}

pub(super) fn full_body(call: &CallCard, style: &ThemeStyle, width: usize) -> DrawnBody {
    match &call.card.body {
        CardBody::Text { text, is_tail: true, .. } => {
            let text = plain_output(text);
            head_of(text_lines(&text, None, style, width, true), MAX_FULL_LINES)
        }
        CardBody::Text { text, first_line, .. } => {
            head_of(text_lines(text, *first_line, style, width, true), MAX_FULL_LINES)
        }
        CardBody::Diff { files } => diff::full(files, MAX_FULL_LINES, style, width),
        CardBody::Json { value } => head_of(json_tree::lines(value, style, width), MAX_FULL_LINES),
        CardBody::Todo { phases } => {
            let lines = todo_lines(phases, style, width, body_indent(width));
            head_of(lines.into_iter(), MAX_FULL_LINES)
        }
        CardBody::Image(image) => image_line(image, style, width),
        CardBody::None => DrawnBody::default(),
    }
}

fn head_of(mut lines: impl Iterator<Item = SpanLine>, most: usize) -> DrawnBody {
    let kept = lines.by_ref().take(most).collect();
    DrawnBody { lines: kept, left_out: lines.count(), is_end: false }
}

/// The end of what a command printed, as a terminal would show it; each line on one.
pub(crate) fn tail_lines(text: &str, most: usize, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
    output_end(text, most, style, width).lines
}

fn output_end(text: &str, most: usize, style: &ThemeStyle, width: usize) -> DrawnBody {
    let text = plain_output(text);
    let all: Vec<&str> = text.lines().collect();
    let mut left_out = all.len().saturating_sub(most);
    while all.get(left_out).is_some_and(|line| line.trim().is_empty()) {
        left_out += 1;
    }
    let lines = all[left_out..].iter().map(|line| output_line(line, style, width));
    let left_out = all[..left_out].iter().filter(|line| !line.trim().is_empty()).count();
    DrawnBody { lines: lines.collect(), left_out, is_end: true }
}

fn plain_output(text: &str) -> String {
    // A line that is about to be written over is still there.
    plain_terminal_text(text.trim_end_matches(['\r', '\n', ' ']))
}

fn output_line(line: &str, style: &ThemeStyle, width: usize) -> SpanLine {
    let text: String = line.chars().take(MAX_LINE_CHARS).collect();
    let indent = " ".repeat(body_indent(width));
    SpanLine::plain(indent)
        .with(ThemeToken::ToolOutput, shown(&style.output, &text))
        .clip(width, &style.output)
}

/// Lines with their numbers, if they have any; wrapped or cut.
fn text_lines<'a>(
    text: &'a str,
    first_line: Option<usize>,
    style: &'a ThemeStyle,
    width: usize,
    is_wrapped: bool,
) -> impl Iterator<Item = SpanLine> + 'a {
    let last = first_line.map(|first| first + text.lines().count());
    let gutter = last.map_or(0, |last| last.to_string().len() + 2);
    let indent = body_indent(width);
    let below = SpanLine::plain(" ".repeat(indent + gutter));
    text.lines().enumerate().flat_map(move |(at, line)| {
        let cut: String = line.chars().take(MAX_LINE_CHARS).collect();
        let mut drawn = SpanLine::plain(" ".repeat(indent));
        if let Some(first) = first_line {
            let number = format!("{:>wide$}  ", first + at, wide = gutter - 2);
            drawn.push(Some(ThemeToken::Dim), number);
        }
        let drawn = drawn.with(ThemeToken::ToolOutput, shown(&style.output, &cut));
        match is_wrapped {
            true => drawn.wrap(width, &below),
            false => vec![drawn.clip(width, &style.output)],
        }
    })
}

/// `image a.png 640×480, 12 kB`
fn image_line(image: &CardImage, style: &ThemeStyle, width: usize) -> DrawnBody {
    let name: String =
        image.path.rsplit('/').next().unwrap_or_default().chars().take(MAX_LINE_CHARS).collect();
    let times = if style.output.utf8 { "×" } else { "x" };
    let size = match (image.width, image.height) {
        (Some(wide), Some(high)) => format!(" {wide}{times}{high}"),
        _ => String::new(),
    };
    let bytes = human_size(usize::try_from(image.bytes).unwrap_or(usize::MAX));
    let text = format!("image {}{size}, {bytes}", shown(&style.output, &name));
    let line = SpanLine::plain(" ".repeat(body_indent(width))).with(ThemeToken::Muted, text);
    DrawnBody { lines: vec![line.clip(width, &style.output)], ..DrawnBody::default() }
}
