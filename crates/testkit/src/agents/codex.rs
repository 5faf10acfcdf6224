//! Codex: a witness for OpenAI Responses. Runs the native program, not its node wrapper, which would be
//! orphaned by a kill.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{RealAgent, put};
use crate::model::ScriptedTurn;

pub(super) struct Codex;

impl RealAgent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn package(&self) -> &'static str {
        "@openai/codex"
    }

    fn version(&self) -> &'static str {
        "0.166.0"
    }

    fn program(&self) -> &'static str {
        "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
    }

    fn write_settings(&self, home: &Path, url: &str) -> io::Result<Vec<(&'static str, String)>> {
        // A model's name from its catalogue: others get fewer tools. Plugins would be looked for on the
        // internet.
        let settings = format!(
            r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 3
stream_max_retries = 3
"#
        );
        put(home, ".codex/config.toml", &settings)?;
        Ok(vec![("SCRIPTED_KEY", "scripted".to_owned())])
    }

    fn arguments(&self) -> &'static [&'static str] {
        // Its sandbox needs rights that a test machine may not give; the commands are ours.
        &["exec", "--json", "--ephemeral", "--skip-git-repo-check", "-s", "danger-full-access", "-"]
    }

    fn shell_call_turn(&self, turn: ScriptedTurn, command: &str) -> ScriptedTurn {
        turn.tool("exec_command", json!({"cmd": command}))
    }

    fn write_file_turn(&self, turn: ScriptedTurn, path: &str, content: &str) -> ScriptedTurn {
        patches(turn, &format!("*** Add File: {path}\n{}", marked('+', content)))
    }

    fn replace_turns(&self, turn: ScriptedTurn, path: &str, before: &str, after: &str) -> Vec<ScriptedTurn> {
        let (before, after) = (marked('-', before), marked('+', after));
        vec![patches(turn, &format!("*** Update File: {path}\n@@\n{before}{after}"))]
    }

    fn answer(&self, events: &[Value]) -> Option<String> {
        events.iter().rfind(|event| event["type"] == "turn.completed")?;
        last_item(events, "agent_message")
    }

    fn thought(&self, events: &[Value]) -> Option<String> {
        last_item(events, "reasoning")
    }
}

/// The text of the last item of a kind.
fn last_item(events: &[Value], kind: &str) -> Option<String> {
    let item = events.iter().rfind(|event| event["item"]["type"] == kind)?;
    item["item"]["text"].as_str().map(str::to_owned)
}

/// A call of the tool that takes a patch as plain text.
fn patches(turn: ScriptedTurn, body: &str) -> ScriptedTurn {
    turn.custom_tool("apply_patch", &format!("*** Begin Patch\n{body}*** End Patch"))
}

/// Each line with a mark before it.
fn marked(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}
