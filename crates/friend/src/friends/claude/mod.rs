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
mod hear;
mod judge;
mod look;
mod print;
mod recipe;
mod trouble;

use std::path::Path;

use relaycode_project::access::Access;

use crate::answer::Answer;
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Friend, Presence, Sessions};
use crate::program::{Known, Program};
use crate::turn::Turn;
use crate::version::Version;
use crate::world::World;
use trouble::Broken;

/// What it is called.
const NAME: &str = "claude";

const KNOWN: Known = Known {
    name: NAME,
    oldest: Version::new(2, 1, 197),
    install: "install it with `npm install -g @anthropic-ai/claude-code`",
    sign_in: "run `claude auth login`, or set ANTHROPIC_API_KEY",
};

/// The friend `claude`.
#[derive(Debug)]
pub struct Claude {
    program: Program,
}

impl Claude {
    /// The one in PATH.
    pub const IN_PATH: Claude = Claude { program: Program::in_path(NAME) };

    /// The one at this place.
    pub fn at(program: &Path) -> Claude {
        Claude { program: Program::at(NAME, program) }
    }
}

impl Friend for Claude {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            reads_files: true,
            writes_files: true,
            streams: true,
            review: false,
            sessions: Sessions::Own,
            schema: true,
            access: recipe::ACCESS,
        }
    }

    fn look(&self, world: &World<'_>) -> Presence {
        look::look(self, world)
    }

    fn at_hand(&self, world: &World<'_>) -> Result<(), Failure> {
        self.program.needed(world, KNOWN.install)
    }

    fn turn(&self, turn: &Turn, world: &World<'_>, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        let recipe = recipe::Recipe::new(turn)?;
        let why = match conversation::attempt(self, &recipe, turn, world, hear) {
            Ok(answer) => return Ok(answer),
            Err(Broken::Over(failure)) => return Err(failure),
            Err(Broken::OtherWay(why)) => why,
        };
        // One that is too old fails in ways of its own: better to say what it is.
        KNOWN.check_program(self.program.word(), environment::environment(world), turn, world)?;
        if turn.access != Access::ReadOnly {
            // Only the control protocol lets relay see what is written before it is.
            return Err(KNOWN.failed(format!("it does not take relay's questions: {why}")));
        }
        hear(Event::OtherWay(format!("{} does not work ({why}); {} is used", conversation::WAY, print::WAY)));
        print::attempt(self, &recipe, turn, world, hear)
    }
}
