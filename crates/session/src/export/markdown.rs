//! The conversation as Markdown: front matter, a heading per entry, and its text.
//!
//! Invariants: what was said stands in quotes and in fences longer than any in it, so none of it can look
//! like a heading, a new speaker or the end of a fence. Control and hidden characters are spelled out. The
//! same session gives the same bytes.

use std::borrow::Cow;
use std::io::{self, Write};

use relaycode_text::html::show_hidden;
use serde_json::Value;

use super::entry_view::{EntryClass, EntryView, ViewPiece};
use super::human_format::{count_noun, format_size, format_time};
use super::survey::{EntryPosition, ExportSurvey, branch_origin};
use super::{ExportError, ExportRun, ExportSource, ExportSummary, strip_colours};
use crate::SessionEntry;

/// The shortest fence.
const FENCE: usize = 3;

pub(super) fn write(run: &ExportRun<'_>, out: &mut dyn Write) -> Result<ExportSummary, ExportError> {
    let ExportRun { source, options, survey } = run;
    let title = run.title();
    front_matter(&title, source, survey, out)?;
    writeln!(out, "# {}\n", one_line(&title))?;
    for found in source.load_issues {
        writeln!(out, "- the file was not in order: {}", one_line(found))?;
    }
    if survey.orphans > 0 {
        let entries = count_noun(survey.orphans, "entry follows", "entries follow");
        writeln!(out, "- the file was not in order: {entries} something that is not in it")?;
    }
    let mut exported = ExportSummary::default();
    let skipped = run.for_each_entry(&mut |entry, here, place| {
        let active = place == EntryPosition::ActivePath;
        if let EntryPosition::BranchStart { after, entries } = place {
            let (from, entries) = (branch_origin(after), count_noun(entries, "entry", "entries"));
            writeln!(out, "\n---\n\n*Another branch, {from}, {entries}.*")?;
        }
        if here > 0 && active && !survey.is_active(here - 1) && options.all_branches {
            writeln!(out, "\n---\n\n*Back on the active path.*")?;
        }
        exported.entries += 1;
        Ok(write_entry(entry, here, !active, survey, &mut exported, out)?)
    })?;
    exported.skipped_entries = skipped;
    if skipped > 0 {
        let left = count_noun(skipped, "entry", "entries");
        writeln!(out, "\n---\n\n*{left} of other branches left out.*")?;
    }
    Ok(exported)
}

/// YAML whose every value is a JSON string, number or list, which is valid YAML.
fn front_matter(
    title: &str,
    source: &ExportSource<'_>,
    survey: &ExportSurvey,
    out: &mut dyn Write,
) -> io::Result<()> {
    let header = source.header;
    let string = |text: &str| Value::from(show_hidden(text));
    writeln!(out, "---")?;
    let fields = [
        ("id", string(&header.id)),
        ("title", string(title)),
        ("cwd", string(&header.cwd)),
        ("began", string(&header.timestamp)),
        ("last", string(&survey.last_time)),
        ("models", survey.models.iter().map(|model| string(model)).collect()),
        ("tokensIn", survey.input_tokens.into()),
        ("tokensOut", survey.output_tokens.into()),
        ("tokensCached", survey.cached_tokens.into()),
        ("cost", Value::from((survey.cost * 1e6).round() / 1e6)),
        ("entries", survey.entries().into()),
        ("parentSession", header.parent_session.as_deref().map_or(Value::Null, string)),
    ];
    for (name, value) in fields {
        writeln!(out, "{name}: {value}")?;
    }
    writeln!(out, "---\n")
}

fn write_entry(
    entry: &SessionEntry,
    at: usize,
    beside: bool,
    survey: &ExportSurvey,
    exported: &mut ExportSummary,
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = EntryView::from_entry(entry);
    let mut words = vec![format!("{}", at + 1)];
    match shown.class {
        EntryClass::Tool => words.push(format!("result of {}", one_line(&shown.title))),
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
        words.push(one_line(&format_time(&entry.timestamp)));
    }
    if shown.class == EntryClass::Note {
        writeln!(out, "\n*{}*", words.join(" · "))?;
    } else {
        writeln!(out, "\n## {}", words.join(" · "))?;
    }
    if !shown.facts.is_empty() {
        writeln!(out, "\n*{}*", one_line(&shown.facts.join(" · ")))?;
    }
    shown.pieces.iter().try_for_each(|piece| write_piece(piece, exported, out))
}

fn write_piece(piece: &ViewPiece<'_>, exported: &mut ExportSummary, out: &mut dyn Write) -> io::Result<()> {
    use ViewPiece::*;
    match piece {
        Prose(words) | Plain(words) => quote(words, out),
        Thinking(words) => {
            writeln!(out, "\n*thinking*")?;
            quote(words, out)
        }
        Output(words) => fence("text", &strip_colours::strip_colour_codes(words), out),
        Folded(title, words) => titled(title, "text", words, out),
        Call(name, arguments) => {
            titled(&format!("calls {}", one_line(name)), "json", &pretty(arguments), out)
        }
        Failure(words) => titled("failed", "text", words, out),
        Image(mime, data) => {
            exported.skipped_images += 1;
            writeln!(out, "\n*image left out: {}, {}*", one_line(mime), format_size(data.len() / 4 * 3))
        }
        Data(title, value) => titled(title, "json", &pretty(value), out),
    }
}

fn titled(title: &str, language: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n*{title}*")?;
    fence(language, words, out)
}

fn quote(words: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for line in show_hidden(words).lines() {
        writeln!(out, "> {line}")?;
    }
    Ok(())
}

fn fence(language: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
    let words = show_hidden(words);
    let fence = "`".repeat(longest_run(&words).max(FENCE - 1) + 1);
    let end = if words.ends_with('\n') || words.is_empty() { "" } else { "\n" };
    writeln!(out, "\n{fence}{language}\n{words}{end}{fence}")
}

/// Of backticks.
fn longest_run(words: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in words.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// One line of a heading or a note, without anything that Markdown would interpret.
fn one_line(text: &str) -> String {
    let line: Cow<'_, str> = relaycode_text::escape::escape_line(text);
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
