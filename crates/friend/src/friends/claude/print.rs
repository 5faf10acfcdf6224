//! The way `print`: one run of `claude -p`, the prompt on its input. For read-only turns alone.
//!
//! Nobody is asked here: what is no plain reading is refused by claude itself, and it has no tool that writes.
//! What it may read outside of the project is what the user's own rules allow. What it works with is seen when it
//! already has the prompt; if it is not what it was given, it is ended, and nothing of it is used.

use relaycode_clients::lines::{Heard as Line, Lines};
use relaycode_exec::{Input, Job};
use serde_json::Value;

use super::environment::environment;
use super::hear::{Hear, Heard, too_much};
use super::recipe::Recipe;
use super::trouble::{ended_early, last_words};
use super::{Claude, KNOWN, NAME};
use crate::answer::Answer;
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::last_words::Tail;
use crate::program::MOST_GARBAGE;
use crate::turn::Turn;
use crate::world::World;

/// What this way is called.
pub(super) const WAY: &str = "print";

/// Does the turn.
pub(super) fn attempt(
    claude: &Claude,
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut Hear<'_>,
) -> Result<Answer, Failure> {
    let mut words = vec![claude.program.word()];
    words.extend(recipe.arguments());
    let mut job = Job::argv(words, &turn.directory);
    job.environment = environment(world);
    job.input = Input::Bytes(recipe.prompt.clone().into_bytes());
    job.deadlines = turn.limits.deadlines();
    let mut lines = Lines::start(&world.runner, &job).map_err(|source| KNOWN.not_run(source))?;
    let answer = hear_out(&mut lines, recipe, turn, world, hear);
    // Also when it went well: nothing that it left behind is wanted.
    let _ = lines.end();
    answer
}

fn hear_out(
    lines: &mut Lines,
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut Hear<'_>,
) -> Result<Answer, Failure> {
    let mut clock = Clock::new(NAME, turn.limits);
    let mut heard = Heard::new(turn.access, turn.schema.is_some());
    let (mut errors, mut garbage, mut seen) = (Tail::default(), 0, false);
    let session = recipe.session.as_deref();
    let mut answer = None;
    loop {
        if let Some(failure) = clock.over(world.stop, || last_words(&errors.text())) {
            return Err(failure);
        }
        let said = lines.next(&|| false, TICK).map_err(|source| KNOWN.not_run(source))?;
        errors.add(&lines.take_errors());
        let told = match said {
            Line::Line(line) => serde_json::from_slice::<Value>(&line).ok().filter(Value::is_object),
            Line::TooLong => return Err(too_much()),
            // Nothing is said to it beside the prompt.
            Line::Nothing | Line::Deaf => continue,
            // It found nothing wrong, and had nothing to say.
            Line::Over(finished) if finished.end.is_success() && !seen && answer.is_none() => {
                return Err(Failure::NoAnswer { friend: NAME.to_string(), said: last_words(&errors.text()) });
            }
            Line::Over(finished) => {
                return answer.unwrap_or_else(|| Err(ended_early(&finished, &errors, session)));
            }
        };
        let Some(told) = told else {
            garbage += 1;
            if garbage > MOST_GARBAGE {
                return Err(KNOWN.failed("what it prints are no messages"));
            }
            continue;
        };
        match told["type"].as_str().unwrap_or_default() {
            "system" if told["subtype"] == "init" => {
                recipe.check(&told, turn)?;
                heard.began(&told);
                seen = true;
                hear(Event::Ready { way: WAY });
            }
            "result" if told["is_error"] == false && !seen => {
                return Err(KNOWN.failed("it answered without saying what it works with"));
            }
            "result" => answer = Some(heard.result(&told, session, WAY, hear)),
            // Nothing counts that came before it was looked at.
            _ if seen => heard.note(&told, &mut clock, hear)?,
            _ => {}
        }
    }
}
