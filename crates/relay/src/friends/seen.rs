//! What the look at the project after friends were at it showed, told to people.

use relaycode_friend::tree::{Looked, Unseen};
use relaycode_project::config::LogLevel;
use relaycode_tui::{number, outcome};

use crate::context::Context;

/// Files that are named one by one.
const NAMED: usize = 20;

/// Names what changed, and says what could not be looked at. `unexpected`: why nothing should have.
pub(crate) fn say(looked: &Looked, unexpected: &str, context: &mut Context<'_>) {
    match &looked.unseen {
        None => {}
        Some(Unseen::Partly(_)) => {
            let said = "what could not be looked into before, either, was not compared";
            let why = looked.unchecked().unwrap_or_default();
            remark(&format!("{why}; {said}"), LogLevel::Warn, context);
        }
        Some(_) => {
            let why = looked.unchecked().unwrap_or_default();
            let said = format!(
                "whether anything was changed could not be found out: {why}; look yourself, or leave the comparison \
                 out with `--no-tree-check`"
            );
            remark(&said, LogLevel::Error, context);
        }
    }
    let changed = &looked.changed;
    if changed.is_empty() {
        return;
    }
    let count = number(changed.len(), "file");
    let said = format!("{count} changed while it ran; {unexpected}, so this may be your own work:");
    remark(&said, LogLevel::Error, context);
    let look = context.console.err_look();
    for difference in changed.iter().take(NAMED) {
        let line = format!("{}  {}", look.safe(&difference.path), difference.kind.words());
        context.beside(LogLevel::Error, &outcome::aside(&look, &line));
    }
    if changed.len() > NAMED {
        context.beside(LogLevel::Error, &outcome::aside(&look, &format!("… {} more", changed.len() - NAMED)));
    }
}

/// Something that needs a look.
pub(crate) fn remark(said: &str, level: LogLevel, context: &mut Context<'_>) {
    let look = context.console.err_look();
    context.beside(level, &outcome::remark(&look, &look.safe(said)));
}
