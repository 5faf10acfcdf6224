//! A commit, before and after it is made.

use relaycode_door::git::commit_plan::CommitPlan;
use relaycode_project::git::head::GitHead;

use super::outcome;
use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::{LIST_LIMIT, pluralize};

/// What would be committed.
pub fn text(plan: &CommitPlan, message: &str, head: &GitHead, look: &OutputStyle) -> String {
    let on = head.branch.as_deref().unwrap_or("a detached HEAD");
    let count = pluralize(plan.paths.len(), "file");
    let head = format!("{} commit of {count} on {}", look.glyph(Glyph::Incoming), look.safe(on));
    let mut text = look.wrap_if_narrow(&head, 2) + "\n";
    for line in message.lines().take(LIST_LIMIT) {
        text += look.wrap_if_narrow(&format!("    {}", look.safe(line)), 4).trim_end();
        text.push('\n');
    }
    for path in plan.paths.iter().take(LIST_LIMIT) {
        let mark = if plan.mixed_paths.contains(path) {
            look.paint(PaintRole::Attention, "!")
        } else {
            " ".to_string()
        };
        text += &format!("  {mark} {}\n", look.path_in(path, 4));
    }
    if plan.paths.len() > LIST_LIMIT {
        text += &format!("    and {} more\n", plan.paths.len() - LIST_LIMIT);
    }
    if !plan.mixed_paths.is_empty() {
        let said = format!(
            "{} also with edits that are not of these changes",
            pluralize(plan.mixed_paths.len(), "file")
        );
        text += &outcome::warning_line(look, &said);
    }
    text
}

/// It was made.
pub fn committed_line(id: &str, files: usize, head: &GitHead, look: &OutputStyle) -> String {
    let short: String = id.chars().take(8).collect();
    let on = head.branch.as_deref().map(|branch| format!(" on {}", look.safe(branch))).unwrap_or_default();
    let dot = look.glyph(Glyph::Dot);
    outcome::success_line(look, &format!("committed {short}{on} {dot} {}", pluralize(files, "file")))
}
