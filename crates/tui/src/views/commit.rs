//! A commit, before and after it is made.

use relaycode_door::git::commit_plan::CommitPlan;
use relaycode_project::git::CommitRemains;
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
        let said = format!("{files} also with edits from elsewhere");
        text += &outcome::warning_line(style, &said);
    }
    text
}

/// What a commit left that was cut short; nothing if that is nothing.
pub fn remains_text(remains: &CommitRemains, style: &OutputStyle) -> String {
    let mut parts = Vec::new();
    if !remains.announced.is_empty() {
        let files = pluralize(remains.announced.len(), "new file");
        parts.push(format!("{files} taken out of the index again"));
    }
    if !remains.locks.is_empty() {
        parts.push(format!("{} of git removed", pluralize(remains.locks.len(), "lock")));
    }
    let mut text = String::new();
    if !parts.is_empty() {
        text += &outcome::warning_line(
            style,
            &format!("an earlier `relay git commit` was cut short: {}", parts.join(", ")),
        );
    }
    for lock in &remains.doubtful_locks {
        let lock = style.path_in(&lock.to_string_lossy(), 2);
        text += &outcome::warning_line(style, &format!("{lock} may be of a git that still runs: left alone"));
        text += &outcome::indented_line(style, "if no git runs here, remove it");
    }
    text
}

pub fn committed_line(id: &str, files: usize, head: &GitHead, style: &OutputStyle) -> String {
    let short: String = id.chars().take(8).collect();
    let on = head.branch.as_deref().map(|branch| format!(" on {}", style.safe(branch))).unwrap_or_default();
    let dot = style.glyph(Glyph::Dot);
    outcome::success_line(style, &format!("committed {short}{on} {dot} {}", pluralize(files, "file")))
}
