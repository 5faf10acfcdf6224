//! What is offered while something is typed: files after `@`, commands after `/`.

use relaycode_llm::request::ThinkingLevel;
use relaycode_tui::completion::{CompletionCommand, CompletionOutcome, CompletionValue};
use relaycode_tui::editor::EditorOutcome;
use relaycode_tui::input::KeyPress;

use super::LiveSurface;
use crate::CommandContext;
use crate::agent::slash::ALL;
use crate::agent::slash::own_prompts::find_prompt_files;

const ACCESS_LEVELS: [&str; 4] = ["read-only", "ask", "workspace", "full"];

impl LiveSurface<'_> {
    /// Commands of relay's, and prompts of the user's own and of the project.
    pub(super) fn offer_commands(&mut self, ctx: &CommandContext<'_>) {
        let command = |name: &str, arguments: &str, help: &str| CompletionCommand {
            name: name.to_string(),
            arguments: arguments.to_string(),
            help: help.to_string(),
            values: values_of(name),
        };
        let own = find_prompt_files(ctx.home.path.as_deref(), &self.root);
        let known = ALL.iter().map(|known| command(known.name(), known.arguments(), known.help()));
        let prompts = own.iter().map(|file| {
            let whose = if file.is_users { "a prompt of yours" } else { "a prompt of this project" };
            command(&file.name, "[WORDS]", whose)
        });
        self.completion.set_commands(known.chain(prompts).collect());
    }

    /// A key for the list, if one is open.
    pub(super) fn press_completion(&mut self, key: KeyPress) -> Option<EditorOutcome> {
        match self.completion.handle_key(key, &self.keymap, &mut self.editor) {
            CompletionOutcome::Ignored => None,
            CompletionOutcome::Accepted(outcome) => Some(outcome),
            CompletionOutcome::Moved | CompletionOutcome::Closed => Some(EditorOutcome::Ignored),
        }
    }

    pub(super) fn update_completion(&mut self) {
        if self.editor.text().contains('@') && !self.root.as_os_str().is_empty() {
            self.finds.look_for_files(&self.root);
        }
        self.completion.refresh(&self.editor);
    }
}

fn values_of(command: &str) -> Vec<CompletionValue> {
    let value = |value: &str| CompletionValue { value: value.to_string(), help: String::new() };
    match command {
        "access" => ACCESS_LEVELS.iter().map(|level| value(level)).collect(),
        "thinking" => ThinkingLevel::ALL.iter().map(|level| value(level.name())).collect(),
        _ => Vec::new(),
    }
}
