//! The other way, when a friend does not speak the protocol: one run that reads the prompt and prints events, a
//! line of JSON each. Only read-only and without memory: there is nobody to ask while it runs.

use std::time::{Duration, Instant};

use relaycode_clients::lines::{Heard, Lines, MOST_LINE};
use relaycode_exec::{End, Input, Job};
use serde_json::Value;

use crate::answer::{Answer, Usage};
use crate::event::Event;
use crate::failure::Failure;
use crate::turn::Turn;
use crate::world::World;

use super::classify::{self, Fault};
use super::decider::MOST_ANSWER;

/// How often it is looked whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// Bytes of standard error that are kept.
const MOST_ERRORS: usize = 64 << 10;

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

/// How one friend is run once.
pub(crate) struct Shot<'a> {
    /// The friend.
    pub(crate) friend: &'static str,
    /// How to sign in.
    pub(crate) sign_in: &'static str,
    /// Its program.
    pub(crate) job: Job,
    /// What it reads.
    pub(crate) prompt: &'a str,
    /// What its lines mean.
    pub(crate) read: &'a dyn Fn(&Value) -> Line,
}

/// Runs a friend once.
pub(crate) fn run(
    shot: Shot<'_>,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Answer, Failure> {
    let Shot { friend, sign_in, mut job, prompt, read } = shot;
    let name = || friend.to_string();
    let exec = |source| Failure::Exec { friend: friend.to_string(), source };
    job.input = Input::Bytes(prompt.as_bytes().to_vec());
    job.deadlines.total = Some(turn.limits.left() + 2 * super::GRACE);
    job.deadlines.grace = super::GRACE;
    let mut lines = Lines::start(&world.runner, &job).map_err(exec)?;
    hear(Event::Ready { way: "one-shot" });
    let mut answer = Answer { way: "one-shot", ..Answer::default() };
    let mut errors: Vec<u8> = Vec::new();
    let mut failed = None;
    let mut heard = Instant::now();
    let late = |idle, after| Failure::TimedOut { friend: name(), after, idle, said: String::new() };
    let broken = loop {
        if (world.stop)() {
            break Some(Failure::Cancelled { friend: name() });
        }
        if turn.limits.left().is_zero() {
            break Some(late(false, turn.limits.total));
        }
        if heard.elapsed() >= turn.limits.idle {
            break Some(late(true, turn.limits.idle));
        }
        let next = lines.next(&|| false, TICK).map_err(exec)?;
        errors.extend_from_slice(&lines.take_errors());
        let over = errors.len().saturating_sub(MOST_ERRORS);
        errors.drain(..over);
        match next {
            Heard::Line(line) => {
                let Ok(event) = serde_json::from_slice::<Value>(&line) else { continue };
                heard = Instant::now();
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
                    Line::Failed(said) => failed = Some(said),
                    Line::Done(usage) => answer.usage = usage,
                    Line::Model(model) => answer.model = Some(model),
                    Line::Other => {}
                }
            }
            Heard::TooLong => break Some(Failure::TooMuch { friend: name(), most: MOST_LINE }),
            Heard::Nothing => {}
            Heard::Over(finished) => {
                if failed.is_none() && !finished.end.is_success() {
                    failed = Some(ending(finished.end, &last_words(&errors)));
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
        return Err(match classify::fault_in(&said) {
            Fault::NotSignedIn => Failure::NotSignedIn { friend: name(), said, hint: sign_in.to_string() },
            Fault::Unreachable => Failure::Unreachable { friend: name(), said },
            Fault::Other => Failure::Failed { friend: name(), said },
        });
    }
    if answer.text.trim().is_empty() {
        return Err(Failure::NoAnswer { friend: name(), said: last_words(&errors) });
    }
    Ok(answer)
}

fn last_words(errors: &[u8]) -> String {
    classify::last_words(&String::from_utf8_lossy(errors))
}

/// How it ended, if its last words do not say.
fn ending(end: End, words: &str) -> String {
    match (end, words) {
        (End::Exited(code), "") => format!("it ended with code {code} and without a word"),
        (End::Signalled(signal), "") => format!("it was ended by signal {signal}"),
        (_, "") => "it was ended".to_string(),
        (_, words) => words.to_string(),
    }
}
