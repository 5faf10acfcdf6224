//! One line for what was done, and one for what can be done next.
//!
//! ```text
//! ✓ applied 3f9c1e2a · 3 files · `relay revert` undoes it
//! ```

use super::gate;
use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::{LIST_LIMIT, pluralize};
use relaycode_door::GateReport;
use relaycode_ledger::TxId;
use relaycode_ledger::record::RecordOmission;
use relaycode_ledger::revert::{KeptEdits, RevertPlan};
use relaycode_project::git::head::GitHead;
use relaycode_text::width::cells;

/// A change was applied; `gate` is what the project's commands said, `undo` what undoes it.
pub fn applied_line(
    id: &str,
    files: usize,
    gate: Option<&GateReport>,
    undo: &str,
    look: &OutputStyle,
) -> String {
    let dot = look.glyph(Glyph::Dot);
    let checked = gate.and_then(|gate| gate::passed_summary(gate, look));
    let checked = checked.map(|checked| format!("{checked} {dot} ")).unwrap_or_default();
    success_line(
        look,
        &format!("applied {id} {dot} {} {dot} {checked}{undo} undoes it", pluralize(files, "file")),
    )
}

/// A line that goes with the one above it.
pub fn indented_line(look: &OutputStyle, text: &str) -> String {
    format!("{}\n", look.wrap(&format!("  {text}"), 2))
}

/// How something went, for who wants to hear everything. `text` is made safe here.
pub fn detail_line(look: &OutputStyle, text: &str) -> String {
    let line = look.wrap(&format!("  {}", look.safe(text)), 4);
    format!("{}\n", look.paint(PaintRole::Dim, &line))
}

/// `✓ …`
pub fn success_line(look: &OutputStyle, text: &str) -> String {
    let sign = look.glyph(Glyph::Done);
    let wrapped = look.wrap(&format!("{}{text}", " ".repeat(cells(sign) + 1)), 2);
    format!("{} {}\n", look.paint(PaintRole::Good, sign), wrapped.trim_start())
}

/// `! …`
pub fn warning_line(look: &OutputStyle, text: &str) -> String {
    let sign = look.paint(PaintRole::Attention, "!");
    let wrapped = look.wrap(&format!("  {text}"), 2);
    format!("{sign} {}\n", wrapped.trim_start())
}

/// A change was taken back, or a revert was.
pub struct RevertReport<'a> {
    /// What was taken back, as people call it.
    pub name: String,
    /// What that had taken back itself, and what is in again.
    pub reinstated: &'a [TxId],
    /// How.
    pub reversal: &'a RevertPlan,
    /// What could be reverted next: its number in the log, and what it was about.
    pub next: Option<(usize, String)>,
}

/// What a change did and its revert does not bring back.
pub fn unrestored_lines(look: &OutputStyle, unrestored: &[RecordOmission]) -> String {
    let line = |left: &RecordOmission| {
        let path = look.path_in(&left.path, 4);
        warning_line(look, &format!("not brought back: {path} {}", look.safe(&left.reason)))
    };
    let mut out: String = unrestored.iter().take(LIST_LIMIT).map(line).collect();
    if unrestored.len() > LIST_LIMIT {
        let more = format!("and {} more; `--json` lists them all", unrestored.len() - LIST_LIMIT);
        out += &indented_line(look, &more);
    }
    out
}

impl RevertReport<'_> {
    /// A line for what was done, lines for what deserves a look, a line for what can be done next.
    pub fn text(&self, look: &OutputStyle) -> String {
        let dot = look.glyph(Glyph::Dot);
        let kept = |KeptEdits { path, edits }: &KeptEdits| {
            let edits = pluralize(*edits, "later edit");
            format!(" {dot} {} also has {edits} of yours: kept", look.path_in(path, 2))
        };
        let kept: String = self.reversal.kept_edits.iter().take(LIST_LIMIT).map(kept).collect();
        let name = look.safe(&self.name);
        let (what, again) = match self.reinstated {
            [] => (format!("reverted {name}"), "`relay revert` again brings it back"),
            [one] => (
                format!("reverted {name} {dot} {} is in again", one.short()),
                "`relay revert` again takes it out",
            ),
            several => (
                format!("reverted {name} {dot} {} are in again", pluralize(several.len(), "change")),
                "`relay revert` again takes them out",
            ),
        };
        let mut out = success_line(look, &format!("{what}{kept}"));
        for path in self.reversal.conflict_marked.iter().take(LIST_LIMIT) {
            out += &warning_line(
                look,
                &format!("{} holds both sides between conflict markers", look.path_in(path, 2)),
            );
        }
        out += &unrestored_lines(look, &self.reversal.unrestored);
        for note in self.reversal.notes.iter().take(LIST_LIMIT) {
            out += &(look.wrap(&format!("  {}", look.safe(note)), 2) + "\n");
        }
        let next = match &self.next {
            Some((index, title)) => format!("; `relay revert {index}` undoes {title}"),
            None => String::new(),
        };
        out += &(look.wrap(&format!("  {again}{}", look.safe(&next)), 2) + "\n");
        out
    }
}

/// What was checked out: `main at 9e101c6`.
pub fn head_label(head: &GitHead) -> String {
    let short = |commit: &String| commit.chars().take(7).collect::<String>();
    match (&head.branch, head.commit.as_ref().map(short)) {
        (Some(branch), Some(commit)) => format!("{branch} at {commit}"),
        (Some(branch), None) => format!("{branch} without a commit"),
        (None, Some(commit)) => commit,
        (None, None) => "no branch".to_string(),
    }
}
