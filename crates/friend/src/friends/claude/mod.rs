//! Claude Code, by its control protocol over standard streams, or by `claude -p` where that does not work.
//!
//! A turn is one process. It keeps the user's sign-in, provider and model (their own settings are read, those of
//! the project are not: they can name programs to run). It does without everything else that is customised:
//! CLAUDE.md, hooks, tool servers, plugins, skills, agents, slash commands, files that a prompt mentions by `@`.
//! What an administrator's policy demands still happens: claude lets nobody switch that off.
//!
//! Invariants: claude asks relay before it uses a tool, whatever the user's rules allow; it hears the prompt only
//! after it has said which tools it has, and that they are the ones it was given. The other way is taken for
//! read-only turns alone, and only while nothing of the prompt was heard.

mod conversation;
mod environment;
mod error;
mod events;
mod permissions;
mod print;
mod probe;
mod recipe;

use std::path::Path;

use relaycode_project::access::Access;

use crate::driver::program::{FriendProgram, ProgramProfile};
use crate::driver::version::FriendVersion;
use crate::friend::answer::FriendAnswer;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::FriendTurn;
use crate::friend::{Friend, FriendAbilities, FriendProbeReport, SessionSupport};
use error::ClaudeAttemptError;

/// What it is called.
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
    /// The one in PATH.
    pub const IN_PATH: Claude = Claude { program: FriendProgram::in_path(NAME) };

    /// The one at this place.
    pub fn at(program: &Path) -> Claude {
        Claude { program: FriendProgram::with_path(NAME, program) }
    }
}

impl Friend for Claude {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities {
            reads_files: true,
            writes_files: true,
            streams: true,
            review: false,
            sessions: SessionSupport::Own,
            schema: true,
            access: recipe::ACCESS,
        }
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        probe::probe_claude(self, world)
    }

    fn check_installed(&self, world: &FriendContext<'_>) -> Result<(), FriendFailure> {
        self.program.require(world, PROFILE.install)
    }

    fn run_turn(
        &self,
        turn: &FriendTurn,
        world: &FriendContext<'_>,
        hear: &mut dyn FnMut(FriendEvent),
    ) -> Result<FriendAnswer, FriendFailure> {
        let recipe = recipe::ClaudeRecipe::new(turn)?;
        let why = match conversation::attempt(self, &recipe, turn, world, hear) {
            Ok(answer) => return Ok(answer),
            Err(ClaudeAttemptError::Fatal(failure)) => return Err(failure),
            Err(ClaudeAttemptError::Fallback(why)) => why,
        };
        // One that is too old fails in ways of its own: better to say what it is.
        PROFILE.check_program(self.program.argv0(), environment::environment(world), turn, world)?;
        if turn.access != Access::ReadOnly {
            // Only the control protocol lets relay see what is written before it is.
            return Err(PROFILE.failed(format!("it does not take relay's questions: {why}")));
        }
        hear(FriendEvent::Fallback(format!(
            "{} does not work ({why}); {} is used",
            conversation::TRANSPORT,
            print::TRANSPORT
        )));
        print::attempt(self, &recipe, turn, world, hear)
    }
}
