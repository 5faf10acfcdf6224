//! The other way, when a friend does not speak the protocol: one run that reads the prompt and prints events, a
//! line of JSON each. Only read-only and without memory: there is nobody to ask while it runs.

use relaycode_clients::lines::{Heard, Lines, MOST_LINE};
use relaycode_exec::{Deadlines, Input, Job};
use serde_json::Value;

use crate::answer::{Answer, Usage};
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::last_words::{Tail, ended};
use crate::turn::Turn;
use crate::world::World;

use super::classify::{self, last_words};
use super::decider::MOST_ANSWER;
use super::{GRACE, Recipe};

/// What a line says, in the words of one friend.
pub(crate) enum Line {
    /// The next words of the answer.
    Text(String),
    /// It uses a tool.
    Tool(String),
    /// It failed.
    Failed(String),
    /// It is done.
    Done(Option<Usage>),
    /// Which model answers.
    Model(String),
    /// Nothing of interest.
    Other,
}

/// Runs a friend once: with the prompt of a recipe, and lines that mean what `read` says.
pub(super) fn run(
    recipe: &Recipe,
    mut job: Job,
    read: &dyn Fn(&Value) -> Line,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Answer, Failure> {
    let known = recipe.known;
    let name = || known.name.to_string();
    let exec = |source| known.not_run(source);
    job.input = Input::Bytes(recipe.prompt.as_bytes().to_vec());
    job.deadlines = Deadlines { grace: GRACE, ..turn.limits.deadlines() };
    let mut lines = Lines::start(&world.runner, &job).map_err(exec)?;
    hear(Event::Ready { way: "one-shot" });
    let mut answer = Answer { way: "one-shot", ..Answer::default() };
    let mut errors = Tail::default();
    let mut failed = None;
    let mut clock = Clock::new(known.name, turn.limits);
    let broken = loop {
        if let Some(failure) = clock.over(world.stop, || last_words(&errors.text())) {
            break Some(failure);
        }
        let next = lines.next(&|| false, TICK).map_err(exec)?;
        errors.add(&lines.take_errors());
        match next {
            Heard::Line(line) => {
                let Ok(event) = serde_json::from_slice::<Value>(&line) else { continue };
                clock.lives();
                match read(&event) {
                    Line::Text(text) if answer.text.len() + text.len() > MOST_ANSWER => {
                        break Some(Failure::TooMuch { friend: name(), most: MOST_ANSWER });
                    }
                    Line::Text(text) => {
                        answer.text.push_str(&text);
                        hear(Event::Text(text));
                    }
                    Line::Tool(what) => {
                        if !std::mem::take(&mut answer.text).is_empty() {
                            hear(Event::Anew);
                        }
                        hear(Event::Doing(what));
                    }
                    Line::Failed(said) => failed = Some(classify::words(&said)),
                    Line::Done(usage) => answer.usage = usage,
                    Line::Model(model) => answer.model = Some(model),
                    Line::Other => {}
                }
            }
            Heard::TooLong => break Some(Failure::TooMuch { friend: name(), most: MOST_LINE }),
            // Nothing is said to it beside the prompt.
            Heard::Nothing | Heard::Deaf => {}
            Heard::Over(finished) => {
                if failed.is_none() && !finished.end.is_success() {
                    failed = Some(ended(finished.end, &last_words(&errors.text())));
                }
                break None;
            }
        }
    };
    lines.end().map_err(exec)?;
    if let Some(failure) = broken {
        return Err(failure);
    }
    if let Some(said) = failed {
        return Err(classify::fault_in(&said).failure(known, said));
    }
    if answer.text.trim().is_empty() {
        return Err(Failure::NoAnswer { friend: name(), said: last_words(&errors.text()) });
    }
    Ok(answer)
}
