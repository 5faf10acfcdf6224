//! Gemini: a witness for Google's Generative AI. It runs on node.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{MissingFeature, RealAgent, put};
use crate::model::ScriptedTurn;

pub(super) struct Gemini;

impl RealAgent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn package(&self) -> &'static str {
        "@google/gemini-cli"
    }

    fn version(&self) -> &'static str {
        "0.61.0"
    }

    fn program(&self) -> &'static str {
        "node_modules/@google/gemini-cli/bundle/gemini.js"
    }

    fn needs(&self) -> Option<&'static str> {
        Some("node")
    }

    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        let settings = json!({
            // Without it the address of another server selects a sign-in method that it then refuses.
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            // Without a name it asks another model which one to use.
            "model": {"name": "gemini-2.5-flash"},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        put(home, ".gemini/settings.json", &settings.to_string())?;
        let environment = [("GEMINI_API_KEY", "scripted"), ("GOOGLE_GEMINI_BASE_URL", url)];
        Ok(environment.map(|(name, value)| (name, value.to_owned())).to_vec())
    }

    fn arguments(&self) -> &'static [&'static str] {
        // In an untrusted folder it does not run at all.
        &["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"]
    }

    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn {
        // It refuses commands with `$(…)`, backquotes and `<(…)`, whatever is allowed.
        turn.tool("run_shell_command", json!({"command": command, "description": "Look"}))
    }

    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn {
        turn.tool("write_file", json!({"file_path": path, "content": content}))
    }

    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn> {
        let edit = json!({
            "file_path": path, "instruction": "Replace it.", "old_string": before, "new_string": after,
        });
        vec![turn.tool("replace", edit)]
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        let result = events.iter().rfind(|event| event["type"] == "result")?;
        let tool = events.iter().rposition(|event| event["type"] == "tool_result");
        let last = events.get(tool.map_or(0, |place| place + 1)..)?;
        let said = last.iter().filter(|event| event["type"] == "message" && event["role"] == "assistant");
        (result["status"] == "success").then(|| said.filter_map(|event| event["content"].as_str()).collect())
    }

    fn thought(&self, _events: &[Value]) -> Option<String> {
        None
    }

    fn missing_features(&self) -> &'static [MissingFeature] {
        &[MissingFeature::PrintsThoughts, MissingFeature::ReturnsThoughts, MissingFeature::AsksAgainAfterCut]
    }
}
