//! What can be typed in a conversation beside words for the model: one type per command, one list.
//!
//! A command prints as `relay COMMAND` does; where it lets the agent work, the conversation shows that.

mod access;
mod bug_report;
mod change_steps;
mod context_commands;
mod copy_text;
mod goal;
mod help;
mod jobs;
mod look;
mod model;
pub(crate) mod own_prompts;
mod plan;
mod quit;
mod relay_commands;
mod session_diff;
mod session_moves;
mod status;
mod tree;

use relaycode_tui::TypedWords;

use super::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult};

/// A command of the conversation.
pub(crate) trait SlashCommand: Sync {
    /// Without its slash.
    fn name(&self) -> &'static str;

    /// What else it is called; not listed.
    fn other_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// For example `[WORDS]`.
    fn arguments(&self) -> &'static str {
        ""
    }

    /// What it does, in half a line.
    fn help(&self) -> &'static str;

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep>;
}

/// In the order in which they are listed.
pub(crate) const ALL: &[&dyn SlashCommand] = &[
    &help::HelpCommand,
    &change_steps::UndoCommand,
    &change_steps::RedoCommand,
    &model::ModelCommand,
    &model::ThinkingCommand,
    &access::AccessCommand,
    &plan::PlanCommand,
    &goal::GoalCommand,
    &jobs::TodoCommand,
    &jobs::JobsCommand,
    &context_commands::CompactCommand,
    &context_commands::ContextCommand,
    &context_commands::HandoffCommand,
    &tree::TreeCommand,
    &tree::LabelCommand,
    &session_moves::NewCommand,
    &session_moves::ResumeCommand,
    &session_moves::BranchCommand,
    &session_moves::ForkCommand,
    &session_moves::RenameCommand,
    &session_diff::DiffCommand,
    &look::LogCommand,
    &relay_commands::SHOW,
    &relay_commands::COMMIT,
    &relay_commands::REVIEW,
    &copy_text::CopyCommand,
    &copy_text::DumpCommand,
    &relay_commands::EXPORT,
    &status::StatusCommand,
    &status::CostCommand,
    &relay_commands::STATS,
    &relay_commands::PERMISSIONS,
    &look::SettingsCommand,
    &look::ThemeCommand,
    &look::KeysCommand,
    &own_prompts::InitCommand,
    &bug_report::BugCommand,
    &relay_commands::DOCTOR,
    &quit::QuitCommand,
];

/// A command as it was typed.
pub(crate) struct SlashCall<'a> {
    /// The whole line.
    pub(crate) words: &'a TypedWords,
    pub(crate) name: &'a str,
    /// What stands behind the name, trimmed.
    pub(crate) rest: &'a str,
}

impl SlashCall<'_> {
    /// A line that begins with a slash and a name. A blank in front makes it something that is said; a path is no command.
    pub(crate) fn parse(words: &TypedWords) -> Option<SlashCall<'_>> {
        let (word, rest) = words.text().split_once(char::is_whitespace).unwrap_or((words.text(), ""));
        let name = word.strip_prefix('/').filter(|name| !name.is_empty() && !name.contains('/'))?;
        Some(SlashCall { words, name, rest: rest.trim() })
    }
}

pub(crate) fn run(
    call: &SlashCall<'_>,
    conversation: &mut Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<ConversationStep> {
    let is_called = |command: &&&dyn SlashCommand| {
        command.name() == call.name || command.other_names().contains(&call.name)
    };
    if let Some(command) = ALL.iter().find(is_called) {
        return command.run(call, conversation, ctx);
    }
    let root = conversation.open.agent.workspace().root().to_path_buf();
    let own = own_prompts::find_prompt_files(ctx.home.path.as_deref(), &root);
    match own.into_iter().find(|file| file.name == call.name) {
        Some(file) => file.run(call, conversation, ctx),
        None => Err(CommandFailure::usage(format!("there is no command `/{}`", call.name))
            .hint("`/help` lists them; begin with a blank or another word to say it to the model")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_command_has_a_name_of_its_own_and_a_help_that_fits_a_line() {
        let mut names = HashSet::new();
        for command in ALL {
            for name in command.other_names().iter().chain([&command.name()]) {
                assert!(names.insert(*name), "{name} twice");
            }
            assert!(command.help().len() <= 100, "{}: {}", command.name(), command.help());
        }
    }
}
