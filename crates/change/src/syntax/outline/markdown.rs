//! Of Markdown the headings stay, the first line behind each, and the first of the file.

use std::ops::Range;

use super::MIN_ELIDED_LINES;

/// Empty without any heading.
pub(super) fn elidable_lines(lines: &[&str]) -> Vec<Range<usize>> {
    let mut fence: Option<&str> = None;
    let mut has_heading = false;
    // Whether a line follows a heading that has no text yet.
    let mut wants_text = true;
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        let is_text = !line.trim().is_empty();
        let is_heading = fence.is_none() && (is_atx(line) || is_underlined(lines, at));
        let is_underline = fence.is_none() && at > 0 && is_underlined(lines, at - 1);
        has_heading |= is_heading;
        fence = fence_after(fence, line);
        let stays = is_heading || is_underline || (wants_text && is_text);
        wants_text = is_heading || is_underline || (wants_text && !is_text);
        if stays {
            spans.push(start..at);
            start = at + 1;
        }
    }
    spans.push(start..lines.len());
    spans.retain(|span| span.len() >= MIN_ELIDED_LINES);
    if has_heading { spans } else { Vec::new() }
}

/// `## Title`.
fn is_atx(line: &str) -> bool {
    let Some(text) = unindented(line) else { return false };
    let rest = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - rest.len())) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A title with `===` or `---` below it.
fn is_underlined(lines: &[&str], at: usize) -> bool {
    let is_rule = |line: &str| {
        let text = line.trim_end();
        text.len() >= 3 && ['=', '-'].iter().any(|mark| text.chars().all(|c| c == *mark))
    };
    let is_title = |line: &str| unindented(line).is_some_and(|text| text.starts_with(char::is_alphanumeric));
    let begins = at == 0 || lines[at - 1].trim().is_empty();
    begins && is_title(lines[at]) && lines.get(at + 1).is_some_and(|line| is_rule(line))
}

/// A line with no more indentation than a heading may have.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= 3).then_some(text)
}

/// The marks of the code block that is open behind `line`.
fn fence_after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let text = unindented(line).unwrap_or_default();
    let mark = if text.starts_with('~') { '~' } else { '`' };
    let marks = &text[..text.len() - text.trim_start_matches(mark).len()];
    match open {
        Some(fence) if text.trim_end() == marks && marks.starts_with(fence) => None,
        Some(fence) => Some(fence),
        None => (marks.len() >= 3).then_some(marks),
    }
}
