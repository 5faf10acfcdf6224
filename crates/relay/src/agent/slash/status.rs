//! `/status` and `/cost`: where the conversation stands, and what it has cost.

use relaycode_llm::Message;
use relaycode_text::plural::pluralize;
use relaycode_tools::JobStatus;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::agent::event_printer::short_count;
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct StatusCommand;
pub(super) struct CostCommand;

impl SlashCommand for StatusCommand {
    fn name(&self) -> &'static str {
        "status"
    }

    fn help(&self) -> &'static str {
        "model, access, session and project of this conversation"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let open = &conversation.open;
        let workspace = open.agent.workspace();
        let model = &open.models.first;
        let title = open.agent.with_session(|session| session.header().title.clone());
        let running = workspace.jobs.list().iter().filter(|job| job.status == JobStatus::Running).count();
        let instructions = open.instruction_files.join(", ");
        let rows = [
            ("project", workspace.root().to_string_lossy().into_owned()),
            ("directory", workspace.current_directory().to_string_lossy().into_owned()),
            ("session", open.agent.session_id().to_string()),
            ("title", title.unwrap_or_default()),
            ("model", format!("{}, thinking {}", model.model.selector(), model.thinking.name())),
            ("access", workspace.access.to_string()),
            ("mode", open.agent.mode().unwrap_or("none").to_string()),
            ("reads", instructions),
            ("background", if running > 0 { pluralize(running, "command") } else { String::new() }),
        ];
        let look = ctx.console.out_style();
        let lines = rows.iter().filter(|(_, value)| !value.is_empty());
        let text: String = lines.map(|(name, value)| format!("  {name:<12}{}\n", look.safe(value))).collect();
        ctx.print_info(&text);
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for CostCommand {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn help(&self) -> &'static str {
        "what this conversation has cost so far"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let context = conversation.open.agent.with_session(|session| session.context());
        let messages = context.map_err(CommandFailure::unexpected)?.to_model_messages();
        let (mut answers, mut cost, mut input, mut cached, mut output) = (0, 0.0, 0, 0, 0);
        for message in &messages {
            if let Message::Assistant(answer) = message {
                answers += 1;
                cost += answer.usage.cost.total;
                input += answer.usage.input + answer.usage.cache_write;
                cached += answer.usage.cache_read;
                output += answer.usage.output;
            }
        }
        ctx.print_info(&format!(
            "  {}: {} tokens read, {} of them from a cache, {} written; ${cost:.2}\n  `/stats` counts all conversations\n",
            pluralize(answers, "answer"),
            short_count(input + cached),
            short_count(cached),
            short_count(output),
        ));
        Ok(ConversationStep::GoOn)
    }
}
