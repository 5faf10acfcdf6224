//! relay's conversation in a terminal of this process, in a project with a model that follows a script.

use std::fs;
use std::process::Command;
use std::time::Duration;

use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::screen::{TestScreen, on_terminal};

use crate::agent::AgentStage;
use crate::startup::beside_this_one;
use relaycode_testkit::checkout;

/// Far more than anything that goes well takes.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
pub(super) const COLUMNS: u16 = 120;
pub(super) const ROWS: u16 = 36;
/// What the editor begins with.
pub(super) const PROMPT_SIGN: &str = "›";

pub(super) struct TerminalStage {
    pub(super) agent: AgentStage,
}

impl TerminalStage {
    pub(super) fn new() -> anyhow::Result<TerminalStage> {
        let agent = AgentStage::new()?;
        fs::write(agent.project().join("a.txt"), "one\ntwo\n")?;
        Ok(TerminalStage { agent })
    }

    pub(super) fn start(&self, words: &[&str]) -> anyhow::Result<TestScreen> {
        Ok(TestScreen::start(self.command(words)?, COLUMNS, ROWS))
    }

    fn command(&self, words: &[&str]) -> anyhow::Result<Command> {
        let mut command = on_terminal(beside_this_one()?);
        command
            .env("RELAY_CEILING_DIRECTORIES", checkout::root())
            .env("RELAY_HOME", self.agent.home())
            .env("HOME", self.agent.user())
            .env("LANG", "C.UTF-8")
            .env("COLORTERM", "truecolor")
            .args(["-C", &self.agent.project().to_string_lossy(), "run", "--access", "workspace"])
            .args(words);
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "NO_COLOR"] {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// Waits for the editor.
    pub(super) fn wait_ready(screen: &TestScreen) {
        screen.wait_for(|screen| screen.text().contains(PROMPT_SIGN), LIMIT);
    }

    pub(super) fn says(&self, turn: ScriptedTurn) {
        self.agent.says([turn]);
    }
}

pub(super) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
