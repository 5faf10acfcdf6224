//! Gemini CLI. It is spoken to by the Agent Client Protocol; one run without it is the other way.
//!
//! What holds it (each tested with the real one):
//! - a home of its own beside relay's files ([`home`]): none of the user's extensions, servers, hooks, rules and
//!   memories; the user's way to sign in and credentials are lent to it;
//! - the project is not trusted: its `.gemini/settings.json`, its `.env` and its context files are not read;
//! - rules of ours ([`home`]): the tools that look are allowed, those that write or run ask relay, every other
//!   tool is gone. Files are written by relay, beneath the directory of the turn or not at all;
//! - its mode is `default`, and it has to say so.

mod home;
mod memories;

use std::ffi::OsString;
use std::path::Path;

use relaycode_clients::acp::Capabilities;
use relaycode_exec::Job;
use serde_json::Value;

use crate::answer::{Answer, Usage};
use crate::by_acp::{self, Line, Recipe};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Friend, Presence};
use crate::program::{self, Known};
use crate::turn::{Memory, Turn};
use crate::version::Version;
use crate::world::World;
use home::Home;

/// The friend.
pub(super) static GEMINI: Gemini = Gemini;

/// Gemini CLI.
pub(super) struct Gemini;

const NAME: &str = "gemini";

const KNOWN: Known = Known {
    name: NAME,
    oldest: Version::new(0, 61, 0),
    install: "install it with `npm install -g @google/gemini-cli`",
    sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
};

/// Its words when a path leads out of the directory that it works in.
const DENIALS: &[&str] = &["Path not in workspace"];

impl Friend for Gemini {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> Abilities {
        by_acp::ABILITIES
    }

    fn look(&self, world: &World<'_>) -> Presence {
        let Some(found) = program::find(world, NAME) else { return KNOWN.absent() };
        let place = found.display().to_string();
        if program::find(world, "node").is_none() {
            let trouble = Some("it needs node, and there is none in PATH".to_string());
            return Presence { found: Some(place), trouble, ..Presence::default() };
        }
        // To say it by itself takes it a second.
        let written = home::version_beside(&found).and_then(|version| Version::read(&version));
        let version = written.map_or_else(|| program::version(world, found.into(), world.environment()), Ok);
        KNOWN.there(place, version, || Some(home::sign_in(world).is_some()))
    }

    fn at_hand(&self, world: &World<'_>) -> Result<(), Failure> {
        program::needed(world, NAME, NAME, KNOWN.install).map(|_| ())
    }

    fn turn(&self, turn: &Turn, world: &World<'_>, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        let prompt = by_acp::prompt_of(turn, &KNOWN)?;
        let found = program::needed(world, NAME, NAME, KNOWN.install)?;
        program::needed(world, NAME, "node", "install node 20 or later")?;
        let home = Home::settle(world)?;
        if let Memory::Resume(id) = &turn.memory
            && by_acp::is_an_id(id)
        {
            keep(&home, id)?;
        }
        let recipe = Recipe {
            known: &KNOWN,
            job: job(&found, &home, turn, world, &["--acp"]),
            // It reads by itself what it may read. A file that is not there yet it would take for broken if
            // relay were to answer that.
            can: Capabilities { read: false, write: true },
            mode: "default",
            directory: turn.directory.clone(),
            prompt: as_prompt(prompt),
            denials: DENIALS,
        };
        let once = || job(&found, &home, turn, world, &["--output-format", "stream-json"]);
        let answer = by_acp::either_way(&recipe, once, &read, turn, world, hear)?;
        if let Some(id) = &answer.session {
            keep(&home, id)?;
        }
        Ok(answer)
    }
}

/// Sees to it that a session can be taken up.
fn keep(home: &Home, id: &str) -> Result<(), Failure> {
    memories::keep(&home.memories(), id)
        .map_err(|error| KNOWN.failed(format!("its session {id} cannot be kept: {error}")))
}

fn job(program: &Path, home: &Home, turn: &Turn, world: &World<'_>, more: &[&str]) -> Job {
    let mut words: Vec<OsString> = vec![program.into()];
    words.extend(more.iter().map(OsString::from));
    words.extend(
        ["--approval-mode", "default", "-e", "none", "--allowed-mcp-server-names", "none"].map(Into::into),
    );
    words.extend(["--policy".into(), home.rules(turn.access).into_os_string()]);
    if let Some(model) = &turn.model {
        // In one word: a model may be called what looks like an option.
        words.push(format!("--model={model}").into());
    }
    let mut job = Job::argv(words, &turn.directory);
    job.environment = world.environment();
    job.environment.set.extend(home.environment());
    job.environment.remove.extend(home::UNWANTED.iter().map(OsString::from));
    job.environment.remove_prefixes.push("GEMINI_CLI_IDE_".to_string());
    job
}

/// What begins with a slash or a dollar sign would be taken for a command of Gemini's own.
fn as_prompt(prompt: &str) -> String {
    if prompt.trim_start().starts_with(['/', '$']) {
        format!("Request:\n{prompt}")
    } else {
        prompt.to_string()
    }
}

/// An event of `--output-format stream-json`.
fn read(event: &Value) -> Line {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    match event["type"].as_str().unwrap_or_default() {
        "init" => Line::Model(text(&event["model"])),
        "message" if event["role"] == "assistant" => Line::Text(text(&event["content"])),
        "tool_use" => Line::Tool(text(&event["tool_name"])),
        "result" if event["status"] == "success" => {
            let count = |name: &str| event["stats"][name].as_u64();
            let usage = count("input_tokens").zip(count("output_tokens"));
            Line::Done(usage.map(|(input, output)| Usage { input, output }))
        }
        "result" => Line::Failed(text(&event["error"]["message"])),
        _ => Line::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_never_a_command_of_geminis_own() {
        for command in ["/memory show", "  /init", "$x"] {
            assert!(as_prompt(command).starts_with("Request:\n"));
        }
        assert_eq!(as_prompt("Look at /etc"), "Look at /etc");
    }
}
