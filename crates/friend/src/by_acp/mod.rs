//! A turn by the Agent Client Protocol, for every friend that speaks it.
//!
//! A friend makes a [`Recipe`]; one that does not speak the protocol is run once instead ([`either_way`]). What may be
//! done is decided here ([`decider`]), once for all of them. Invariants: the prompt is sent only after the friend said
//! that it works in the mode it was started in; whatever comes of a turn, the friend and everything that it started
//! have ended.

pub(crate) mod classify;
mod decider;
mod one_shot;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_clients::acp::{Agent, Beneath, Broken, Capabilities, Ended, Patience, Session, Stop};
use relaycode_clients::lines::MOST_LINE;
use relaycode_exec::{Deadlines, Input, Job, Program};
use relaycode_project::access::Access;
use serde_json::Value;

use crate::answer::{Answer, Usage};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Sessions};
use crate::program::Known;
use crate::turn::{Limits, Memory, Task, Turn};
use crate::version::Version;
use crate::world::World;
use classify::{Fault, fault_of};
use decider::Decider;
pub(crate) use one_shot::Line;

/// How long a friend gets to start and to begin a session. A large one on a busy machine takes 20 s.
const START: Duration = Duration::from_secs(90);

/// How long an earlier session has to be silent before it is taken to have said all that it remembers.
const SETTLED: Duration = Duration::from_millis(400);

/// How long it may go on remembering.
const MOST_SETTLING: Duration = Duration::from_secs(20);

/// How long one that is to remember may take to end by itself.
const LEAVING: Duration = Duration::from_secs(5);

/// Between being asked to end and being ended: these write down what they remember.
const GRACE: Duration = Duration::from_millis(1200);

/// What a friend can do by this protocol.
pub(crate) const ABILITIES: Abilities = Abilities {
    reads_files: true,
    writes_files: true,
    streams: true,
    review: false,
    sessions: Sessions::Own,
    schema: false,
    access: &[Access::ReadOnly, Access::Workspace, Access::Full],
};

/// How one friend is reached.
pub(crate) struct Recipe {
    /// The friend's program.
    pub(crate) known: &'static Known,
    /// Its program, with everything that holds it to what it may do.
    pub(crate) job: Job,
    /// What relay does for it.
    pub(crate) can: Capabilities,
    /// The mode that it has to say it works in.
    pub(crate) mode: &'static str,
    /// The directory of its session; not the project's where that one would run code of its own.
    pub(crate) directory: PathBuf,
    /// What is sent.
    pub(crate) prompt: String,
    /// Its words when it refuses something by rules that it was given.
    pub(crate) denials: &'static [&'static str],
}

/// Why a turn by this way came to nothing.
enum Trouble {
    /// So it stands.
    Final(Failure),
    /// The friend does not speak this way; nothing was sent to it.
    NotSpoken(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Final(failure)
    }
}

impl Recipe {
    /// Refuses a program that is too old or does not say how old it is, by what it answers.
    fn check_program(&self, turn: &Turn, world: &World<'_>) -> Result<(), Failure> {
        let program = match &self.job.program {
            Program::Argv(words) => words.first().cloned().unwrap_or_default(),
            Program::Shell(line) => line.into(),
        };
        self.known.check_program(program, self.job.environment.clone(), turn, world)
    }
}

/// What the friend is asked in a turn, if that is something that it can do.
pub(crate) fn prompt_of<'a>(turn: &'a Turn, known: &Known) -> Result<&'a str, Failure> {
    let Task::Prompt(prompt) = &turn.task else { return Err(known.cannot("review by itself")) };
    match ABILITIES.access.contains(&turn.access) {
        true => Ok(prompt),
        false => Err(known.cannot(format!("work with access `{}`", turn.access))),
    }
}

/// Does a turn, by the protocol or, where that is not spoken and nothing was sent, by a run of its own (`once`), whose
/// lines mean what `read` says. That one is for what is read-only and not remembered: there is nobody to ask meanwhile.
pub(crate) fn either_way(
    recipe: &Recipe,
    once: impl FnOnce() -> Job,
    read: &dyn Fn(&Value) -> Line,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Answer, Failure> {
    let why = match by_protocol(recipe, turn, world, hear) {
        Ok(answer) => return Ok(answer),
        Err(Trouble::Final(failure)) => return Err(failure),
        Err(Trouble::NotSpoken(why)) => why,
    };
    // One that is too old fails in ways of its own: better to say what it is.
    recipe.check_program(turn, world)?;
    if turn.access != Access::ReadOnly || turn.memory != Memory::None {
        return Err(recipe.known.failed(why));
    }
    hear(Event::OtherWay(why));
    one_shot::run(recipe, once(), read, turn, world, hear)
}

/// Does a turn by the protocol.
fn by_protocol(
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Answer, Trouble> {
    let known = recipe.known;
    if let Memory::Resume(id) = &turn.memory
        && !is_an_id(id)
    {
        return Err(known.no_session(id).into());
    }
    let beneath = Beneath::new(&turn.directory)
        .map_err(|error| known.failed(format!("{} cannot be opened: {error}", turn.directory.display())))?;
    let exec = |source| known.not_run(source);
    let mut job = recipe.job.clone();
    job.input = Input::Open;
    job.deadlines = Deadlines { grace: GRACE, ..turn.limits.deadlines() };
    let mut agent = Agent::start(&world.runner, &job).map_err(exec)?;
    let mut decider = Decider::new(turn.access, beneath, recipe.denials, hear);
    let done = talk(recipe, turn, world, &mut agent, &mut decider);
    // One that is to remember writes that down when it ends by itself.
    let remembers = done.is_ok() && turn.memory != Memory::None;
    let ended = if remembers { agent.leave(LEAVING) } else { agent.end() }.map_err(exec)?;
    if let Some(finished) = ended {
        decider.remember(&finished.stderr.tail);
    }
    match done {
        Ok((session, end)) => Ok(answer(recipe, turn, session, &end, decider)?),
        Err(trouble) => Err(trouble),
    }
}

/// Whether something can be the id of a session: some make the name of a file of it.
pub(crate) fn is_an_id(id: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (8..=128).contains(&id.len()) && id.bytes().all(known)
}

/// Everything that is said, up to the end of the prompt.
fn talk(
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    agent: &mut Agent,
    decider: &mut Decider<'_>,
) -> Result<(Session, Ended), Trouble> {
    let starting = |limits: &Limits| Patience {
        until: Instant::now() + START.min(limits.left()),
        idle: START,
        stop: world.stop,
    };
    let not_begun = |broken: Broken, decider: &Decider<'_>| not_begun(recipe, turn, broken, decider);
    let introduced = agent
        .initialize(recipe.can, decider, &starting(&turn.limits))
        .map_err(|broken| not_begun(broken, decider))?;
    match introduced.agent_version.as_deref().and_then(Version::read) {
        Some(found) => recipe.known.check(found)?,
        None => recipe.check_program(turn, world)?,
    }
    let session = match &turn.memory {
        Memory::None | Memory::Begin | Memory::Replay(_) => agent
            .new_session(&recipe.directory, decider, &starting(&turn.limits))
            .map_err(|broken| not_begun(broken, decider))?,
        Memory::Resume(_) if !introduced.loads => {
            return Err(recipe.known.cannot("take up an earlier session; it says so itself").into());
        }
        Memory::Resume(id) => resume(recipe, turn, world, agent, decider, id)?,
    };
    let got = session.mode.clone().unwrap_or_else(|| "no mode that it would name".to_string());
    if got != recipe.mode {
        let friend = recipe.known.name.to_string();
        return Err(Failure::OtherAccess { friend, wanted: turn.access, got }.into());
    }
    decider.begin();
    let patience =
        Patience { until: Instant::now() + turn.limits.left(), idle: turn.limits.idle, stop: world.stop };
    match agent.prompt(&session.id, &recipe.prompt, decider, &patience) {
        Ok(ended) => Ok((session, ended)),
        Err(broken) => Err(broken_off(recipe, turn, broken, decider).into()),
    }
}

/// Takes up an earlier session, and lets it say what it remembers.
fn resume(
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    agent: &mut Agent,
    decider: &mut Decider<'_>,
    id: &str,
) -> Result<Session, Trouble> {
    let until = Instant::now() + START.min(turn.limits.left());
    let patience = Patience { until, idle: START, stop: world.stop };
    let loaded = agent.load_session(id, &recipe.directory, decider, &patience);
    let session = match loaded {
        Ok(session) => session,
        Err(Broken::Said(error)) => {
            let said = classify::words_of(&error);
            return Err(match fault_of(&error) {
                Fault::NotSignedIn => recipe.known.not_signed_in(said).into(),
                _ => recipe.known.no_session(id).into(),
            });
        }
        Err(broken) => return Err(not_begun(recipe, turn, broken, decider)),
    };
    let patience = Patience { until: Instant::now() + MOST_SETTLING, idle: SETTLED, stop: world.stop };
    match agent.listen(decider, &patience) {
        Broken::Late { .. } => Ok(session),
        broken => Err(not_begun(recipe, turn, broken, decider)),
    }
}

/// Something went wrong before the prompt was sent.
fn not_begun(recipe: &Recipe, turn: &Turn, broken: Broken, decider: &Decider<'_>) -> Trouble {
    let ours = matches!(broken, Broken::Stopped) || turn.limits.left().is_zero();
    if let Broken::Said(error) = &broken {
        return match fault_of(error) {
            Fault::NotSignedIn => recipe.known.not_signed_in(classify::words_of(error)).into(),
            _ => Trouble::NotSpoken(classify::words_of(error)),
        };
    }
    if let Some(said) = classify::sign_in_trouble(&decider.errors()) {
        return recipe.known.not_signed_in(said).into();
    }
    match broken {
        Broken::Exec(source) => recipe.known.not_run(source).into(),
        Broken::Deaf => recipe.known.not_reading().into(),
        broken if ours => broken_off(recipe, turn, broken, decider).into(),
        Broken::Late { .. } => Trouble::NotSpoken(format!("it did not answer within {} s", START.as_secs())),
        other => Trouble::NotSpoken(with_last_words(&other.to_string(), decider)),
    }
}

/// Something went wrong after the prompt was sent, or by our own will.
fn broken_off(recipe: &Recipe, turn: &Turn, broken: Broken, decider: &Decider<'_>) -> Failure {
    let friend = recipe.known.name.to_string();
    if decider.is_too_much() {
        return Failure::TooMuch { friend, most: decider::MOST_ANSWER };
    }
    match broken {
        Broken::Said(error) => fault_of(&error).failure(recipe.known, classify::words_of(&error)),
        Broken::Late { idle } => {
            let after = if idle { turn.limits.idle } else { turn.limits.total };
            Failure::TimedOut { friend, after, idle, said: decider.last_words() }
        }
        Broken::Enough => {
            let said = decider.gave_up().unwrap_or_default().to_string();
            classify::fault_in(&said).failure(recipe.known, said)
        }
        Broken::Stopped => Failure::Cancelled { friend },
        Broken::Deaf => recipe.known.not_reading(),
        Broken::TooLong => Failure::TooMuch { friend, most: MOST_LINE },
        Broken::Exec(source) => recipe.known.not_run(source),
        other => recipe.known.failed(with_last_words(&other.to_string(), decider)),
    }
}

fn with_last_words(what: &str, decider: &Decider<'_>) -> String {
    match decider.last_words() {
        said if said.is_empty() => what.to_string(),
        said => format!("{what}: {said}"),
    }
}

/// What a prompt that came to its end says.
fn answer(
    recipe: &Recipe,
    turn: &Turn,
    session: Session,
    end: &Ended,
    decider: Decider<'_>,
) -> Result<Answer, Failure> {
    let friend = recipe.known.name.to_string();
    let mut remarks = Vec::new();
    match &end.stop {
        Stop::Done => {}
        Stop::MaxTokens => remarks.push(format!("{friend} stopped because its model may not write more")),
        Stop::MaxRequests => {
            remarks.push(format!("{friend} stopped because it may not ask its model more often"));
        }
        Stop::Refusal => return Err(Failure::Failed { friend, said: "it refuses to do this".to_string() }),
        Stop::Cancelled => {
            let said = with_last_words("it broke off by itself", &decider);
            return Err(Failure::Failed { friend, said });
        }
        Stop::Other(reason) => remarks.push(format!("{friend} stopped with `{reason}`")),
    }
    let last_words = decider.last_words();
    let (text, declined) = decider.into_parts();
    if text.trim().is_empty() {
        return Err(Failure::NoAnswer { friend, said: last_words });
    }
    let remembered = turn.memory != Memory::None;
    Ok(Answer {
        text,
        value: None,
        session: remembered.then_some(session.id),
        model: model_of(&end.answer).or(session.model),
        declined,
        usage: usage_of(&end.answer),
        way: "acp",
        remarks,
    })
}

/// Tokens: in `usage`, or in what Gemini says beside the protocol.
fn usage_of(answer: &Value) -> Option<Usage> {
    let usage = |value: &Value, input: &str, output: &str| {
        Some(Usage { input: value[input].as_u64()?, output: value[output].as_u64()? })
    };
    usage(&answer["usage"], "inputTokens", "outputTokens")
        .or_else(|| usage(&answer["_meta"]["quota"]["token_count"], "input_tokens", "output_tokens"))
}

fn model_of(answer: &Value) -> Option<String> {
    answer["_meta"]["quota"]["model_usage"][0]["model"].as_str().map(str::to_string)
}
