//! `/access`: what the agent may do from now on.

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::friends::args::parse_access;
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct AccessCommand;

impl SlashCommand for AccessCommand {
    fn name(&self) -> &'static str {
        "access"
    }

    fn arguments(&self) -> &'static str {
        "[ACCESS]"
    }

    fn help(&self) -> &'static str {
        "what the agent may do: read-only, ask, workspace or full"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if !call.rest.is_empty() {
            let access = parse_access(call.rest).map_err(CommandFailure::usage)?;
            conversation.open.set_access(access);
        }
        ctx.print_success(&format!("access: {}", conversation.open.agent.workspace().access));
        Ok(ConversationStep::GoOn)
    }
}
