//! opencode: a witness for chat completions. Runs the native program, not its node wrapper, in the build
//! for any processor.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{MissingFeature, RealAgent, put};
use crate::model::ScriptedTurn;

pub(super) struct Opencode;

impl RealAgent for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn package(&self) -> &'static str {
        "opencode-ai"
    }

    fn version(&self) -> &'static str {
        "1.18.33"
    }

    fn program(&self) -> &'static str {
        "node_modules/opencode-linux-x64-baseline/bin/opencode"
    }

    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        let model =
            json!({"tool_call": true, "reasoning": true, "limit": {"context": 200_000, "output": 8192}});
        let provider = json!({
            // It has its own copy: nothing is downloaded for this name.
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "scripted"},
            "models": {"m1": model},
        });
        let settings = json!({
            "model": "scripted/m1",
            "small_model": "scripted/m1",
            "autoupdate": false,
            "share": "disabled",
            "provider": {"scripted": provider},
        });
        put(home, ".config/opencode/opencode.json", &settings.to_string())?;
        // It installs a package beside its settings at every start, in the background.
        put(home, ".npmrc", "offline=true\n")?;
        let quiet =
            ["OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD"];
        Ok(quiet.map(|name| (name, "1".to_owned())).to_vec())
    }

    fn arguments(&self) -> &'static [&'static str] {
        // Without a title it asks for one.
        &["run", "--format", "json", "--thinking", "--title", "scripted"]
    }

    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn {
        turn.tool("bash", json!({"command": command, "description": "Look"}))
    }

    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn {
        turn.tool("write", json!({"filePath": path, "content": content}))
    }

    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn> {
        vec![turn.tool("edit", json!({"filePath": path, "oldString": before, "newString": after}))]
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        let finish = events.iter().rfind(|event| event["type"] == "step_finish")?;
        (finish["part"]["reason"] == "stop").then(|| last_part(events, "text")).flatten()
    }

    fn thought(&self, events: &[Value]) -> Option<String> {
        last_part(events, "reasoning")
    }

    fn missing_features(&self) -> &'static [MissingFeature] {
        // The wire has no place for them.
        &[MissingFeature::ReturnsSignatures]
    }
}

/// The text of the last part of a kind.
fn last_part(events: &[Value], kind: &str) -> Option<String> {
    let event = events.iter().rfind(|event| event["type"] == kind)?;
    event["part"]["text"].as_str().map(str::to_owned)
}
