//! The other way, when a friend does not speak the protocol: one run that reads the prompt and prints events, a
//! line of JSON each. Only read-only and without memory: there is nobody to ask while it runs.

use relaycode_clients::line_process::{LineEvent, LineProcess, MAX_LINE_BYTES};
use relaycode_exec::{Deadlines, Job, JobInput};
use serde_json::Value;

use crate::driver::clock::{TICK, TurnClock};
use crate::driver::stderr_tail::{StderrTail, describe_exit};
use crate::friend::answer::{FriendAnswer, FriendUsage};
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::FriendTurn;

use super::classify::{self, error_excerpt};
use super::permissions::MOST_ANSWER;
use super::{AcpRecipe, GRACE};

/// What a line says, in the words of one friend.
pub(crate) enum OneShotEvent {
    /// The next words of the answer.
    Text(String),
    /// It uses a tool.
    Tool(String),
    /// It failed.
    Failed(String),
    /// It is done.
    Done(Option<FriendUsage>),
    /// Which model answers.
    Model(String),
    /// Nothing of interest.
    Other,
}

/// Runs a friend once: with the prompt of a recipe, and lines that mean what `read` says.
pub(super) fn run_one_shot(
    recipe: &AcpRecipe,
    mut job: Job,
    read: &dyn Fn(&Value) -> OneShotEvent,
    turn: &FriendTurn,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(FriendEvent),
) -> Result<FriendAnswer, FriendFailure> {
    let known = recipe.profile;
    let name = || known.name.to_string();
    let exec = |source| known.exec_failure(source);
    job.input = JobInput::Bytes(recipe.prompt.as_bytes().to_vec());
    job.deadlines = Deadlines { grace: GRACE, ..turn.limits.deadlines() };
    let mut lines = LineProcess::start(&world.runner, &job).map_err(exec)?;
    hear(FriendEvent::Ready { transport: "one-shot" });
    let mut answer = FriendAnswer { transport: "one-shot", ..FriendAnswer::default() };
    let mut errors = StderrTail::default();
    let mut failed = None;
    let mut clock = TurnClock::new(known.name, turn.limits);
    let broken = loop {
        if let Some(failure) = clock.check_expired(world.stop_requested, || error_excerpt(&errors.text())) {
            break Some(failure);
        }
        let next = lines.next(&|| false, TICK).map_err(exec)?;
        errors.push(&lines.take_stderr());
        match next {
            LineEvent::Line(line) => {
                let Ok(event) = serde_json::from_slice::<Value>(&line) else { continue };
                clock.mark_alive();
                match read(&event) {
                    OneShotEvent::Text(text) if answer.text.len() + text.len() > MOST_ANSWER => {
                        break Some(FriendFailure::AnswerTooLarge { friend: name(), most: MOST_ANSWER });
                    }
                    OneShotEvent::Text(text) => {
                        answer.text.push_str(&text);
                        hear(FriendEvent::Text(text));
                    }
                    OneShotEvent::Tool(what) => {
                        if !std::mem::take(&mut answer.text).is_empty() {
                            hear(FriendEvent::AnswerRestarted);
                        }
                        hear(FriendEvent::Action(what));
                    }
                    OneShotEvent::Failed(said) => failed = Some(classify::clip_error(&said)),
                    OneShotEvent::Done(usage) => answer.usage = usage,
                    OneShotEvent::Model(model) => answer.model = Some(model),
                    OneShotEvent::Other => {}
                }
            }
            LineEvent::LineTooLong => {
                break Some(FriendFailure::AnswerTooLarge { friend: name(), most: MAX_LINE_BYTES });
            }
            // Nothing is said to it beside the prompt.
            LineEvent::Idle | LineEvent::NotReading => {}
            LineEvent::Exited(finished) => {
                if failed.is_none() && !finished.reason.is_success() {
                    failed = Some(describe_exit(finished.reason, &error_excerpt(&errors.text())));
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
        return Err(classify::classify_text(&said).into_failure(known, said));
    }
    if answer.text.trim().is_empty() {
        return Err(FriendFailure::NoAnswer { friend: name(), said: error_excerpt(&errors.text()) });
    }
    Ok(answer)
}
