//! The way `print`: one run of `claude -p`, the prompt on its input. For read-only turns alone.
//!
//! Nobody is asked here: what is no plain reading is refused by claude itself, and it has no tool that writes.
//! What it may read outside of the project is what the user's own rules allow. What it works with is seen when it
//! already has the prompt; if it is not what it was given, it is ended, and nothing of it is used.

use relaycode_clients::line_process::{LineEvent as Line, LineProcess};
use relaycode_exec::{Job, JobInput};
use serde_json::Value;

use super::environment::environment;
use super::error::{error_excerpt, exit_failure};
use super::events::{ClaudeEventSink, ClaudeTurnState, answer_too_large};
use super::recipe::ClaudeRecipe;
use super::{Claude, NAME, PROFILE};
use crate::driver::clock::{TICK, TurnClock};
use crate::driver::program::MAX_INVALID_LINES;
use crate::driver::stderr_tail::StderrTail;
use crate::friend::answer::FriendAnswer;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::FriendTurn;

/// What this way is called.
pub(super) const TRANSPORT: &str = "print";

/// Does the turn.
pub(super) fn attempt(
    claude: &Claude,
    recipe: &ClaudeRecipe,
    turn: &FriendTurn,
    world: &FriendContext<'_>,
    hear: &mut ClaudeEventSink<'_>,
) -> Result<FriendAnswer, FriendFailure> {
    let mut words = vec![claude.program.argv0()];
    words.extend(recipe.arguments());
    let mut job = Job::argv(words, &turn.directory);
    job.environment = environment(world);
    job.input = JobInput::Bytes(recipe.prompt.clone().into_bytes());
    job.deadlines = turn.limits.deadlines();
    let mut lines = LineProcess::start(&world.runner, &job).map_err(|source| PROFILE.exec_failure(source))?;
    let answer = read_events(&mut lines, recipe, turn, world, hear);
    // Also when it went well: nothing that it left behind is wanted.
    let _ = lines.end();
    answer
}

fn read_events(
    lines: &mut LineProcess,
    recipe: &ClaudeRecipe,
    turn: &FriendTurn,
    world: &FriendContext<'_>,
    hear: &mut ClaudeEventSink<'_>,
) -> Result<FriendAnswer, FriendFailure> {
    let mut clock = TurnClock::new(NAME, turn.limits);
    let mut heard = ClaudeTurnState::new(turn.access, turn.schema.is_some());
    let (mut errors, mut garbage, mut seen) = (StderrTail::default(), 0, false);
    let session = recipe.session.as_deref();
    let mut answer = None;
    loop {
        if let Some(failure) = clock.check_expired(world.stop_requested, || error_excerpt(&errors.text())) {
            return Err(failure);
        }
        let said = lines.next(&|| false, TICK).map_err(|source| PROFILE.exec_failure(source))?;
        errors.push(&lines.take_stderr());
        let told = match said {
            Line::Line(line) => serde_json::from_slice::<Value>(&line).ok().filter(Value::is_object),
            Line::LineTooLong => return Err(answer_too_large()),
            // Nothing is said to it beside the prompt.
            Line::Idle | Line::NotReading => continue,
            // It found nothing wrong, and had nothing to say.
            Line::Exited(finished) if finished.reason.is_success() && !seen && answer.is_none() => {
                return Err(FriendFailure::NoAnswer {
                    friend: NAME.to_string(),
                    said: error_excerpt(&errors.text()),
                });
            }
            Line::Exited(finished) => {
                return answer.unwrap_or_else(|| Err(exit_failure(&finished, &errors, session)));
            }
        };
        let Some(told) = told else {
            garbage += 1;
            if garbage > MAX_INVALID_LINES {
                return Err(PROFILE.failed("what it prints are no messages"));
            }
            continue;
        };
        match told["type"].as_str().unwrap_or_default() {
            "system" if told["subtype"] == "init" => {
                recipe.verify_init(&told, turn)?;
                heard.record_init(&told);
                seen = true;
                hear(FriendEvent::Ready { transport: TRANSPORT });
            }
            "result" if told["is_error"] == false && !seen => {
                return Err(PROFILE.failed("it answered without saying what it works with"));
            }
            "result" => answer = Some(heard.finish(&told, session, TRANSPORT, hear)),
            // Nothing counts that came before it was looked at.
            _ if seen => heard.handle_message(&told, &mut clock, hear)?,
            _ => {}
        }
    }
}
