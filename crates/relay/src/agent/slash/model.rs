//! `/model` and `/thinking`: who answers, and how much it thinks.

use relaycode_llm::request::ThinkingLevel;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct ModelCommand;
pub(super) struct ThinkingCommand;

impl SlashCommand for ModelCommand {
    fn name(&self) -> &'static str {
        "model"
    }

    fn arguments(&self) -> &'static str {
        "[MODEL]"
    }

    fn help(&self) -> &'static str {
        "which model answers, or another one from now on"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if !call.rest.is_empty() {
            conversation.open.switch_model(call.rest, ctx)?;
        }
        print_model(conversation, ctx);
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for ThinkingCommand {
    fn name(&self) -> &'static str {
        "thinking"
    }

    fn arguments(&self) -> &'static str {
        "[LEVEL]"
    }

    fn help(&self) -> &'static str {
        "how much the model thinks: off, minimal, low, medium, high, xhigh or max"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if !call.rest.is_empty() {
            let level = ThinkingLevel::from_name(call.rest).ok_or_else(|| {
                let names: Vec<&str> = ThinkingLevel::ALL.iter().map(|level| level.name()).collect();
                CommandFailure::usage(format!("there is no level `{}`", call.rest))
                    .hint(format!("the levels are {}", names.join(", ")))
            })?;
            conversation.open.set_thinking(level);
        }
        print_model(conversation, ctx);
        Ok(ConversationStep::GoOn)
    }
}

fn print_model(conversation: &Conversation<'_>, ctx: &mut CommandContext<'_>) {
    let model = &conversation.open.models.first;
    ctx.print_success(&format!("{}, thinking {}", model.model.selector(), model.thinking.name()));
}
