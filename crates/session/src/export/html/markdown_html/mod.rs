//! The Markdown of answers as HTML: the common part of it, in time linear in its length.
//!
//! Invariants: every tag is one of ours and is closed; every character of the text is escaped; no letter is
//! lost. Raw HTML is text. Addresses are shown, not linked, and images that an answer names are not loaded:
//! a page must not call anybody.

mod inline;
mod line;
mod table;

use relaycode_text::html;

use line::{CodeFence, ListMarker};

/// Deepest nesting of lists and quotes; deeper ones are text.
const MAX_DEPTH: usize = 8;

/// Appends the Markdown `text` to `out`.
pub(super) fn push(out: &mut String, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    blocks(out, &lines, 0);
}

/// Code with its language and a copy button.
pub(super) fn push_code(out: &mut String, language: &str, code: &str) {
    out.push_str("<div class=\"code\">");
    if !language.is_empty() {
        out.push_str("<span class=\"lang\">");
        out.push_str(&html::escape_text(language));
        out.push_str("</span>");
    }
    out.push_str(super::COPY);
    out.push_str("<pre tabindex=\"0\"><code>");
    out.push_str(&html::escape_text(code));
    out.push_str("</code></pre></div>\n");
}

fn blocks(out: &mut String, lines: &[&str], depth: usize) {
    let mut rest = lines;
    while let Some((first, more)) = rest.split_first() {
        rest = if line::is_blank(first) {
            more
        } else if let Some(fence) = CodeFence::parse(first) {
            fenced(out, &fence, more)
        } else if let Some((level, title)) = line::heading(first) {
            // The page uses the first two levels.
            let level = (level + 2).min(6);
            out.push_str(&format!("<h{level}>"));
            inline::push(out, title);
            out.push_str(&format!("</h{level}>\n"));
            more
        } else if line::is_rule(first) {
            out.push_str("<hr>\n");
            more
        } else if depth < MAX_DEPTH && line::quoted(first).is_some() {
            quote(out, rest, depth)
        } else if depth < MAX_DEPTH
            && let Some(marker) = ListMarker::parse(first)
        {
            list(out, rest, &marker, depth)
        } else if line::indent(first) >= 4 {
            indented(out, rest)
        } else if let Some(after) = table::push(out, rest) {
            after
        } else {
            paragraph(out, rest, depth)
        };
    }
}

fn fenced<'a, 'b>(out: &mut String, fence: &CodeFence<'_>, lines: &'b [&'a str]) -> &'b [&'a str] {
    let end = lines.iter().position(|line| fence.is_closed_by(line)).unwrap_or(lines.len());
    let code: Vec<&str> = lines[..end].iter().map(|line| line::outdent(line, fence.indent)).collect();
    push_code(out, fence.info, &code.join("\n"));
    lines.get(end + 1..).unwrap_or_default()
}

fn indented<'a, 'b>(out: &mut String, lines: &'b [&'a str]) -> &'b [&'a str] {
    let inside = lines.iter().take_while(|line| line::is_blank(line) || line::indent(line) >= 4).count();
    let blank = lines[..inside].iter().rev().take_while(|line| line::is_blank(line)).count();
    let code: Vec<&str> = lines[..inside - blank].iter().map(|line| line::outdent(line, 4)).collect();
    push_code(out, "", &code.join("\n"));
    &lines[inside..]
}

fn quote<'a, 'b>(out: &mut String, lines: &'b [&'a str], depth: usize) -> &'b [&'a str] {
    let inner: Vec<&str> = lines.iter().map_while(|line| line::quoted(line)).collect();
    out.push_str("<blockquote>");
    blocks(out, &inner, depth + 1);
    out.push_str("</blockquote>\n");
    &lines[inner.len()..]
}

fn list<'a, 'b>(out: &mut String, lines: &'b [&'a str], first: &ListMarker, depth: usize) -> &'b [&'a str] {
    match first.number {
        Some(1) => out.push_str("<ol>"),
        Some(number) => out.push_str(&format!("<ol start=\"{number}\">")),
        None => out.push_str("<ul>"),
    }
    let mut rest = lines;
    while let Some(marker) =
        rest.first().and_then(|line| ListMarker::parse(line)).filter(|marker| marker.joins(first))
    {
        let inside = item_length(rest, marker.width);
        let mut item: Vec<&str> =
            rest[..inside].iter().map(|line| line::outdent(line, marker.width)).collect();
        item[0] = marker.rest(rest[0]);
        out.push_str("<li>");
        blocks(out, &item, depth + 1);
        out.push_str("</li>\n");
        rest = &rest[inside..];
    }
    out.push_str(if first.number.is_some() { "</ol>\n" } else { "</ul>\n" });
    rest
}

/// How many lines belong to the item that the first one begins: those indented under it, blank ones
/// between, and lines that only continue its paragraph.
fn item_length(lines: &[&str], width: usize) -> usize {
    let (mut inside, mut blank) = (1, false);
    for line in &lines[1..] {
        if line::is_blank(line) {
            blank = true;
        } else if line::indent(line) < width && (blank || line::begins_block(line)) {
            break;
        } else {
            blank = false;
        }
        inside += 1;
    }
    inside
}

fn paragraph<'a, 'b>(out: &mut String, lines: &'b [&'a str], depth: usize) -> &'b [&'a str] {
    let goes_on = |line: &&&str| !line::is_blank(line) && (depth >= MAX_DEPTH || !line::interrupts(line));
    let length = 1 + lines[1..].iter().take_while(goes_on).count();
    out.push_str("<p>");
    inline::push(out, &lines[..length].join("\n"));
    out.push_str("</p>\n");
    &lines[length..]
}

#[cfg(test)]
mod tests;
