//! `relay redo`: one step forward again.

use relaycode_ledger::RevertStep;

use super::revert::RevertOptionArgs;
use crate::{CommandContext, CommandResult};

/// Bring back what the last undo took out
///
/// Again, and you go further forward. Once another change was made there is nothing to redo; `relay revert ID` of the undo
/// brings its change back all the same.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RedoArgs {
    #[command(flatten)]
    how: RevertOptionArgs,
}

impl RedoArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        self.how.run_step(RevertStep::Redo, ctx)
    }
}
