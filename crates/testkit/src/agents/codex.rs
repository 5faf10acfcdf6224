//! Codex: a witness for OpenAI Responses. The native program is run, not its node wrapper, which a kill would leave an
//! orphan of.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Agent, Scratch};
use crate::model::Turn;

pub(super) struct Codex;

impl Agent for Codex {
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

    fn command(&self, program: &Path, scratch: &Scratch, url: &str) -> Command {
        let provider = format!(
            "model_providers.scripted={{name=\"scripted\",base_url=\"{url}/v1\",wire_api=\"responses\",\
             env_key=\"SCRIPTED_KEY\",request_max_retries=3,stream_max_retries=3}}"
        );
        let mut command = scratch.command(program);
        command.args(["exec", "--json", "--ephemeral", "--ignore-user-config", "--skip-git-repo-check"]);
        // Its sandbox needs rights that a machine for tests may not give; the commands are ours.
        command.args(["-s", "danger-full-access", "-C"]).arg(scratch.project());
        // A name from its catalogue: others get fewer tools.
        command.args(["-c", "model=\"gpt-5.5\"", "-c", "model_provider=\"scripted\"", "-c", &provider]);
        command.args(["-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-"]);
        command.env("CODEX_HOME", scratch.home()).env("SCRIPTED_KEY", "scripted");
        command
    }

    fn shell(&self, turn: Turn, command: &str) -> Turn {
        turn.tool("exec_command", json!({"cmd": command}))
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
