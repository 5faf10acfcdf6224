//! pi: another witness for chat completions, of another library. It runs on node.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{MissingFeature, RealAgent, put};
use crate::model::ScriptedTurn;

pub(super) struct Pi;

impl RealAgent for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn package(&self) -> &'static str {
        "@mariozechner/pi-coding-agent"
    }

    fn version(&self) -> &'static str {
        "0.73.1"
    }

    fn program(&self) -> &'static str {
        "node_modules/@mariozechner/pi-coding-agent/dist/cli.js"
    }

    fn needs(&self) -> Option<&'static str> {
        Some("node")
    }

    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        let model = json!({
            "id": "m1",
            "name": "m1",
            "reasoning": true,
            "input": ["text"],
            "contextWindow": 1_000_000,
            "maxTokens": 8192,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        });
        let provider = json!({
            "baseUrl": format!("{url}/v1"),
            "apiKey": "scripted",
            "api": "openai-completions",
            "models": [model],
        });
        put(home, ".pi/agent/models.json", &json!({"providers": {"scripted": provider}}).to_string())?;
        Ok([("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")]
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec())
    }

    fn arguments(&self) -> &'static [&'static str] {
        &["-p", "--mode", "json", "--no-session", "--provider", "scripted", "--model", "m1"]
    }

    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn {
        turn.tool("bash", json!({"command": command}))
    }

    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn {
        turn.tool("write", json!({"path": path, "content": content}))
    }

    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn> {
        vec![turn.tool("edit", json!({"path": path, "edits": [{"oldText": before, "newText": after}]}))]
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        let message = last_message(events)?;
        (message["stopReason"] == "stop").then(|| part(message, "text", "text")).flatten()
    }

    fn thought(&self, events: &[Value]) -> Option<String> {
        part(last_message(events)?, "thinking", "thinking")
    }

    fn missing_features(&self) -> &'static [MissingFeature] {
        // The wire has no place for them.
        &[MissingFeature::ReturnsSignatures]
    }
}

/// The last whole message of the model.
fn last_message(events: &[Value]) -> Option<&Value> {
    let ended = |event: &&Value| event["type"] == "message_end" && event["message"]["role"] == "assistant";
    Some(&events.iter().rfind(ended)?["message"])
}

/// The text of its last part of a kind.
fn part(message: &Value, kind: &str, field: &str) -> Option<String> {
    let parts = message["content"].as_array()?;
    parts.iter().rfind(|part| part["type"] == kind)?[field].as_str().map(str::to_owned)
}
