//! One entry of the page: a small line, or an article with its pieces. Long pieces are folded, and nothing is cut.

use std::io::{self, Write};

use relaycode_text::html::{escape_line, escape_text};
use serde_json::Value;

use super::super::entry_view::{EntryClass, EntryView, ViewPiece};
use super::super::human_format::{count_noun, format_size, format_time};
use super::super::survey::{ExportSurvey, clip_line};
use super::super::{ExportSummary, image, strip_colours};
use super::{COPY, markdown_html};
use crate::SessionEntry;

/// Output up to this many lines and bytes is not folded.
const SHORT_LINES: usize = 12;
const SHORT_BYTES: usize = 1_500;

/// Longer Markdown is shown as plain text: nobody reads it as prose.
const MAX_PROSE: usize = 1 << 20;

/// Text is escaped in steps of about this many bytes.
const STEP: usize = 64 << 10;

/// Characters of an argument shown beside a tool's name.
const PREVIEW: usize = 100;

/// Most items of a list on one line.
const SHORT_LIST: usize = 16;

/// Arguments that summarise a call in one line, best first.
const PREVIEWED: &[&str] = &["command", "path", "file_path", "pattern", "query", "url", "task", "prompt"];

/// What is known from the entries before.
pub(super) struct HtmlExportState {
    /// Bytes of base64 that the page may still hold.
    pub(super) images: u64,
    /// The day of the last time written.
    day: String,
    pub(super) exported: ExportSummary,
}

impl HtmlExportState {
    pub(super) fn new(images: u64) -> HtmlExportState {
        HtmlExportState { images, day: String::new(), exported: ExportSummary::default() }
    }

    /// A time; with its day only if that differs from the one before.
    fn short_time(&mut self, timestamp: &str) -> String {
        let time = format_time(timestamp);
        match time.split_once(' ') {
            Some((day, clock)) if day == self.day => clock.to_owned(),
            Some((day, _)) => {
                day.clone_into(&mut self.day);
                time
            }
            None => time,
        }
    }
}

pub(super) fn write_entry(
    entry: &SessionEntry,
    at: usize,
    survey: &ExportSurvey,
    state: &mut HtmlExportState,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = EntryView::from_entry(entry);
    let number = at + 1;
    let label = survey.label(at);
    let class = css_class(&shown);
    let failed = if shown.failed { " failed" } else { "" };
    let labelled = if label.is_some() { " labelled" } else { "" };
    writeln!(out, "<article class=\"e {class}{failed}{labelled}\" id=\"e{number}\">")?;
    write!(out, "<header><h2 class=\"who\">")?;
    if shown.class == EntryClass::Tool {
        write!(out, "<span class=\"kind\">result of</span> ")?;
    }
    write!(out, "{}</h2>", escape_text(&shown.title))?;
    if shown.failed {
        write!(out, " <span class=\"bad\">✗ failed</span>")?;
    }
    if let Some(label) = label {
        write!(out, " <span class=\"label\">{}</span>", escape_line(label))?;
    }
    if !shown.facts.is_empty() {
        write!(out, " <span class=\"facts\">{}</span>", escape_text(&shown.facts.join(" · ")))?;
    }
    if !entry.timestamp.is_empty() {
        write!(out, " <time>{}</time>", escape_line(&state.short_time(&entry.timestamp)))?;
    }
    let id = escape_line(&entry.id);
    write!(out, " <a class=\"n\" href=\"#e{number}\" title=\"{id}\" aria-label=\"entry {number}\">")?;
    writeln!(out, "{number}</a></header>")?;
    for piece in &shown.pieces {
        write_piece(piece, state, out)?;
    }
    writeln!(out, "</article>")
}

fn css_class(shown: &EntryView<'_>) -> &'static str {
    let only_calls =
        || shown.pieces.iter().all(|piece| matches!(piece, ViewPiece::Call(..) | ViewPiece::Thinking(_)));
    match shown.class {
        EntryClass::User => "user",
        EntryClass::Assistant if only_calls() && !shown.failed => "assistant bare",
        EntryClass::Assistant => "assistant",
        EntryClass::Tool => "tool",
        EntryClass::Summary => "summary",
        EntryClass::Other => "other",
        EntryClass::Note => "note",
    }
}

fn write_piece(piece: &ViewPiece<'_>, state: &mut HtmlExportState, out: &mut dyn Write) -> io::Result<()> {
    use ViewPiece::*;
    match piece {
        Prose(words) => write_prose(words, out),
        Plain(words) => write_escaped("<div class=\"plain\" dir=\"auto\">", words, "</div>\n", out),
        Thinking(words) => {
            let count = count_noun(words.split_whitespace().count(), "word", "words");
            writeln!(
                out,
                "<details class=\"thinking\"><summary>thinking <span class=\"facts\">{count}</span></summary>"
            )?;
            write_prose(words, out)?;
            writeln!(out, "</details>")
        }
        Output(words) => write_output(&strip_colours::strip_colour_codes(words), out),
        Folded(title, words) => write_folded(title, words, out),
        Call(name, arguments) => write_call(name, arguments, out),
        Failure(words) => write_escaped("<div class=\"failure\">✗ ", words, "</div>\n", out),
        Image(mime, data) => write_image(mime, data, state, out),
        Data(title, value) => write_folded(title, &pretty_json(value), out),
    }
}

fn write_prose(words: &str, out: &mut dyn Write) -> io::Result<()> {
    if words.len() > MAX_PROSE {
        return write_escaped("<div class=\"plain\" dir=\"auto\">", words, "</div>\n", out);
    }
    let mut html = String::with_capacity(words.len() + words.len() / 4);
    markdown_html::push(&mut html, words);
    writeln!(out, "<div class=\"prose\" dir=\"auto\">{html}</div>")
}

fn write_output(words: &str, out: &mut dyn Write) -> io::Result<()> {
    if words.trim().is_empty() {
        return writeln!(out, "<p class=\"empty\">no output</p>");
    }
    if is_short(words) { write_code(words, out) } else { write_folded("output", words, out) }
}

fn write_call(name: &str, arguments: &Value, out: &mut dyn Write) -> io::Result<()> {
    let empty = serde_json::Map::new();
    let fields = arguments.as_object().unwrap_or(&empty);
    let telling = PREVIEWED.iter().find_map(|key| fields.get(*key)?.as_str()).unwrap_or_default();
    let json = if arguments.is_null() { String::new() } else { pretty_json(arguments) };
    // Do not repeat what stands beside the name.
    let told = fields.len() == 1 && !telling.is_empty() && clip_line(telling, PREVIEW) == telling;
    let open = if is_short(&json) && !told { " open" } else { "" };
    write!(out, "<details class=\"call\"{open}><summary><b>{}</b>", escape_line(name))?;
    if !telling.is_empty() {
        write!(out, " <code>{}</code>", escape_line(&clip_line(telling, PREVIEW)))?;
    }
    writeln!(out, "</summary>")?;
    if !arguments.is_object() {
        write_code(&json, out)?;
    } else if !fields.is_empty() {
        writeln!(out, "<dl class=\"arguments\">")?;
        for (key, value) in fields {
            write!(out, "<div><dt>{}</dt><dd>", escape_line(key))?;
            match value {
                Value::String(words) if words.contains('\n') => write_code(words, out)?,
                Value::String(words) => write_escaped("<code>", words, "</code>", out)?,
                other => write_escaped("<code>", &pretty_json(other), "</code>", out)?,
            }
            writeln!(out, "</dd></div>")?;
        }
        writeln!(out, "</dl>")?;
    }
    writeln!(out, "</details>")
}

fn write_image(mime: &str, data: &str, state: &mut HtmlExportState, out: &mut dyn Write) -> io::Result<()> {
    let checked = image::check_image(data).and_then(|image| {
        let left = state.images.checked_sub(data.len() as u64);
        state.images = left.ok_or("the page holds as many images as it may")?;
        Ok(image)
    });
    match checked {
        Ok(image) => {
            state.exported.images += 1;
            writeln!(
                out,
                "<figure><img alt=\"image\" decoding=\"async\" src=\"data:{};base64,{}\"></figure>",
                image.mime, image.data
            )
        }
        Err(why) => {
            state.exported.skipped_images += 1;
            let (mime, bytes) = (clip_line(mime, PREVIEW), format_size(data.len() / 4 * 3));
            writeln!(out, "<p class=\"empty\">image left out ({}, {bytes}): {why}</p>", escape_line(&mime))
        }
    }
}

/// Text that keeps its lines, folded under its title.
fn write_folded(title: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
    let facts = format!("<span class=\"facts\">{}</span>", size_text(words));
    writeln!(out, "<details class=\"more\"><summary>{title} {facts}</summary>")?;
    write_code(words, out)?;
    writeln!(out, "</details>")
}

/// Text that keeps its lines, with a copy button.
fn write_code(words: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<div class=\"code\">{COPY}")?;
    write_escaped("<pre tabindex=\"0\"><code>", words, "</code></pre></div>\n", out)
}

/// Writes text between two tags, in steps: it may be as long as the session.
fn write_escaped(begin: &str, words: &str, end: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(begin.as_bytes())?;
    let mut rest = words;
    while rest.len() > STEP {
        let (step, more) = rest.split_at(chunk_end(rest));
        out.write_all(escape_text(step).as_bytes())?;
        rest = more;
    }
    out.write_all(escape_text(rest).as_bytes())?;
    out.write_all(end.as_bytes())
}

/// Where a step ends: before a letter, so that no sequence is split.
fn chunk_end(words: &str) -> usize {
    let letter = |at: &usize| words.as_bytes()[*at].is_ascii_alphanumeric();
    (STEP..words.len()).find(letter).unwrap_or(words.len())
}

fn is_short(words: &str) -> bool {
    words.len() <= SHORT_BYTES && words.lines().count() <= SHORT_LINES
}

fn size_text(words: &str) -> String {
    format!("{}, {}", count_noun(words.lines().count(), "line", "lines"), format_size(words.len()))
}

/// JSON, on one line if it is short.
fn pretty_json(value: &Value) -> String {
    let short = value.as_array().is_some_and(|list| list.len() <= SHORT_LIST)
        || !value.is_array() && !value.is_object();
    let line = if short { value.to_string() } else { String::new() };
    if !line.is_empty() && line.len() <= PREVIEW {
        return line;
    }
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_written_in_steps_without_a_seam() {
        let words = "a👩\u{200d}💻é<\r\n".repeat(20_000);
        let mut out = Vec::new();
        write_escaped("", &words, "", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), escape_text(&words));
    }
}
