//! Claude Code, by its control protocol over standard streams. Every version from the oldest that is used speaks it;
//! `claude -p` alone is no second way, because nobody is asked there and its tools are known only after it has the prompt.
//!
//! A turn is one process. It keeps the user's sign-in, provider and model (their own settings are read, those of
//! the project are not: they can name programs to run). It does without everything else that is customised:
//! CLAUDE.md, hooks, tool servers, plugins, skills, agents, slash commands, files that a prompt mentions by `@`.
//! What an administrator's policy demands still happens: claude lets nobody switch that off.
//!
//! Invariants: claude asks relay before it uses a tool, whatever the user's rules allow; it hears the prompt only
//! after it has said which tools it has, and that they are the ones it was given.

mod conversation;

mod error;
mod events;
mod permissions;
mod places;

mod recipe;

use std::ffi::OsString;
use std::path::Path;

use relaycode_exec::JobEnvironment;
use relaycode_project::fence::AgentPlaces;
use serde_json::Value;

use crate::driver::{FriendProgram, FriendVersion, ProgramProfile, program};
use crate::{Friend, FriendAbilities, FriendContext, FriendProbeReport, FriendTurn, TurnResult};

const NAME: &str = "claude";

const PROFILE: ProgramProfile = ProgramProfile {
    name: NAME,
    oldest: FriendVersion::new(2, 1, 197),
    install: "install it with `npm install -g @anthropic-ai/claude-code`",
    sign_in: "run `claude auth login`, or set ANTHROPIC_API_KEY",
};

/// The friend `claude`.
#[derive(Debug)]
pub struct Claude {
    program: FriendProgram,
}

impl Claude {
    pub const IN_PATH: Claude = Claude { program: FriendProgram::in_path(NAME) };

    pub fn at(program: &Path) -> Claude {
        Claude { program: FriendProgram::with_path(NAME, program) }
    }

    /// By its own status, which looks at keys in the environment, at its credentials and at the user's settings.
    /// Whether a key is right, only the provider knows. No browser is opened, and no model asked.
    fn signed_in(&self, world: &FriendContext<'_>) -> Option<bool> {
        let words = [self.program.argv0(), "auth".into(), "status".into(), "--json".into()];
        let finished = program::run_program(world, words, environment(world)).ok()?;
        let status: Value = serde_json::from_slice(&finished.stdout.head).ok()?;
        status["loggedIn"].as_bool()
    }
}

impl Friend for Claude {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities { schema: true, ..FriendAbilities::PROGRAM }
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        let Some(found) = self.program.find(world) else { return PROFILE.missing_report() };
        let version = program::program_version(world, self.program.argv0(), environment(world));
        PROFILE.installed_report(found.display().to_string(), version, || self.signed_in(world))
    }

    fn check_installed(&self, world: &FriendContext<'_>) -> TurnResult<()> {
        self.program.require(world, PROFILE.install)
    }

    fn agent_places(&self, world: &FriendContext<'_>) -> AgentPlaces {
        places::agent_places(world)
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let recipe = recipe::ClaudeRecipe::new(prompt, turn.request)?;
        conversation::converse(self, &recipe, turn)
    }
}

/// What makes claude believe that it is part of another session, or that somebody else steers it. Where its
/// settings are, its keys and its provider are not among them.
const INSIDE_CLAUDE: &[&str] = &[
    "CLAUDE_CODE_AGENT",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_REMOTE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_TASK_LIST_ID",
    "CLAUDE_PROJECT_DIR",
];

/// What is switched on. The last four keep it to the prompt as it was given: no file that the prompt mentions
/// by `@` is read unasked, nothing goes on in the background, nothing is remembered on its own account.
const QUIET: &[&str] = &[
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
];

/// How often claude tries again when its server fails; without it, for minutes. The user's own number stays.
const RETRIES: (&str, &str) = ("CLAUDE_CODE_MAX_RETRIES", "3");

/// What claude's environment has that relay's has not, and the other way round.
fn environment(world: &FriendContext<'_>) -> JobEnvironment {
    let mut environment = world.child_environment();
    environment.remove.extend(INSIDE_CLAUDE.iter().map(OsString::from));
    let set = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    environment.set.extend(QUIET.iter().map(|name| set(name, "1")));
    if (world.env_var)(RETRIES.0).is_none() {
        environment.set.push(set(RETRIES.0, RETRIES.1));
    }
    environment
}
