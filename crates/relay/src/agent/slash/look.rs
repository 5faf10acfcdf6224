//! `/log`, `/settings`, `/theme` and `/keys`: views that cover the terminal; line by line they are printed.

use relaycode_ledger::LogFilter;
use relaycode_project::config::{self, ConfigEditError};
use relaycode_tui::help_view::{HelpRow, HelpSection, HelpView};
use relaycode_tui::keymap::{KEY_ACTIONS, KeyContext};
use relaycode_tui::settings_view::{SettingsOutcome, SettingsView, ThemeOutcome, ThemePicker};
use relaycode_tui::theme::ThemeStore;
use serde_json::{Value, json};

use super::relay_commands::split_words;
use super::{ALL, SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::commands::run_line;
use crate::screens::log_screen::browse_log;
use crate::{CommandContext, CommandFailure, CommandResult, Project};

pub(super) struct LogCommand;
pub(super) struct SettingsCommand;
pub(super) struct ThemeCommand;
pub(super) struct KeysCommand;

impl SlashCommand for LogCommand {
    fn name(&self) -> &'static str {
        "log"
    }

    fn arguments(&self) -> &'static str {
        "[OPTIONS]"
    }

    fn help(&self) -> &'static str {
        "walk through what was done to the project; with options as `relay log`"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let has_screen = conversation.surface.view_style().is_some();
        if call.rest.is_empty() && has_screen {
            let ledger = &conversation.open.agent.workspace().door.ledger;
            browse_log(ledger, &LogFilter::default(), ctx)?;
            return Ok(ConversationStep::GoOn);
        }
        let words: Vec<String> = ["log".to_string()].into_iter().chain(split_words(call.rest)).collect();
        run_line(&words, ctx)?;
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for SettingsCommand {
    fn name(&self) -> &'static str {
        "settings"
    }

    fn arguments(&self) -> &'static str {
        "[WORDS]"
    }

    fn help(&self) -> &'static str {
        "look at settings and change your own"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let Some(mut views) = conversation.open_views()? else {
            run_line(&["config".to_string(), "show".to_string()], ctx)?;
            return Ok(ConversationStep::GoOn);
        };
        let mut settings = SettingsView::new(Project::open(ctx)?.config()?);
        settings.search(call.rest);
        loop {
            let set = match views.show(&mut settings) {
                None | Some(SettingsOutcome::Closed | SettingsOutcome::Quit) => break,
                Some(SettingsOutcome::Set { key, value }) => set(key, Some(&value), ctx),
                Some(SettingsOutcome::Reset { key }) => set(key, None, ctx),
                Some(SettingsOutcome::Ignored | SettingsOutcome::Changed) => continue,
            };
            let project = Project::open(ctx)?;
            let loaded = project.config()?;
            settings.reload(loaded);
            conversation.surface.set_look(&loaded.config.terminal);
            if let Some(style) = conversation.surface.view_style() {
                views.style = style;
            }
            if let Err(error) = set {
                settings.refuse(&error.to_string());
            }
        }
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for ThemeCommand {
    fn name(&self) -> &'static str {
        "theme"
    }

    fn arguments(&self) -> &'static str {
        "[NAME]"
    }

    fn help(&self) -> &'static str {
        "the colours of the conversation"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let config = Project::open(ctx)?.config()?.config.terminal.clone();
        let key = conversation.surface.theme_setting();
        let current = if key == "theme.light" { config.light_theme } else { config.dark_theme };
        let name = match call.rest {
            "" => pick_theme(&current, conversation, ctx)?,
            name => Some(name.to_string()),
        };
        if let Some(name) = name {
            let store = ThemeStore::new(ctx.home.path.as_ref().map(|home| home.join("themes")));
            store.load(&name).map_err(|error| CommandFailure::usage(error.to_string()).unchanged())?;
            set(key, Some(&json!(name)), ctx).map_err(CommandFailure::usage)?;
            conversation.surface.set_look(&Project::open(ctx)?.config()?.config.terminal);
            ctx.print_success(&format!("{key}: {name}"));
        }
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for KeysCommand {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn help(&self) -> &'static str {
        "what the keys do; `keybindings.json` in your directory of relay changes them"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let Some(keymap) = conversation.surface.keymap() else {
            ctx.print_info(&format!("  {}\n", conversation.surface.keys_sentence()));
            return Ok(ConversationStep::GoOn);
        };
        let row = |entry: &relaycode_tui::keymap::KeyActionEntry| {
            let keys: Vec<String> = keymap.chords(entry.action).iter().map(ToString::to_string).collect();
            HelpRow::new(keys.join(", "), entry.text)
        };
        let mut sections: Vec<HelpSection> = KeyContext::ALL
            .iter()
            .map(|context| HelpSection {
                title: context.title().to_string(),
                rows: KEY_ACTIONS.iter().filter(|entry| entry.context == *context).map(row).collect(),
            })
            .collect();
        let command = |command: &&dyn SlashCommand| {
            HelpRow::new(format!("/{} {}", command.name(), command.arguments()), command.help())
        };
        sections.push(HelpSection { title: "Commands".to_string(), rows: ALL.iter().map(command).collect() });
        if let Some(mut views) = conversation.open_views()? {
            views.show(&mut HelpView::new(sections));
        }
        Ok(ConversationStep::GoOn)
    }
}

fn pick_theme(
    current: &str,
    conversation: &mut Conversation<'_>,
    ctx: &CommandContext<'_>,
) -> CommandResult<Option<String>> {
    let Some(mut views) = conversation.open_views()? else {
        return Err(CommandFailure::usage("which theme?").hint("`/theme NAME`"));
    };
    let store = ThemeStore::new(ctx.home.path.as_ref().map(|home| home.join("themes")));
    let themes = store.available().into_iter().map(|name| (name, String::new())).collect();
    let mut picker = ThemePicker::new(themes, current);
    loop {
        match views.show(&mut picker) {
            Some(ThemeOutcome::Preview(name)) => conversation.surface.preview_theme(Some(&name)),
            Some(ThemeOutcome::Confirm(name)) => {
                conversation.surface.preview_theme(None);
                return Ok(Some(name));
            }
            None | Some(ThemeOutcome::Cancel(_)) => {
                conversation.surface.preview_theme(None);
                return Ok(None);
            }
            Some(ThemeOutcome::Ignored | ThemeOutcome::Changed) => {}
        }
        if let Some(style) = conversation.surface.view_style() {
            views.style = style;
        }
    }
}

fn set(key: &str, value: Option<&Value>, ctx: &CommandContext<'_>) -> Result<(), ConfigEditError> {
    config::set_user_key(ctx.home.path.as_deref(), key, value)
}
