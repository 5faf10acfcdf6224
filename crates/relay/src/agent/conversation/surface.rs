//! Where a conversation is shown: what it needs of a terminal, and no more. Commands and prompts are the same on each.

use std::time::Duration;

use relaycode_llm::request::secrets::Secrets;
use relaycode_project::config::TerminalConfig;
use relaycode_tui::conversation::TurnSummary;
use relaycode_tui::editor::EditorMessage;
use relaycode_tui::keymap::Keymap;
use relaycode_tui::theme::ThemeStyle;

use crate::agent::open_agent::{AgentSurface, AgentWork, OpenAgent};
use crate::{CommandContext, CommandResult, SignalGuard};

/// How people see a conversation and type into it.
pub(crate) trait ConversationSurface {
    /// Who is asked what the agent has to ask.
    fn agent_surface(&self) -> AgentSurface;

    /// A conversation begins, or another one does.
    fn begin(&mut self, open: &OpenAgent, ctx: &mut CommandContext<'_>);

    /// Waits for what the user says next, at most so long.
    fn read(
        &mut self,
        open: &OpenAgent,
        patience: Option<Duration>,
        held: &SignalGuard,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<SurfaceInput>;

    /// Shows what the agent does until it is done. The user can steer and stop it meanwhile.
    fn follow(
        &mut self,
        work: &AgentWork<'_>,
        secrets: Option<&Secrets>,
        held: &SignalGuard,
        ctx: &mut CommandContext<'_>,
    );

    /// Lends the terminal to something that prints there and may ask, or takes it back. Returns whether it was lent.
    fn set_lent(&mut self, is_lent: bool, ctx: &mut CommandContext<'_>) -> bool;

    /// What a command of the user's printed; foreign text.
    fn show_output(&mut self, text: &str, ctx: &mut CommandContext<'_>);

    /// A quiet line below what the agent did; foreign text may be in it.
    fn remark(&mut self, line: &str, ctx: &mut CommandContext<'_>);

    /// What a prompt changed and cost.
    fn summarize(&mut self, summary: &TurnSummary, ctx: &mut CommandContext<'_>);

    /// What the user may want to say again, to be edited first.
    fn offer(&mut self, text: &str, ctx: &mut CommandContext<'_>);

    /// Whether it shows by itself that a run was stopped.
    fn shows_ends(&self) -> bool {
        false
    }

    /// How views that cover the terminal look; `None`: there are none here.
    fn view_style(&self) -> Option<ThemeStyle> {
        None
    }

    /// Settings of the look, from now on.
    fn set_look(&mut self, _config: &TerminalConfig) {}

    /// Shows a theme and keeps nothing; `None` ends that.
    fn preview_theme(&mut self, _name: Option<&str>) {}

    /// The setting that names the theme of this terminal.
    fn theme_setting(&self) -> &'static str {
        "theme.dark"
    }

    /// What each key does.
    fn keymap(&self) -> Option<&Keymap> {
        None
    }

    /// What keys do, as the help says it.
    fn keys_sentence(&self) -> &'static str;

    /// Nothing more will be said.
    fn end(&mut self, ctx: &mut CommandContext<'_>);
}

/// What came of waiting for words.
pub(crate) enum SurfaceInput {
    Said(EditorMessage),
    Leave,
    /// The next access, then planning.
    CycleAccess,
    /// Something in the background has ended.
    JobEnded,
    /// Nobody said anything for as long as was asked for.
    Idle,
}
