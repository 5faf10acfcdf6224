//! A short text to paste back to the author of a refused answer.
//!
//! It shows only the failing edits: where each stands, the first line that differs, and the real text there
//! with its line numbers. Everything is bounded ([`PROMPT_CHARS`]); what had to be left out is counted.
//! Foreign text stands in fences longer than any inside it.
//!
//! A proposal is planned whole or not at all, so the edits that fit have not been made either: the author
//! is asked to repeat those unchanged, and to leave out only what is already in.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::plan::{FittingHunk, HunkState, NearestPlace, PlanRefusal, RefusalEntry, RefusalReason};
use crate::proposal::Hunk;
use crate::proposal::path::RelPath;

/// Most characters of a repair prompt.
pub const PROMPT_CHARS: usize = 6_000;
/// Most lines quoted from a file or from the answer for one failing edit.
pub const QUOTED_LINES: usize = 12;
/// Most characters of a quoted line.
pub const LINE_CHARS: usize = 240;

/// Lines quoted before the first one that differs.
const LINES_BEFORE: usize = 3;
/// Characters reserved for the part after the failing edits.
const CLOSING_CHARS: usize = 1_500;

/// The beginning of every repair prompt.
const OPENING: &str =
    "Your answer could not be applied, and nothing was changed. These parts of it do not work:\n";

/// Only its beginning is checked. An answer may follow it, if somebody copied a whole chat.
pub fn is_repair_prompt(text: &str) -> bool {
    text.trim_start().starts_with(OPENING.trim_end())
}

/// The text to paste back.
pub fn repair_prompt(refused: &PlanRefusal) -> String {
    let mut out = String::from(OPENING);
    let room = PROMPT_CHARS - CLOSING_CHARS;
    let mut used = out.chars().count();
    let mut left_out = Vec::new();
    for refusal in &refused.refusals {
        let section = section(refusal);
        let length = section.chars().count();
        if used + length > room {
            left_out.push(refusal);
            continue;
        }
        used += length;
        out.push_str(&section);
    }
    out.extend(closing(refused, &left_out).chars().take(CLOSING_CHARS));
    out
}

/// One failing edit or block.
fn section(refusal: &RefusalEntry) -> String {
    let mut out = format!("\n## {}\n", title(refusal));
    match &refusal.reason {
        RefusalReason::NotFound { wanted, nearest, .. } => match nearest {
            Some(nearest) => not_found(&mut out, wanted, nearest),
            None => {
                out.push_str("Nothing in the file looks like this text:\n");
                quote(&mut out, &wanted.before, None);
            }
        },
        RefusalReason::Ambiguous { wanted, places, count, .. } => {
            let mut lines = places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            if *count > places.len() {
                let _ = write!(lines, " and {} more", count - places.len());
            }
            let _ = writeln!(
                out,
                "This text is in the file {count} times, at lines {lines}. Add more surrounding \
                 lines, so that only the place you mean fits:"
            );
            quote(&mut out, &wanted.before, None);
        }
        RefusalReason::Hunk { text, .. }
        | RefusalReason::Conflict { text }
        | RefusalReason::Encoding { text }
        | RefusalReason::Limit { text }
        | RefusalReason::Unread { text }
        | RefusalReason::Nothing { text } => {
            let _ = writeln!(out, "{}", sentence(text));
        }
    }
    out
}

/// The file, the edit, the line of the answer.
fn title(refusal: &RefusalEntry) -> String {
    let mut parts = Vec::from_iter(refusal.path.as_ref().map(RelPath::to_string));
    if let Some((hunk, of)) = hunk_number(&refusal.reason) {
        parts.push(format!("edit {hunk} of {of}"));
    }
    if refusal.line > 0 {
        parts.push(format!("line {} of your answer", refusal.line));
    }
    if parts.is_empty() { "The whole answer".to_string() } else { parts.join(", ") }
}

fn hunk_number(reason: &RefusalReason) -> Option<(usize, usize)> {
    match reason {
        RefusalReason::NotFound { hunk, of, .. }
        | RefusalReason::Ambiguous { hunk, of, .. }
        | RefusalReason::Hunk { hunk, of, .. } => Some((*hunk, *of)),
        _ => None,
    }
}

fn not_found(out: &mut String, wanted: &Hunk, nearest: &NearestPlace) {
    let first = nearest.first_difference;
    out.push_str("The file does not have this text. The first line that differs:\n");
    match wanted.before.get(first) {
        Some(line) => quote(out, std::slice::from_ref(line), None),
        None => out.push_str("(your text ends before it)\n"),
    }
    match nearest.text.get(first) {
        Some(line) => {
            let _ = writeln!(out, "Line {} of the file is really:", nearest.line + first);
            quote(out, std::slice::from_ref(line), None);
        }
        None => out.push_str("The file has no such line there.\n"),
    }
    let from = first.min(nearest.text.len()).saturating_sub(LINES_BEFORE);
    let around = &nearest.text[from..];
    if around.len() > 1 {
        out.push_str("The nearest text of the file, with its line numbers:\n");
        quote(out, around, Some(nearest.line + from));
    }
}

/// Quotes lines in a fence, numbered from `first` if given, and says how many it left out.
fn quote(out: &mut String, lines: &[String], first: Option<usize>) {
    let shown = &lines[..lines.len().min(QUOTED_LINES)];
    let mut fence = super::fence(&shown.join("\n"), 3);
    fence.truncate(LINE_CHARS + 1);
    let _ = writeln!(out, "{fence}");
    let width = first.map_or(0, |first| (first + shown.len()).to_string().len());
    for (index, line) in shown.iter().enumerate() {
        if let Some(first) = first {
            let _ = write!(out, "{:>width$} | ", first + index);
        }
        let _ = writeln!(out, "{}", clip(line));
    }
    let _ = writeln!(out, "{fence}");
    if lines.len() > shown.len() {
        let _ = writeln!(out, "({} more lines)", lines.len() - shown.len());
    }
}

fn clip(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{} (line cut here)", &line[..end]),
        None => line.to_string(),
    }
}

/// Foreign text as one line with a full stop.
fn sentence(text: &str) -> String {
    let text = clip(&text.replace(['\n', '\r'], " "));
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// What was left out, what is fine, and how to answer.
fn closing(refused: &PlanRefusal, left_out: &[&RefusalEntry]) -> String {
    let mut out = String::new();
    if let Some(first) = left_out.first() {
        let (count, first) = (left_out.len(), title(first));
        let _ = writeln!(out, "\n{count} more failed, left out here for length; the first of them: {first}.");
    }
    for (state, text) in [
        (HunkState::AlreadyIn, "Already in, do not send again"),
        (HunkState::Applied, "These fit, repeat them unchanged"),
    ] {
        let edits = edits(&refused.fitting, state);
        if !edits.is_empty() {
            let _ = writeln!(out, "\n{text}: {edits}.");
        }
    }
    let _ = writeln!(
        out,
        "\nAnswer in the same format as before, with the failing parts corrected. Copy what is to \
         be replaced exactly from the file, without line numbers. The same uuid may be used again."
    );
    out
}

/// `src/a.ts edit 1, 3; src/b.ts edit 2`, shortened after a few.
fn edits(fitting: &[FittingHunk], state: HunkState) -> String {
    /// Most files named.
    const FILES: usize = 8;
    /// Most edits named per file.
    const EDITS: usize = 12;
    let mut files: Vec<(&RelPath, Vec<usize>)> = Vec::new();
    for hunk in fitting.iter().filter(|hunk| hunk.report.state == state) {
        match files.last_mut() {
            Some((path, edits)) if *path == &hunk.path => edits.push(hunk.hunk),
            _ => files.push((&hunk.path, vec![hunk.hunk])),
        }
    }
    let mut named: Vec<String> = files
        .iter()
        .take(FILES)
        .map(|(path, edits)| {
            let numbers: Vec<String> = edits.iter().take(EDITS).map(usize::to_string).collect();
            let more = if edits.len() > EDITS { " and more" } else { "" };
            format!("{} edit {}{more}", clip_path(path), numbers.join(", "))
        })
        .collect();
    if files.len() > FILES {
        named.push(format!("{} more files", files.len() - FILES));
    }
    named.join("; ")
}

/// Keeps the end of a very long path.
fn clip_path(path: &RelPath) -> String {
    /// Most characters of a path in a list.
    const PATH_CHARS: usize = 80;
    let length = path.as_str().chars().count();
    if length <= PATH_CHARS {
        return path.to_string();
    }
    let end: String = path.as_str().chars().skip(length - PATH_CHARS).collect();
    format!("...{end}")
}
