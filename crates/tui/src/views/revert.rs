//! An undo, a redo or a revert: what it did or would do, and what can be done next.
//!
//! ```text
//! ✓ undone: fix: typo · src/cart.ts also has 1 later edit of yours: kept
//!   `relay redo` brings it back · `relay undo` again: "feat: round totals to cents"
//! ```

use relaycode_change::diff::FileDiff;
use relaycode_change::plan::FilePlan;
use relaycode_ledger::record::title::{brings_back, reverted_title};
use relaycode_ledger::{KeptEdits, RevertPlan, RevertStep};

use super::outcome::{indented_line, success_line, unrestored_lines, warning_line};
use super::{card, diff};
use crate::{DiffLayout, Glyph, LIST_LIMIT, OutputStyle, StyledText, line_counts, pluralize};

/// Characters of a title that is only mentioned.
const TITLE: usize = 50;

/// Characters of the title that it is about: a model may write any length.
pub const LONGEST_TITLE: usize = 200;

/// An undo, a redo or a revert.
pub struct RevertReport<'a> {
    pub step: RevertStep,
    pub plan: &'a RevertPlan,
    /// Of the change, where what is next has the same title.
    pub id: Option<&'a str>,
    /// The title of what the same step would be about once more; its id, where that is needed.
    pub next: Option<(&'a str, Option<&'a str>)>,
    /// There are keys for it, as in `relay watch`.
    pub has_keys: bool,
}

impl RevertReport<'_> {
    /// A line for what was done, lines for what needs a look, a line for what can be done next.
    pub fn text(&self, style: &OutputStyle) -> String {
        let what = match (self.brings_back(), self.step) {
            // What its undo found to be out already is not in again.
            (true, _) if self.plan.is_empty() => "redone",
            (true, _) => "brought back",
            (false, RevertStep::Revert) => "reverted",
            (false, _) => "undone",
        };
        let dot = style.glyph(Glyph::Dot);
        let kept: String = self.kept_edits(style).iter().map(|kept| format!(" {dot} {kept}")).collect();
        let nothing = match self.plan.is_empty() {
            true => format!(" {dot} no file had to change"),
            false => String::new(),
        };
        let mut out = success_line(
            style,
            &format!("{what}: {}{}{nothing}{kept}", self.title(style), in_brackets(self.id, style)),
        );
        out += &self.remarks(style);
        let next = self.next_steps(style);
        if !next.is_empty() {
            out += &indented_line(style, &next);
        }
        out
    }

    /// What would be done: the files and their diffs.
    pub fn preview(&self, files: &[(FilePlan, FileDiff)], style: &OutputStyle) -> String {
        let what = match (self.brings_back(), self.step) {
            (true, _) if self.plan.is_empty() => "would redo: ",
            (true, _) => "would bring back: ",
            (false, RevertStep::Revert) => "would revert: ",
            (false, _) => "would undo: ",
        };
        let changes = &self.plan.changes;
        let (added, removed) =
            changes.iter().fold((0, 0), |(a, r), change| (a + change.added, r + change.removed));
        let totals = [StyledText::plain(&pluralize(files.len(), "file")), line_counts(style, added, removed)];
        let title = style.title(reverted_title(&self.plan.title));
        let mut out = card::title_with_totals(style, StyledText::plain(what), &title, totals);
        let rows = files.iter().map(|(file, _)| card::CardFileRow {
            letter: file.change.letter(),
            from: file.renamed_from.as_ref().map(|from| from.as_str()),
            path: file.path.as_str(),
            counts: line_counts(style, file.added, file.removed),
            about: String::new(),
        });
        out += &card::file_list(rows.collect(), 24, usize::MAX, style);
        for kept in self.kept_edits(style) {
            out += &indented_line(style, &kept);
        }
        out += &self.remarks(style);
        for (file, of_file) in files {
            out += &diff::file_text_with_layout(file, of_file, DiffLayout::Unified, style);
        }
        out
    }

    fn brings_back(&self) -> bool {
        brings_back(&self.plan.title)
    }

    fn title(&self, style: &OutputStyle) -> String {
        style.clip(&style.title(reverted_title(&self.plan.title)), LONGEST_TITLE)
    }

    fn kept_edits(&self, style: &OutputStyle) -> Vec<String> {
        let kept = |KeptEdits { path, edits }: &KeptEdits| {
            let edits = pluralize(*edits, "later edit");
            format!("{} also has {edits} of yours: kept", style.path_in(path, 2))
        };
        self.plan.kept_edits.iter().take(LIST_LIMIT).map(kept).collect()
    }

    /// What needs a look.
    fn remarks(&self, style: &OutputStyle) -> String {
        let mut out = String::new();
        for path in self.plan.conflict_marked.iter().take(LIST_LIMIT) {
            let path = style.path_in(path, 2);
            out += &warning_line(style, &format!("{path} holds both sides between conflict markers"));
        }
        out += &unrestored_lines(style, &self.plan.unrestored);
        for note in self.plan.notes.iter().take(LIST_LIMIT) {
            out += &indented_line(style, &style.safe(note));
        }
        out
    }

    fn next_steps(&self, style: &OutputStyle) -> String {
        let (undo, redo) = if self.has_keys { ("u", "U") } else { ("`relay undo`", "`relay redo`") };
        let again = if self.brings_back() { "takes it out again" } else { "brings it back" };
        let (back, same) = match self.step {
            RevertStep::Undo => (redo, Some(undo)),
            RevertStep::Redo => (undo, Some(redo)),
            RevertStep::Revert => (undo, None),
        };
        let next = same.zip(self.next).map(|(same, (title, id))| {
            let title = style.clip(&style.title(title), TITLE);
            format!("{same} again: \"{title}\"{}", in_brackets(id, style))
        });
        // What changed no file brings nothing back.
        let back = (!self.plan.is_empty()).then(|| format!("{back} {again}"));
        let parts: Vec<String> = back.into_iter().chain(next).collect();
        parts.join(&format!(" {} ", style.glyph(Glyph::Dot)))
    }
}

/// ` (3f9c1e2a)`
fn in_brackets(id: Option<&str>, style: &OutputStyle) -> String {
    id.map(|id| format!(" ({})", style.safe(id))).unwrap_or_default()
}
