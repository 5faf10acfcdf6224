//! `relay undo`: one step back.

use relaycode_ledger::RevertStep;

use super::revert::RevertOptionArgs;
use crate::{CommandContext, CommandResult};

/// Undo the last change; again, and you go further back
///
/// Takes back the newest change that is still in: an answer, a recorded command, what a friend did, or a revert. Your own
/// edits of the same files stay. `relay redo` goes forward again. Setting the project up is not undone.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    how: RevertOptionArgs,
}

impl UndoArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        self.how.run_step(RevertStep::Undo, ctx)
    }
}
