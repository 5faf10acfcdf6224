//! Claude Code: a witness for Anthropic Messages. Its native build needs no node.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{RealAgent, put};
use crate::model::ScriptedTurn;

/// The tools that tests need.
const TOOLS: &str = "Bash,Edit,Read,Write";

pub(super) struct Claude;

impl RealAgent for Claude {
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

    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        let quiet = [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
        ];
        let mut environment = vec![("ANTHROPIC_BASE_URL", url.to_owned())];
        environment.extend(quiet.map(|name| (name, "1".to_owned())));
        // In the settings as well: the caller may have removed them from the environment, as those of
        // another claude.
        let settings: Map<String, Value> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        put(home, ".claude/settings.json", &json!({"env": settings}).to_string())?;
        environment.push(("ANTHROPIC_API_KEY", "scripted".to_owned()));
        environment.push(("CLAUDE_CODE_MAX_RETRIES", "3".to_owned()));
        Ok(environment)
    }

    fn arguments(&self) -> &'static [&'static str] {
        // Root may not skip all permissions.
        &[
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--no-session-persistence",
            "--tools",
            TOOLS,
            "--allowedTools",
            TOOLS,
        ]
    }

    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn {
        turn.tool("Bash", json!({"command": command, "description": "Look"}))
    }

    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn {
        turn.tool("Write", json!({"file_path": path, "content": content}))
    }

    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn> {
        // It does not edit what it has not read.
        let edit = json!({"file_path": path, "old_string": before, "new_string": after});
        vec![turn.tool("Read", json!({"file_path": path})), ScriptedTurn::call("Edit", edit)]
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        let result = events.iter().rfind(|event| event["type"] == "result")?;
        // A failed run also reports a success of some kind: only this tells.
        (result["is_error"] == false).then(|| result["result"].as_str().unwrap_or_default().to_owned())
    }

    fn thought(&self, events: &[Value]) -> Option<String> {
        let blocks = events.iter().filter_map(|event| event["message"]["content"].as_array()).flatten();
        let mut thoughts = blocks.filter(|block| block["type"] == "thinking");
        thoughts.next().and_then(|block| block["thinking"].as_str()).map(str::to_owned)
    }
}
