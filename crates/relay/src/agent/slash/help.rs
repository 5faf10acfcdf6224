//! `/help`: what can be typed.

use super::own_prompts::find_prompt_files;
use super::{ALL, SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandResult};

/// Cells of a command with its arguments.
const NAME_CELLS: usize = 26;

pub(super) struct HelpCommand;

impl SlashCommand for HelpCommand {
    fn name(&self) -> &'static str {
        "help"
    }

    fn help(&self) -> &'static str {
        "what can be typed here"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let look = ctx.console.out_style();
        let mut text = String::new();
        for command in ALL {
            let name = format!("/{} {}", command.name(), command.arguments());
            let line = format!("  {:<NAME_CELLS$}{}", name.trim_end(), command.help());
            text.push_str(&look.wrap(&line, NAME_CELLS + 2));
            text.push('\n');
        }
        let root = conversation.open.agent.workspace().root();
        for file in find_prompt_files(ctx.home.path.as_deref(), root) {
            let whose = if file.is_users { "a prompt of yours" } else { "a prompt of this project" };
            let name = format!("/{} [WORDS]", file.name);
            text.push_str(&look.wrap(&format!("  {name:<NAME_CELLS$}{whose}"), NAME_CELLS + 2));
            text.push('\n');
        }
        let more = format!(
            "  @FILE, typed as a word of its own, sends a file of the project along. {}",
            conversation.surface.keys_sentence()
        );
        text.push_str(&look.wrap(&more, 2));
        text.push('\n');
        ctx.print_info(&text);
        Ok(ConversationStep::GoOn)
    }
}
