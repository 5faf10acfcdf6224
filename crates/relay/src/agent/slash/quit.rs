//! `/quit`

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandResult};

pub(super) struct QuitCommand;

impl SlashCommand for QuitCommand {
    fn name(&self) -> &'static str {
        "quit"
    }

    fn other_names(&self) -> &'static [&'static str] {
        &["exit"]
    }

    fn help(&self) -> &'static str {
        "leave; Ctrl-D does, too"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        _conversation: &mut Conversation<'_>,
        _ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        Ok(ConversationStep::Leave)
    }
}
