//! Claude Code: a witness for Anthropic Messages. Its native build needs no node.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Agent, Scratch};
use crate::model::Turn;

pub(super) struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn package(&self) -> &'static str {
        "@anthropic-ai/claude-code-linux-x64"
    }

    fn version(&self) -> &'static str {
        "2.1.325"
    }

    fn program(&self) -> &'static str {
        "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    }

    fn command(&self, program: &Path, scratch: &Scratch, url: &str) -> Command {
        let mut command = scratch.command(program);
        command.args([
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--no-session-persistence",
            "--safe-mode",
        ]);
        // One tool is all that is needed; to skip every permission is refused to root.
        command.args(["--tools", "Bash", "--allowedTools", "Bash"]);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "scripted");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("CLAUDE_CODE_MAX_RETRIES", "3");
        command
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1");
        command
    }

    fn shell(&self, turn: Turn, command: &str) -> Turn {
        turn.tool("Bash", json!({"command": command, "description": "Look"}))
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        let result = events.iter().rfind(|event| event["type"] == "result")?;
        // A failed run is called a success of another kind: only this says which.
        (result["is_error"] == false).then(|| result["result"].as_str().unwrap_or_default().to_owned())
    }

    fn thought(&self, events: &[Value]) -> Option<String> {
        let blocks = events.iter().filter_map(|event| event["message"]["content"].as_array()).flatten();
        let mut thoughts = blocks.filter(|block| block["type"] == "thinking");
        thoughts.next().and_then(|block| block["thinking"].as_str()).map(str::to_owned)
    }
}
