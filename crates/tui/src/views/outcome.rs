//! One line for what was done, and one for what can be done next.
//!
//! ```text
//! ✓ applied 3f9c1e2a · 3 files · `relay undo` undoes it
//! ```

use relaycode_door::GateReport;
use relaycode_ledger::record::RecordOmission;
use relaycode_project::git::head::GitHead;

use super::gate;
use crate::{Glyph, LIST_LIMIT, OutputStyle, PaintRole, cells, pluralize};

/// `gate` is the result of the project's commands, `undo` the command that undoes the change.
pub fn applied(id: &str, files: usize, gate: Option<&GateReport>, undo: &str, style: &OutputStyle) -> String {
    let dot = style.glyph(Glyph::Dot);
    let checked = gate.and_then(|gate| gate::passed_summary(gate, style));
    let checked = checked.map(|checked| format!("{checked} {dot} ")).unwrap_or_default();
    let files = pluralize(files, "file");
    success_line(style, &format!("applied {id} {dot} {files} {dot} {checked}{undo} undoes it"))
}

/// A line that belongs to the one above it.
pub fn indented_line(style: &OutputStyle, text: &str) -> String {
    format!("{}\n", style.wrap(&format!("  {text}"), 2))
}

/// For verbose output. `text` is made safe here.
pub fn detail_line(style: &OutputStyle, text: &str) -> String {
    let line = style.wrap(&format!("  {}", style.safe(text)), 4);
    format!("{}\n", style.paint(PaintRole::Dim, &line))
}

/// `✓ …`
pub fn success_line(style: &OutputStyle, text: &str) -> String {
    let sign = style.glyph(Glyph::Done);
    let wrapped = style.wrap(&format!("{}{text}", " ".repeat(cells(sign) + 1)), 2);
    format!("{} {}\n", style.paint(PaintRole::Good, sign), wrapped.trim_start())
}

/// `! …`
pub fn warning_line(style: &OutputStyle, text: &str) -> String {
    let sign = style.paint(PaintRole::Attention, "!");
    let wrapped = style.wrap(&format!("  {text}"), 2);
    format!("{sign} {}\n", wrapped.trim_start())
}

/// What a change did and its revert does not bring back.
pub fn unrestored_lines(style: &OutputStyle, unrestored: &[RecordOmission]) -> String {
    let line = |left: &RecordOmission| {
        let path = style.path_in(&left.path, 4);
        if left.is_build_output() {
            return indented_line(style, &format!("{path} stays as it is: build output"));
        }
        warning_line(style, &format!("not brought back: {path} {}", style.safe(&left.reason)))
    };
    let mut out: String = unrestored.iter().take(LIST_LIMIT).map(line).collect();
    if unrestored.len() > LIST_LIMIT {
        let more = format!("and {} more; `--json` lists them all", unrestored.len() - LIST_LIMIT);
        out += &indented_line(style, &more);
    }
    out
}

/// `main at 9e101c6`.
pub fn head_label(head: &GitHead) -> String {
    let short = |commit: &String| commit.chars().take(7).collect::<String>();
    match (&head.branch, head.commit.as_ref().map(short)) {
        (Some(branch), Some(commit)) => format!("{branch} at {commit}"),
        (Some(branch), None) => format!("{branch} without a commit"),
        (None, Some(commit)) => commit,
        (None, None) => "no branch".to_string(),
    }
}
