//! `/model` and `/thinking`: who answers, and how much it thinks.

use relaycode_llm::request::ThinkingLevel;
use relaycode_tui::model_picker::{ModelChoice, ModelOutcome, ModelPicker};

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult, Providers};

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
        let is_shown = match call.rest {
            "" => choose(conversation, ctx)?,
            model => conversation.open.switch_model(model, ctx).map(|()| true)?,
        };
        if is_shown {
            print_model(conversation, ctx);
        }
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

/// Lets the user choose from a list, if there is a screen for it. Returns whether what holds now is worth a line.
fn choose(conversation: &mut Conversation<'_>, ctx: &mut CommandContext<'_>) -> CommandResult<bool> {
    let Some(mut views) = conversation.open_views()? else { return Ok(true) };
    let providers = Providers::open(ctx)?;
    let keyed = providers.keys_by_provider();
    let registry = &providers.registry;
    let choices = registry.models.iter().filter(|known| registry.is_enabled(known)).map(|known| {
        let has_key = keyed.get(&known.model.provider).copied().unwrap_or(false);
        ModelChoice::new(&known.model, has_key)
    });
    let first = &conversation.open.models.first;
    let mut picker = ModelPicker::new(choices.collect(), Some(&first.model.selector()), first.thinking);
    let outcome = views.show(&mut picker);
    drop(views);
    match outcome {
        Some(ModelOutcome::Choose { selector, thinking }) => {
            conversation.open.switch_model(&selector, ctx)?;
            conversation.open.set_thinking(thinking);
            Ok(true)
        }
        Some(ModelOutcome::NeedsKey { provider, .. }) => {
            Err(CommandFailure::usage(format!("there is no key for {provider}"))
                .hint(format!("`relay keys set {provider}` stores one")))
        }
        _ => Ok(false),
    }
}

fn print_model(conversation: &Conversation<'_>, ctx: &mut CommandContext<'_>) {
    let model = &conversation.open.models.first;
    ctx.print_success(&format!("{}, thinking {}", model.model.selector(), model.thinking.name()));
}
