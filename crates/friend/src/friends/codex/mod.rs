//! Codex, by its app-server, or by `codex exec` where that does not work.
//!
//! A turn is one process. It gets the user's sign-in and provider; it does without their hooks, plugins, apps,
//! tool servers, notifications and update checks, and outside full access without the rules by which they let
//! commands out of the sandbox. The instructions for agents stay, the user's and the project's (`AGENTS.md`):
//! they are words, and what is done by them is confined all the same.
//!
//! Invariant: a prompt is said a second time only if the first may change nothing and nothing of it was answered.

mod hear;
mod look;
mod once;
mod recipe;
mod refuse;
mod server;
mod trouble;

use std::ffi::OsString;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use relaycode_exec::Environment;

use crate::answer::Answer;
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Friend, Presence, Sessions};
use crate::program::{Known, Program};
use crate::turn::Turn;
use crate::version::Version;
use crate::world::World;
use trouble::Broken;

/// What it is called.
const NAME: &str = "codex";

const KNOWN: Known = Known {
    name: NAME,
    oldest: Version::new(0, 154, 0),
    install: "install it with `npm install -g @openai/codex`",
    sign_in: "run `codex login`",
};

/// Before each attempt with the app-server.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];

/// What makes codex believe that it runs inside itself. Where its home is, and its keys, are not among them.
const INSIDE_CODEX: &[&str] = &[
    "CODEX_CI",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
];

/// What codex says for a reviewer that said nothing.
const NO_REVIEW: &str = "Reviewer failed to output a response.";

/// The friend `codex`.
#[derive(Debug)]
pub struct Codex {
    program: Program,
}

impl Codex {
    /// The one in PATH.
    pub const IN_PATH: Codex = Codex { program: Program::in_path(NAME) };

    /// The one at this place.
    pub fn at(program: &Path) -> Codex {
        Codex { program: Program::at(NAME, program) }
    }

    fn environment(&self, world: &World<'_>) -> Environment {
        let mut environment = world.environment();
        environment.remove.extend(INSIDE_CODEX.iter().map(OsString::from));
        environment
    }
}

impl Friend for Codex {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            reads_files: true,
            writes_files: true,
            streams: true,
            review: true,
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
        recipe::check(turn)?;
        let mut why = String::new();
        for (at, pause) in PAUSES.into_iter().enumerate() {
            wait(pause, turn, world)?;
            match server::attempt(self, turn, world, hear) {
                Ok(answer) => return Ok(answer),
                Err(Broken::Over(failure)) => return Err(failure),
                Err(Broken::Again(said)) => {
                    if at + 1 < PAUSES.len() {
                        hear(Event::Retrying(said.clone()));
                    }
                    why = said;
                }
                Err(Broken::OtherWay(said)) => {
                    why = said;
                    break;
                }
            }
        }
        KNOWN.check_program(self.program.word(), self.environment(world), turn, world)?;
        hear(Event::OtherWay(format!("{} does not work ({why}); {} is used", server::WAY, once::WAY)));
        once::attempt(self, turn, world, hear)
    }
}

/// Waits before another attempt, unless there is no point in it.
fn wait(pause: Duration, turn: &Turn, world: &World<'_>) -> Result<(), Failure> {
    let began = Instant::now();
    let clock = Clock::new(NAME, turn.limits);
    loop {
        if let Some(failure) = clock.over(world.stop, String::new) {
            return Err(failure);
        }
        if began.elapsed() >= pause {
            return Ok(());
        }
        thread::sleep(TICK.min(pause));
    }
}

/// The answer, if it is one.
fn answered(mut answer: Answer, turn: &Turn, said: &str) -> Result<Answer, Failure> {
    let friend = NAME.to_string();
    if answer.text.trim().is_empty() || answer.text.trim() == NO_REVIEW {
        return Err(Failure::NoAnswer { friend, said: said.to_string() });
    }
    if turn.schema.is_some() {
        match serde_json::from_str(&answer.text) {
            Ok(value) => answer.value = Some(value),
            Err(error) => {
                let fault = format!("it is no JSON ({error})");
                return Err(Failure::NotByTheSchema { friend, fault, text: answer.text });
            }
        }
    }
    Ok(answer)
}
