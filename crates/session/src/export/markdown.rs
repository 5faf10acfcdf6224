//! The conversation as Markdown: front matter, a heading per entry, and what it says.
//!
//! Invariants: what was said stands in quotes and in fences longer than any in it, so nothing that is said can look like a heading, a
//! new speaker or the end of a fence. Control and hidden characters are written out. The same session gives the same bytes.

use std::borrow::Cow;
use std::io::Write;

use relaycode_text::html::visible;
use serde_json::Value;

use super::number::{counted, size, time};
use super::shown::{Class, Piece, Shown};
use super::survey::{Place, Survey};
use super::{Conversation, ExportError, Exported, Options, colours, html};
use crate::entry::Entry;

/// The shortest fence.
const FENCE: usize = 3;

pub(super) fn write(
    conversation: &Conversation<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let survey = Survey::of(conversation)?;
    let title = html::title(conversation, options, &survey);
    front_matter(&title, conversation, &survey, out)?;
    writeln!(out, "# {}\n", one_line(&title))?;
    for found in conversation.odd {
        writeln!(out, "- the file was not in order: {}", one_line(found))?;
    }
    if survey.orphans > 0 {
        let entries = counted(survey.orphans, "entry follows", "entries follow");
        writeln!(out, "- the file was not in order: {entries} something that is not in it")?;
    }
    let mut exported = Exported::default();
    let mut at = 0;
    conversation.entries.each(&mut |entry| {
        let here = at;
        at += 1;
        let place = survey.place(here);
        if here >= survey.entries() || (place != Place::Path && !options.all_branches) {
            exported.entries_left_out += 1;
            return Ok(());
        }
        if let Place::Begins { after, entries } = place {
            let from = after
                .map_or_else(|| "a beginning of its own".to_owned(), |after| format!("after {}", after + 1));
            writeln!(out, "\n---\n\n*Another branch, {from}, {}.*", counted(entries, "entry", "entries"))?;
        }
        if here > 0 && place == Place::Path && !survey.is_active(here - 1) && options.all_branches {
            writeln!(out, "\n---\n\n*Back on the active path.*")?;
        }
        exported.entries += 1;
        write_entry(entry, here, place != Place::Path, &survey, &mut exported, out)
    })?;
    if exported.entries_left_out > 0 {
        let left = counted(exported.entries_left_out, "entry", "entries");
        writeln!(out, "\n---\n\n*{left} of other branches left out.*")?;
    }
    Ok(exported)
}

/// YAML whose every value is a JSON string, number or list, which YAML reads too.
fn front_matter(
    title: &str,
    conversation: &Conversation<'_>,
    survey: &Survey,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let header = conversation.header;
    let string = |text: &str| Value::from(visible(text));
    writeln!(out, "---")?;
    let fields = [
        ("id", string(&header.id)),
        ("title", string(title)),
        ("cwd", string(&header.cwd)),
        ("began", string(&header.timestamp)),
        ("last", string(&survey.last_time)),
        ("models", survey.models.iter().map(|model| string(model)).collect()),
        ("tokensIn", survey.read.into()),
        ("tokensOut", survey.written.into()),
        ("tokensCached", survey.cached.into()),
        ("cost", Value::from((survey.cost * 1e6).round() / 1e6)),
        ("entries", survey.entries().into()),
        ("parentSession", header.parent_session.as_deref().map_or(Value::Null, string)),
    ];
    for (name, value) in fields {
        writeln!(out, "{name}: {value}")?;
    }
    writeln!(out, "---\n")?;
    Ok(())
}

fn write_entry(
    entry: &Entry,
    at: usize,
    beside: bool,
    survey: &Survey,
    exported: &mut Exported,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let shown = Shown::of(entry);
    let mut words = vec![format!("{}", at + 1)];
    match shown.class {
        Class::Tool => words.push(format!("result of {}", one_line(&shown.title))),
        _ => words.push(one_line(&shown.title)),
    }
    if shown.failed {
        words.push("failed".into());
    }
    words.extend(survey.label(at).map(|label| format!("[{}]", one_line(label))));
    if beside {
        words.push("other branch".into());
    }
    if !entry.timestamp.is_empty() {
        words.push(one_line(&time(&entry.timestamp)));
    }
    if shown.class == Class::Note {
        writeln!(out, "\n*{}*", words.join(" · "))?;
    } else {
        writeln!(out, "\n## {}", words.join(" · "))?;
    }
    if !shown.facts.is_empty() {
        writeln!(out, "\n*{}*", one_line(&shown.facts.join(" · ")))?;
    }
    shown.pieces.iter().try_for_each(|piece| write_piece(piece, exported, out))
}

fn write_piece(piece: &Piece<'_>, exported: &mut Exported, out: &mut dyn Write) -> Result<(), ExportError> {
    match piece {
        Piece::Prose(words) | Piece::Plain(words) => quote(words, out),
        Piece::Thinking(words) => {
            writeln!(out, "\n*thinking*")?;
            quote(words, out)
        }
        Piece::Output(words) => fence("text", &colours::without(words), out),
        Piece::Folded(title, words) => {
            writeln!(out, "\n*{title}*")?;
            fence("text", words, out)
        }
        Piece::Call(name, arguments) => {
            writeln!(out, "\n*calls {}*", one_line(name))?;
            fence("json", &pretty(arguments), out)
        }
        Piece::Failure(words) => {
            writeln!(out, "\n*failed*")?;
            fence("text", words, out)
        }
        Piece::Image(mime, data) => {
            exported.images_left_out += 1;
            Ok(writeln!(out, "\n*image left out: {}, {}*", one_line(mime), size(data.len() / 4 * 3))?)
        }
        Piece::Data(title, value) => {
            writeln!(out, "\n*{title}*")?;
            fence("json", &pretty(value), out)
        }
    }
}

/// What somebody said, as a quote.
fn quote(words: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    writeln!(out)?;
    for line in visible(words).lines() {
        writeln!(out, "> {line}")?;
    }
    Ok(())
}

fn fence(language: &str, words: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    let words = visible(words);
    let fence = "`".repeat(longest_run(&words).max(FENCE - 1) + 1);
    let end = if words.ends_with('\n') || words.is_empty() { "" } else { "\n" };
    Ok(writeln!(out, "\n{fence}{language}\n{words}{end}{fence}")?)
}

/// The longest run of backticks.
fn longest_run(words: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in words.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// One line of a heading or a small line, with nothing in it that Markdown would take for its own.
fn one_line(text: &str) -> String {
    let line: Cow<'_, str> = relaycode_text::escape::line(text);
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_it() {
        let mut out = Vec::new();
        fence("text", "a\n````\nb", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\n`````text\na\n````\nb\n`````\n");
    }

    #[test]
    fn a_line_is_text_whatever_is_in_it() {
        assert_eq!(one_line("# a\n<b> [x](y)"), "\\# a\\\\n\\<b\\> \\[x\\](y)");
    }
}
