//! A commit, before and after it is made.

use relaycode_door::commit::CommitPlan;
use relaycode_project::head::Head;

use super::{LISTED, number, outcome};
use crate::look::{Look, Paint, Sign};

/// What would be committed.
pub fn text(plan: &CommitPlan, message: &str, head: &Head, look: &Look) -> String {
    let on = head.branch.as_deref().unwrap_or("a detached HEAD");
    let count = number(plan.paths.len(), "file");
    let head = format!("{} commit of {count} on {}", look.sign(Sign::Incoming), look.safe(on));
    let mut text = look.wrap_if_narrow(&head, 2) + "\n";
    for line in message.lines().take(LISTED) {
        text += look.wrap_if_narrow(&format!("    {}", look.safe(line)), 4).trim_end();
        text.push('\n');
    }
    for path in plan.paths.iter().take(LISTED) {
        let mark = if plan.mixed.contains(path) { look.paint(Paint::Look, "!") } else { " ".to_string() };
        text += &format!("  {mark} {}\n", look.path_in(path, 4));
    }
    if plan.paths.len() > LISTED {
        text += &format!("    and {} more\n", plan.paths.len() - LISTED);
    }
    if !plan.mixed.is_empty() {
        let said =
            format!("{} also with edits that are not of these changes", number(plan.mixed.len(), "file"));
        text += &outcome::remark(look, &said);
    }
    text
}

/// It was made.
pub fn done(id: &str, files: usize, head: &Head, look: &Look) -> String {
    let short: String = id.chars().take(8).collect();
    let on = head.branch.as_deref().map(|branch| format!(" on {}", look.safe(branch))).unwrap_or_default();
    let dot = look.sign(Sign::Dot);
    outcome::done(look, &format!("committed {short}{on} {dot} {}", number(files, "file")))
}
