//! A commit, before and after it is made.

use relaycode_door::git::commit_plan::CommitPlan;
use relaycode_project::git::head::GitHead;

use crate::{Glyph, LIST_LIMIT, OutputStyle, PaintRole, outcome, pluralize};

/// Before the commit.
pub fn text(plan: &CommitPlan, message: &str, head: &GitHead, style: &OutputStyle) -> String {
    let on = head.branch.as_deref().unwrap_or("a detached HEAD");
    let count = pluralize(plan.paths.len(), "file");
    let head = format!("{} commit of {count} on {}", style.glyph(Glyph::Incoming), style.safe(on));
    let mut text = style.wrap_if_narrow(&head, 2) + "\n";
    for line in message.lines().take(LIST_LIMIT) {
        text += style.wrap_if_narrow(&format!("    {}", style.safe(line)), 4).trim_end();
        text.push('\n');
    }
    for path in plan.paths.iter().take(LIST_LIMIT) {
        let mark =
            if plan.mixed_paths.contains(path) { style.paint(PaintRole::Attention, "!") } else { " ".into() };
        text += &format!("  {mark} {}\n", style.path_in(path, 4));
    }
    if plan.paths.len() > LIST_LIMIT {
        text += &format!("    and {} more\n", plan.paths.len() - LIST_LIMIT);
    }
    if !plan.mixed_paths.is_empty() {
        let files = pluralize(plan.mixed_paths.len(), "file");
        let said = format!("{files} also with edits that are not of these changes");
        text += &outcome::warning_line(style, &said);
    }
    text
}

pub fn committed_line(id: &str, files: usize, head: &GitHead, style: &OutputStyle) -> String {
    let short: String = id.chars().take(8).collect();
    let on = head.branch.as_deref().map(|branch| format!(" on {}", style.safe(branch))).unwrap_or_default();
    let dot = style.glyph(Glyph::Dot);
    outcome::success_line(style, &format!("committed {short}{on} {dot} {}", pluralize(files, "file")))
}
