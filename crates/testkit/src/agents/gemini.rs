//! Gemini: a witness for Google's Generative AI. It is a program for node.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{Agent, Lack, put};
use crate::model::Turn;

pub(super) struct Gemini;

impl Agent for Gemini {
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

    fn settle(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        let settings = json!({
            // Without it the address of another server selects a way to sign in that it then refuses.
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            // Without a name it asks another model first which one to take.
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
        // In a folder that is not trusted it does not run at all.
        &["--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"]
    }

    fn runs(&self, turn: Turn, command: &str) -> Turn {
        // It refuses commands with `$(…)`, backquotes and `<(…)`, whatever is allowed.
        turn.tool("run_shell_command", json!({"command": command, "description": "Look"}))
    }

    fn writes_file(&self, turn: Turn, path: &str, content: &str) -> Turn {
        turn.tool("write_file", json!({"file_path": path, "content": content}))
    }

    fn replaces(&self, turn: Turn, path: &str, before: &str, after: &str) -> Vec<Turn> {
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

    fn lacks(&self) -> &'static [Lack] {
        &[Lack::PrintsThoughts, Lack::ReturnsThoughts, Lack::AsksAgainAfterCut]
    }
}
