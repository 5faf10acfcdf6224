//! What the look at the project after friends were at it showed, told to people.

use relaycode_friend::tree_check::{TreeCheckGap, TreeCheckReport};
use relaycode_tui::{outcome, pluralize};

use crate::{CommandContext, LogLevel};

const MAX_LISTED_FILES: usize = 20;

/// Names what changed, and says what could not be looked at. `unexpected`: why nothing should have.
pub(crate) fn report_tree_check(looked: &TreeCheckReport, unexpected: &str, ctx: &mut CommandContext<'_>) {
    match &looked.gap {
        None => {}
        Some(TreeCheckGap::PartlyUnread(_)) => {
            let said = "what could not be looked into before, either, was not compared";
            let why = looked.gap_message().unwrap_or_default();
            ctx.eprint_remark(LogLevel::Warn, &format!("{why}; {said}"));
        }
        Some(_) => {
            let why = looked.gap_message().unwrap_or_default();
            let said = format!(
                "whether anything was changed could not be found out: {why}; look yourself, or leave the comparison \
                 out with `--no-tree-check`"
            );
            ctx.eprint_remark(LogLevel::Error, &said);
        }
    }
    let changed = &looked.changes;
    if changed.is_empty() {
        return;
    }
    let count = pluralize(changed.len(), "file");
    let said = format!("{count} changed while it ran; {unexpected}, so this may be your own work:");
    ctx.eprint_remark(LogLevel::Error, &said);
    for difference in changed.iter().take(MAX_LISTED_FILES) {
        ctx.eprint_detail(LogLevel::Error, &format!("{}  {}", difference.path, difference.kind.label()));
    }
    if changed.len() > MAX_LISTED_FILES {
        let look = ctx.console.err_style();
        let more = format!("… {} more", changed.len() - MAX_LISTED_FILES);
        ctx.eprint_at(LogLevel::Error, &outcome::indented_line(&look, &more));
    }
}
