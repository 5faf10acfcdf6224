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
mod environment;
mod error;
mod events;
mod permissions;

mod recipe;

use std::path::Path;

use serde_json::Value;

use crate::driver::{FriendProgram, FriendVersion, ProgramProfile, program};
use crate::{Friend, FriendAbilities, FriendContext, FriendProbeReport, FriendTurn, TurnResult};
use environment::environment;

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

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let recipe = recipe::ClaudeRecipe::new(prompt, turn.request)?;
        conversation::converse(self, &recipe, turn)
    }
}
