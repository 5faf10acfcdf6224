//! `/goal`: what the agent works towards. A new goal, and one that goes on, is worked on at once.

use relaycode_agent::AgentGoalError;
use relaycode_tools::GoalStatus;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct GoalCommand;

impl SlashCommand for GoalCommand {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn arguments(&self) -> &'static str {
        "[TEXT]"
    }

    fn help(&self) -> &'static str {
        "show or set a goal that the agent works towards; also `pause`, `resume`, `drop`"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let agent = &mut conversation.open.agent;
        if !agent.has_tool("goal") {
            return Err(CommandFailure::usage("the agent has no tool `goal`")
                .hint("see `agent.goal` in your config.yml"));
        }
        let failed = |error: &AgentGoalError| CommandFailure::usage(error.to_string()).unchanged();
        let status = match call.rest {
            "" => {
                let goal = agent.workspace().goal();
                let text = goal.map_or_else(|| "there is no goal".to_string(), |goal| goal.to_text());
                ctx.print_success(&text);
                return Ok(ConversationStep::GoOn);
            }
            "pause" => GoalStatus::Paused,
            "drop" => GoalStatus::Dropped,
            "resume" => {
                agent.set_goal_status(GoalStatus::Active).map_err(|error| failed(&error))?;
                conversation.say(call.words, "Go on with the goal.", ctx)?;
                return Ok(ConversationStep::GoOn);
            }
            objective => {
                agent.set_goal(objective).map_err(|error| failed(&error))?;
                conversation.say(call.words, objective, ctx)?;
                return Ok(ConversationStep::GoOn);
            }
        };
        let goal = agent.set_goal_status(status).map_err(|error| failed(&error))?;
        ctx.print_success(&goal.to_text());
        Ok(ConversationStep::GoOn)
    }
}
