//! Gemini CLI, by the Agent Client Protocol.
//!
//! What holds it (each tested with the real one):
//! - a home of its own beside relay's files ([`home`]): none of the user's extensions, servers, hooks, rules and
//!   memories; the user's way to sign in and credentials are lent to it;
//! - the project is not trusted: its `.gemini/settings.json`, its `.env` and its context files are not read;
//! - rules of ours ([`home`]): the tools that look are allowed, those that write or run ask relay, every other
//!   tool is gone. Files are written by relay, beneath the directory of the turn or not at all;
//! - its mode is `default`, and it has to say so.

mod home;
mod sessions;

use std::ffi::OsString;
use std::path::Path;

use relaycode_clients::acp::AcpClientCapabilities;
use relaycode_exec::Job;
use relaycode_project::fence::AgentPlaces;

use crate::driver::acp::AcpRecipe;
use crate::driver::{FriendVersion, ProgramProfile, acp, program};
use crate::{Friend, FriendAbilities, FriendContext, FriendProbeReport, FriendTurn, TurnMemory, TurnResult};
use home::GeminiHome;

pub(super) static GEMINI: Gemini = Gemini;

pub(super) struct Gemini;

const NAME: &str = "gemini";

const PROFILE: ProgramProfile = ProgramProfile {
    name: NAME,
    oldest: FriendVersion::new(0, 61, 0),
    install: "install it with `npm install -g @google/gemini-cli`",
    sign_in: "run `gemini` once and sign in, or set GEMINI_API_KEY",
};

/// Its words when a path leads out of the directory that it works in.
const DENIALS: &[&str] = &["Path not in workspace"];

impl Friend for Gemini {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities::PROGRAM
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        let Some(found) = program::find_program(world, NAME) else { return PROFILE.missing_report() };
        let place = found.display().to_string();
        if program::find_program(world, "node").is_none() {
            let trouble = Some("it needs node, and there is none in PATH".to_string());
            return FriendProbeReport { found: Some(place), trouble, ..FriendProbeReport::default() };
        }
        // To say it by itself takes it a second.
        let written = home::package_version(&found).and_then(|version| FriendVersion::parse(&version));
        let version = written
            .map_or_else(|| program::program_version(world, found.into(), world.child_environment()), Ok);
        PROFILE.installed_report(place, version, || Some(home::sign_in_method(world).is_some()))
    }

    fn check_installed(&self, world: &FriendContext<'_>) -> TurnResult<()> {
        program::require_program(world, NAME, NAME, PROFILE.install).map(|_| ())
    }

    fn agent_places(&self, world: &FriendContext<'_>) -> AgentPlaces {
        home::agent_places(world)
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let (request, world) = (turn.request, turn.world);
        acp::check_access(request, &PROFILE)?;
        let found = program::require_program(world, NAME, NAME, PROFILE.install)?;
        program::require_program(world, NAME, "node", "install node 20 or later")?;
        let home = GeminiHome::prepare(world)?;
        if let TurnMemory::Resume(id) = &request.memory
            && acp::is_session_id(id)
        {
            pin_session(&home, id)?;
        }
        let recipe = AcpRecipe {
            profile: &PROFILE,
            job: job(&found, &home, turn),
            // It reads by itself what it may read. A file that is not there yet it would take for broken if
            // relay were to answer that.
            capabilities: AcpClientCapabilities { read: false, write: true },
            mode: "default",
            directory: request.directory.clone(),
            prompt: escape_command(prompt),
            denials: DENIALS,
        };
        let answer = acp::run_over_acp(&recipe, turn)?;
        if let Some(id) = &answer.session {
            pin_session(&home, id)?;
        }
        Ok(answer)
    }
}

fn pin_session(home: &GeminiHome, id: &str) -> TurnResult<()> {
    sessions::pin_session_file(&home.sessions_dir(), id)
        .map_err(|error| PROFILE.failed(format!("its session {id} cannot be kept: {error}")))
}

fn job(program: &Path, home: &GeminiHome, turn: &FriendTurn<'_>) -> Job {
    let (request, world) = (turn.request, turn.world);
    let fixed = "--acp --approval-mode default -e none --allowed-mcp-server-names none";
    let mut words: Vec<OsString> = vec![program.into()];
    words.extend(fixed.split(' ').map(Into::into));
    words.extend(["--policy".into(), home.policy_file(request.access).into_os_string()]);
    if let Some(model) = &request.model {
        // In one word: a model may be called what looks like an option.
        words.push(format!("--model={model}").into());
    }
    let mut job = Job::argv(words, &request.directory);
    job.environment = world.child_environment();
    job.environment.set.extend(home.variables_to_set());
    job.environment.remove.extend(home::REMOVED_VARIABLES.iter().map(OsString::from));
    job.environment.remove_prefixes.push("GEMINI_CLI_IDE_".to_string());
    if let Some(fence) = turn.fence {
        fence.enclose(&mut job);
    }
    job
}

/// What begins with a slash or a dollar sign would be taken for a command of Gemini's own.
fn escape_command(prompt: &str) -> String {
    if prompt.trim_start().starts_with(['/', '$']) {
        format!("Request:\n{prompt}")
    } else {
        prompt.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_never_a_command_of_geminis_own() {
        for command in ["/memory show", "  /init", "$x"] {
            assert!(escape_command(command).starts_with("Request:\n"));
        }
        assert_eq!(escape_command("Look at /etc"), "Look at /etc");
    }
}
