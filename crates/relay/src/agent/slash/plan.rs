//! `/plan`: planning before anything changes.

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::agent::open_agent::mode_failure;
use crate::{CommandContext, CommandResult};

pub(super) struct PlanCommand;

impl SlashCommand for PlanCommand {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn arguments(&self) -> &'static str {
        "[PROMPT]"
    }

    fn help(&self) -> &'static str {
        "plan before anything changes; `/plan off` ends that"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let agent = &mut conversation.open.agent;
        if call.rest == "off" {
            let was_planning = agent.mode().is_some();
            agent.leave_mode().map_err(|error| mode_failure(&error))?;
            ctx.print_success(if was_planning { "no longer planning" } else { "not planning" });
            return Ok(ConversationStep::GoOn);
        }
        agent.begin_planning().map_err(|error| mode_failure(&error))?;
        if call.rest.is_empty() {
            ctx.print_success("planning: nothing changes but the plan, until you approve it");
        } else {
            conversation.say(call.words, call.rest, ctx)?;
        }
        Ok(ConversationStep::GoOn)
    }
}
