//! One entry of the page: a small line, or an article with its pieces. Long pieces are folded, and nothing is cut.

use std::io::Write;

use relaycode_text::html::{line, text};
use serde_json::Value;

use super::super::number::{counted, size, time};
use super::super::shown::{Class, Piece, Shown};
use super::super::survey::{Survey, clip};
use super::super::{ExportError, Exported, colours, image};
use super::{COPY, prose};
use crate::entry::Entry;

/// Output up to this many lines and bytes is not folded.
const SHORT_LINES: usize = 12;
const SHORT_BYTES: usize = 1_500;

/// Markdown over this is shown as plain text: nobody reads it as prose.
const MAX_PROSE: usize = 1 << 20;

/// Text is escaped in steps of about this size.
const STEP: usize = 64 << 10;

/// Characters of an argument beside a tool's name.
const PREVIEW: usize = 100;

/// Items of a list that may stand on one line.
const SHORT_LIST: usize = 16;

/// Arguments that say in one line what a call is about, best first.
const TELLING: &[&str] = &["command", "path", "file_path", "pattern", "query", "url", "task", "prompt"];

/// What is known from the entries before.
pub(super) struct State {
    /// Bytes of base64 that the page may still hold.
    pub(super) images: u64,
    /// The day of the last time that was written.
    day: String,
    pub(super) exported: Exported,
}

impl State {
    pub(super) fn new(images: u64) -> State {
        State { images, day: String::new(), exported: Exported::default() }
    }

    /// A time; its day only when it is another one than before.
    fn clock(&mut self, timestamp: &str) -> String {
        let time = time(timestamp);
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

pub(super) fn write(
    entry: &Entry,
    at: usize,
    survey: &Survey,
    state: &mut State,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let shown = Shown::of(entry);
    let number = at + 1;
    let label = survey.label(at);
    let class = class(&shown);
    let failed = if shown.failed { " failed" } else { "" };
    let labelled = if label.is_some() { " labelled" } else { "" };
    write!(
        out,
        "<article class=\"e {class}{failed}{labelled}\" id=\"e{number}\">\n<header><h2 class=\"who\">"
    )?;
    if shown.class == Class::Tool {
        write!(out, "<span class=\"kind\">result of</span> ")?;
    }
    write!(out, "{}</h2>", text(&shown.title))?;
    if shown.failed {
        write!(out, " <span class=\"bad\">✗ failed</span>")?;
    }
    if let Some(label) = label {
        write!(out, " <span class=\"label\">{}</span>", line(label))?;
    }
    if !shown.facts.is_empty() {
        write!(out, " <span class=\"facts\">{}</span>", text(&shown.facts.join(" · ")))?;
    }
    if !entry.timestamp.is_empty() {
        write!(out, " <time>{}</time>", line(&state.clock(&entry.timestamp)))?;
    }
    let id = line(&entry.id);
    writeln!(
        out,
        " <a class=\"n\" href=\"#e{number}\" title=\"{id}\" aria-label=\"entry {number}\">{number}</a></header>"
    )?;
    for piece in &shown.pieces {
        write_piece(piece, state, out)?;
    }
    writeln!(out, "</article>")?;
    Ok(())
}

fn class(shown: &Shown<'_>) -> &'static str {
    let only_calls =
        || shown.pieces.iter().all(|piece| matches!(piece, Piece::Call(..) | Piece::Thinking(_)));
    match shown.class {
        Class::User => "user",
        Class::Assistant if only_calls() && !shown.failed => "assistant bare",
        Class::Assistant => "assistant",
        Class::Tool => "tool",
        Class::Summary => "summary",
        Class::Other => "other",
        Class::Note => "note",
    }
}

fn write_piece(piece: &Piece<'_>, state: &mut State, out: &mut dyn Write) -> Result<(), ExportError> {
    match piece {
        Piece::Prose(words) => write_prose(words, out),
        Piece::Plain(words) => within("<div class=\"plain\" dir=\"auto\">", words, "</div>\n", out),
        Piece::Thinking(words) => {
            let count = counted(words.split_whitespace().count(), "word", "words");
            writeln!(
                out,
                "<details class=\"thinking\"><summary>thinking <span class=\"facts\">{count}</span></summary>"
            )?;
            write_prose(words, out)?;
            Ok(writeln!(out, "</details>")?)
        }
        Piece::Output(words) => write_output(&colours::without(words), out),
        Piece::Folded(title, words) => {
            write_folded(title, &extent(words), false, out)?;
            code(words, out)?;
            Ok(writeln!(out, "</details>")?)
        }
        Piece::Call(name, arguments) => write_call(name, arguments, out),
        Piece::Failure(words) => within("<div class=\"failure\">✗ ", words, "</div>\n", out),
        Piece::Image(mime, data) => write_image(mime, data, state, out),
        Piece::Data(title, value) => {
            let json = pretty(value);
            write_folded(title, &extent(&json), false, out)?;
            code(&json, out)?;
            Ok(writeln!(out, "</details>")?)
        }
    }
}

fn write_prose(words: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    if words.len() > MAX_PROSE {
        return within("<div class=\"plain\" dir=\"auto\">", words, "</div>\n", out);
    }
    let mut html = String::with_capacity(words.len() + words.len() / 4);
    prose::push(&mut html, words);
    Ok(writeln!(out, "<div class=\"prose\" dir=\"auto\">{html}</div>")?)
}

fn write_output(words: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    if words.trim().is_empty() {
        return Ok(writeln!(out, "<p class=\"empty\">no output</p>")?);
    }
    if is_short(words) {
        return code(words, out);
    }
    write_folded("output", &extent(words), false, out)?;
    code(words, out)?;
    Ok(writeln!(out, "</details>")?)
}

fn write_call(name: &str, arguments: &Value, out: &mut dyn Write) -> Result<(), ExportError> {
    let empty = serde_json::Map::new();
    let fields = arguments.as_object().unwrap_or(&empty);
    let telling = TELLING.iter().find_map(|key| fields.get(*key)?.as_str()).unwrap_or_default();
    let json = if arguments.is_null() { String::new() } else { pretty(arguments) };
    // What stands beside the name already is not shown twice.
    let told = fields.len() == 1 && !telling.is_empty() && clip(telling, PREVIEW) == telling;
    let open = if is_short(&json) && !told { " open" } else { "" };
    write!(out, "<details class=\"call\"{open}><summary><b>{}</b>", line(name))?;
    if !telling.is_empty() {
        write!(out, " <code>{}</code>", line(&clip(telling, PREVIEW)))?;
    }
    writeln!(out, "</summary>")?;
    if !arguments.is_object() {
        code(&json, out)?;
    } else if !fields.is_empty() {
        writeln!(out, "<dl class=\"arguments\">")?;
        for (key, value) in fields {
            write!(out, "<div><dt>{}</dt><dd>", line(key))?;
            match value {
                Value::String(words) if words.contains('\n') => code(words, out)?,
                Value::String(words) => within("<code>", words, "</code>", out)?,
                other => within("<code>", &pretty(other), "</code>", out)?,
            }
            writeln!(out, "</dd></div>")?;
        }
        writeln!(out, "</dl>")?;
    }
    Ok(writeln!(out, "</details>")?)
}

fn write_image(mime: &str, data: &str, state: &mut State, out: &mut dyn Write) -> Result<(), ExportError> {
    let checked = image::check(data).and_then(|image| {
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
            )?;
        }
        Err(why) => {
            state.exported.images_left_out += 1;
            let bytes = size(data.len() / 4 * 3);
            writeln!(
                out,
                "<p class=\"empty\">image left out ({}, {bytes}): {why}</p>",
                line(&clip(mime, PREVIEW))
            )?;
        }
    }
    Ok(())
}

fn write_folded(title: &str, facts: &str, open: bool, out: &mut dyn Write) -> Result<(), ExportError> {
    let open = if open { " open" } else { "" };
    Ok(writeln!(
        out,
        "<details class=\"more\"{open}><summary>{title} <span class=\"facts\">{facts}</span></summary>"
    )?)
}

/// Text that keeps its lines, with a button to copy it.
fn code(words: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    write!(out, "<div class=\"code\">{COPY}")?;
    within("<pre tabindex=\"0\"><code>", words, "</code></pre></div>\n", out)
}

/// Writes text between two tags, in steps: it may be as long as the session.
fn within(begin: &str, words: &str, end: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    out.write_all(begin.as_bytes())?;
    let mut rest = words;
    while rest.len() > STEP {
        let (step, more) = rest.split_at(boundary(rest));
        out.write_all(text(step).as_bytes())?;
        rest = more;
    }
    out.write_all(text(rest).as_bytes())?;
    out.write_all(end.as_bytes())?;
    Ok(())
}

/// Where a step ends: before a letter, so that nothing that belongs together is parted.
fn boundary(words: &str) -> usize {
    let letter = |at: &usize| words.as_bytes()[*at].is_ascii_alphanumeric();
    (STEP..words.len()).find(letter).unwrap_or(words.len())
}

fn is_short(words: &str) -> bool {
    words.len() <= SHORT_BYTES && words.lines().count() <= SHORT_LINES
}

fn extent(words: &str) -> String {
    format!("{}, {}", counted(words.lines().count(), "line", "lines"), size(words.len()))
}

/// JSON on one line if it is short.
fn pretty(value: &Value) -> String {
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
        within("", &words, "", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text(&words));
    }
}
