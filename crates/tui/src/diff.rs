//! The coloured unified diff of a plan.
//!
//! For eyes: control characters are visible and a change of line endings alone is one sentence. What
//! `git apply` takes is `relaycode_change::diff::patch`.

use std::fmt::Write;

use relaycode_change::diff::{self, Content, DiffHunk, DiffLine, Ending, FileDiff, LineKind};
use relaycode_change::plan::Plan;
use relaycode_change::proposal::Mode;

use super::{number, size};
use crate::look::{Look, Paint, Sign};

/// The diff of every file that changes, each after an empty line.
pub fn text(plan: &Plan, look: &Look) -> String {
    let mut out = String::new();
    for diff in diff::of_plan(plan) {
        out += &file(&diff, look);
    }
    out
}

/// The diff of one file, after an empty line.
pub fn file(diff: &FileDiff, look: &Look) -> String {
    let mut out = String::from("\n");
    write_file(&mut out, diff, look);
    out
}

fn write_file(out: &mut String, file: &FileDiff, look: &Look) {
    let new = look.safe(file.path.as_str());
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let old = look.safe(old.as_str());
    let before = match file.mode_before {
        Some(_) => format!("a/{old}"),
        None => "/dev/null".to_string(),
    };
    let after = match file.mode_after {
        Some(_) => format!("b/{new}"),
        None => "/dev/null".to_string(),
    };
    let head = format!("--- {before}\n+++ {after}");
    for line in head.lines() {
        let _ = writeln!(out, "{}", look.paint(Paint::Strong, line));
    }
    for sentence in sentences(file, look) {
        let _ = writeln!(out, "{}", look.paint(Paint::Dim, &sentence));
    }
    if let Content::Text { hunks, endings } = &file.content
        && !endings.is_some_and(|change| change.only)
    {
        let mark_endings = endings.is_some();
        for hunk in hunks {
            write_hunk(out, hunk, mark_endings, look);
        }
    }
}

/// What lines cannot show.
fn sentences(file: &FileDiff, look: &Look) -> Vec<String> {
    let arrow = look.sign(Sign::Arrow);
    let mut out = Vec::new();
    match (file.mode_before, file.mode_after) {
        (Some(Mode::Regular), Some(Mode::Executable)) => out.push("becomes executable".into()),
        (Some(Mode::Executable), Some(Mode::Regular)) => out.push("no longer executable".into()),
        _ => {}
    }
    match &file.content {
        Content::Same if file.renamed_from.is_some() => out.push("moved, content unchanged".into()),
        Content::Same if file.mode_before.is_none() => out.push("a new empty file".into()),
        Content::Same if file.mode_after.is_none() => out.push("it was empty".into()),
        Content::Same => {}
        Content::Binary { bytes_before, bytes_after } => {
            let (before, after) = (size(*bytes_before), size(*bytes_after));
            out.push(match (file.mode_before, file.mode_after) {
                (None, _) => format!("binary file, {after}"),
                (_, None) => format!("binary file, {before}"),
                _ => format!("binary file, {before} {arrow} {after}"),
            });
        }
        Content::Text { endings: Some(change), .. } => {
            let only = if change.only { "only " } else { "" };
            out.push(format!(
                "{only}the line endings of {} change, {} {arrow} {}",
                number(change.lines, "line"),
                change.from.name(),
                change.to.name()
            ));
        }
        Content::Text { endings: None, .. } => {}
    }
    out
}

fn write_hunk(out: &mut String, hunk: &DiffHunk, mark_endings: bool, look: &Look) {
    let head = format!("@@ -{},{} +{},{} @@", hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
    let _ = writeln!(out, "{}", look.paint(Paint::Dim, &head));
    for line in &hunk.lines {
        write_line(out, line, mark_endings, look);
    }
}

fn write_line(out: &mut String, line: &DiffLine, mark_endings: bool, look: &Look) {
    let carriage_return =
        matches!(line.ending, Ending::Crlf | Ending::Cr) && mark_endings && line.kind != LineKind::Context;
    let mark = if carriage_return { look.sign(Sign::CarriageReturn) } else { "" };
    let text = format!("{}{}{mark}", line.kind.sign(), look.code(&line.text));
    let text = match line.kind {
        LineKind::Context => text,
        LineKind::Added => look.paint(Paint::Good, &text),
        LineKind::Removed => look.paint(Paint::Bad, &text),
    };
    let _ = writeln!(out, "{text}");
    if line.ending == Ending::None {
        let note = look.paint(Paint::Dim, "\\ No newline at end of file");
        let _ = writeln!(out, "{note}");
    }
}
