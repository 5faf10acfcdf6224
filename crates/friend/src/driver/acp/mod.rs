//! A turn by the Agent Client Protocol, for every friend that speaks it.
//!
//! A friend makes an [`AcpRecipe`]; what may be done is decided here ([`permissions`]), once for all of them. There is no
//! second way: the oldest gemini and opencode that are used speak the protocol, and in a run without it nobody is asked and
//! no mode is said before the prompt is heard. Invariants: the prompt is sent only after the friend said
//! that it works in the mode it was started in; whatever comes of a turn, the friend and everything that it started
//! have ended.

pub(crate) mod classify;
mod permissions;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_clients::acp::{
    AcpAgent, AcpClientCapabilities, AcpError, AcpPromptResult, AcpSession, AcpStopReason, AcpWaitLimits,
    ConfinedDir,
};
use relaycode_clients::line_process::MAX_LINE_BYTES;
use relaycode_exec::{Deadlines, Job, JobCommand, JobInput};
use relaycode_project::access::Access;
use serde_json::Value;

use crate::driver::program::ProgramProfile;
use crate::driver::version::FriendVersion;
use crate::friend::answer::{FriendAnswer, FriendUsage};
use crate::friend::event::EventSink;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::request::{AskRequest, TurnLimits, TurnMemory};
use crate::friend::{FriendAbilities, SessionSupport};
use classify::{AcpFailureKind, classify_error};
use permissions::AcpDecider;

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

pub(crate) const ABILITIES: FriendAbilities = FriendAbilities {
    reads_files: true,
    writes_files: true,
    streams: true,
    review: false,
    sessions: SessionSupport::Own,
    schema: false,
    access: &[Access::ReadOnly, Access::Workspace, Access::Full],
};

pub(crate) struct AcpRecipe {
    pub(crate) profile: &'static ProgramProfile,
    /// Its program, with everything that holds it to what it may do.
    pub(crate) job: Job,
    pub(crate) capabilities: AcpClientCapabilities,
    /// The mode that it has to say it works in.
    pub(crate) mode: &'static str,
    /// The directory of its session; not the project's where that one would run code of its own.
    pub(crate) directory: PathBuf,
    pub(crate) prompt: String,
    /// Its words when it refuses something by rules that it was given.
    pub(crate) denials: &'static [&'static str],
}

impl AcpRecipe {
    /// Refuses a program that is too old or does not say how old it is, by what it answers.
    fn check_program(&self, request: &AskRequest, world: &FriendContext<'_>) -> Result<(), FriendFailure> {
        let program = match &self.job.command {
            JobCommand::Argv(words) => words.first().cloned().unwrap_or_default(),
            JobCommand::Shell(line) => line.into(),
        };
        self.profile.check_program(program, self.job.environment.clone(), request, world)
    }

    /// It does not speak the protocol. One that is too old fails in ways of its own: better to say what it is.
    fn protocol_failure(
        &self,
        why: String,
        request: &AskRequest,
        world: &FriendContext<'_>,
    ) -> FriendFailure {
        self.check_program(request, world).err().unwrap_or_else(|| self.profile.failed(why))
    }
}

pub(crate) fn check_access(request: &AskRequest, known: &ProgramProfile) -> Result<(), FriendFailure> {
    match ABILITIES.access.contains(&request.access) {
        true => Ok(()),
        false => Err(known.unsupported(format!("work with access `{}`", request.access))),
    }
}

pub(crate) fn run_over_acp(
    recipe: &AcpRecipe,
    request: &AskRequest,
    world: &FriendContext<'_>,
    hear: &mut EventSink<'_>,
) -> Result<FriendAnswer, FriendFailure> {
    let known = recipe.profile;
    if let TurnMemory::Resume(id) = &request.memory
        && !is_session_id(id)
    {
        return Err(known.unknown_session(id));
    }
    let beneath = ConfinedDir::new(&request.directory).map_err(|error| {
        known.failed(format!("{} cannot be opened: {error}", request.directory.display()))
    })?;
    let exec = |source| known.exec_failure(source);
    let mut job = recipe.job.clone();
    job.input = JobInput::Piped;
    job.deadlines = Deadlines { grace: GRACE, ..request.limits.deadlines() };
    let mut agent = AcpAgent::start(&world.runner, &job).map_err(exec)?;
    let mut decider = AcpDecider::new(request.access, beneath, recipe.denials, hear);
    let done = converse(recipe, request, world, &mut agent, &mut decider);
    // One that is to remember writes that down when it ends by itself.
    let remembers = done.is_ok() && request.memory != TurnMemory::None;
    let ended = if remembers { agent.shut_down(LEAVING) } else { agent.end() }.map_err(exec)?;
    if let Some(finished) = ended {
        decider.push_stderr(&finished.stderr.tail);
    }
    match done {
        Ok((session, end)) => answer(recipe, request, session, &end, decider),
        Err(trouble) => Err(trouble),
    }
}

/// Whether something can be the id of a session: some make the name of a file of it.
pub(crate) fn is_session_id(id: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (8..=128).contains(&id.len()) && id.bytes().all(known)
}

/// Everything that is said, up to the end of the prompt.
fn converse(
    recipe: &AcpRecipe,
    request: &AskRequest,
    world: &FriendContext<'_>,
    agent: &mut AcpAgent,
    decider: &mut AcpDecider<'_>,
) -> Result<(AcpSession, AcpPromptResult), FriendFailure> {
    let starting = |limits: &TurnLimits| AcpWaitLimits {
        deadline: Instant::now() + START.min(limits.remaining()),
        idle: START,
        should_stop: world.stop_requested,
    };
    let not_begun =
        |broken: AcpError, decider: &AcpDecider<'_>| start_failure(recipe, request, world, broken, decider);
    let introduced = agent
        .initialize(recipe.capabilities, decider, &starting(&request.limits))
        .map_err(|broken| not_begun(broken, decider))?;
    match introduced.agent_version.as_deref().and_then(FriendVersion::parse) {
        Some(found) => recipe.profile.check_version(found)?,
        None => recipe.check_program(request, world)?,
    }
    let session = match &request.memory {
        TurnMemory::None | TurnMemory::Begin | TurnMemory::Replay(_) => agent
            .new_session(&recipe.directory, decider, &starting(&request.limits))
            .map_err(|broken| not_begun(broken, decider))?,
        TurnMemory::Resume(_) if !introduced.can_load_session => {
            return Err(recipe.profile.unsupported("take up an earlier session; it says so itself"));
        }
        TurnMemory::Resume(id) => resume(recipe, request, world, agent, decider, id)?,
    };
    let got = session.mode.clone().unwrap_or_else(|| "no mode that it would name".to_string());
    if got != recipe.mode {
        let friend = recipe.profile.name.to_string();
        return Err(FriendFailure::AccessMismatch { friend, wanted: request.access, got });
    }
    decider.start_turn();
    let patience = AcpWaitLimits {
        deadline: Instant::now() + request.limits.remaining(),
        idle: request.limits.idle,
        should_stop: world.stop_requested,
    };
    match agent.prompt(&session.id, &recipe.prompt, decider, &patience) {
        Ok(ended) => Ok((session, ended)),
        Err(broken) => Err(prompt_failure(recipe, request, broken, decider)),
    }
}

/// Takes up an earlier session, and lets it say what it remembers.
fn resume(
    recipe: &AcpRecipe,
    request: &AskRequest,
    world: &FriendContext<'_>,
    agent: &mut AcpAgent,
    decider: &mut AcpDecider<'_>,
    id: &str,
) -> Result<AcpSession, FriendFailure> {
    let until = Instant::now() + START.min(request.limits.remaining());
    let patience = AcpWaitLimits { deadline: until, idle: START, should_stop: world.stop_requested };
    let loaded = agent.load_session(id, &recipe.directory, decider, &patience);
    let session = match loaded {
        Ok(session) => session,
        Err(AcpError::Rpc(error)) => {
            let said = classify::error_text(&error);
            return Err(match classify_error(&error) {
                AcpFailureKind::NotSignedIn => recipe.profile.not_signed_in(said),
                _ => recipe.profile.unknown_session(id),
            });
        }
        Err(broken) => return Err(start_failure(recipe, request, world, broken, decider)),
    };
    let patience = AcpWaitLimits {
        deadline: Instant::now() + MOST_SETTLING,
        idle: SETTLED,
        should_stop: world.stop_requested,
    };
    match agent.listen(decider, &patience) {
        AcpError::TimedOut { .. } => Ok(session),
        broken => Err(start_failure(recipe, request, world, broken, decider)),
    }
}

/// Something went wrong before the prompt was sent.
fn start_failure(
    recipe: &AcpRecipe,
    request: &AskRequest,
    world: &FriendContext<'_>,
    broken: AcpError,
    decider: &AcpDecider<'_>,
) -> FriendFailure {
    let ours = matches!(broken, AcpError::Interrupted) || request.limits.remaining().is_zero();
    if let AcpError::Rpc(error) = &broken {
        return match classify_error(error) {
            AcpFailureKind::NotSignedIn => recipe.profile.not_signed_in(classify::error_text(error)),
            _ => recipe.protocol_failure(classify::error_text(error), request, world),
        };
    }
    if let Some(said) = classify::find_sign_in_error(&decider.stderr_text()) {
        return recipe.profile.not_signed_in(said);
    }
    match broken {
        AcpError::Exec(source) => recipe.profile.exec_failure(source),
        AcpError::NotReading => recipe.profile.input_stalled(),
        broken if ours => prompt_failure(recipe, request, broken, decider),
        AcpError::TimedOut { .. } => {
            recipe.protocol_failure(format!("it did not answer within {} s", START.as_secs()), request, world)
        }
        other => recipe.protocol_failure(with_error_excerpt(&other.to_string(), decider), request, world),
    }
}

/// Something went wrong after the prompt was sent, or by our own will.
fn prompt_failure(
    recipe: &AcpRecipe,
    request: &AskRequest,
    broken: AcpError,
    decider: &AcpDecider<'_>,
) -> FriendFailure {
    let friend = recipe.profile.name.to_string();
    if decider.is_answer_too_large() {
        return FriendFailure::AnswerTooLarge { friend, most: permissions::MOST_ANSWER };
    }
    match broken {
        AcpError::Rpc(error) => {
            classify_error(&error).into_failure(recipe.profile, classify::error_text(&error))
        }
        AcpError::TimedOut { idle } => {
            let after = if idle { request.limits.idle } else { request.limits.total };
            FriendFailure::TimedOut { friend, after, idle, said: decider.error_excerpt() }
        }
        AcpError::Abandoned => {
            let said = decider.retry_error().unwrap_or_default().to_string();
            classify::classify_text(&said).into_failure(recipe.profile, said)
        }
        AcpError::Interrupted => FriendFailure::Cancelled { friend },
        AcpError::NotReading => recipe.profile.input_stalled(),
        AcpError::LineTooLong => FriendFailure::AnswerTooLarge { friend, most: MAX_LINE_BYTES },
        AcpError::Exec(source) => recipe.profile.exec_failure(source),
        other => recipe.profile.failed(with_error_excerpt(&other.to_string(), decider)),
    }
}

fn with_error_excerpt(what: &str, decider: &AcpDecider<'_>) -> String {
    match decider.error_excerpt() {
        said if said.is_empty() => what.to_string(),
        said => format!("{what}: {said}"),
    }
}

fn answer(
    recipe: &AcpRecipe,
    request: &AskRequest,
    session: AcpSession,
    end: &AcpPromptResult,
    decider: AcpDecider<'_>,
) -> Result<FriendAnswer, FriendFailure> {
    let friend = recipe.profile.name.to_string();
    let mut remarks = Vec::new();
    match &end.stop_reason {
        AcpStopReason::EndTurn => {}
        AcpStopReason::MaxTokens => {
            remarks.push(format!("{friend} stopped because its model may not write more"))
        }
        AcpStopReason::MaxRequests => {
            remarks.push(format!("{friend} stopped because it may not ask its model more often"));
        }
        AcpStopReason::Refusal => {
            return Err(FriendFailure::Failed { friend, said: "it refuses to do this".to_string() });
        }
        AcpStopReason::Cancelled => {
            let said = with_error_excerpt("it broke off by itself", &decider);
            return Err(FriendFailure::Failed { friend, said });
        }
        AcpStopReason::Other(reason) => remarks.push(format!("{friend} stopped with `{reason}`")),
    }
    let last_words = decider.error_excerpt();
    let (text, declined) = decider.into_parts();
    if text.trim().is_empty() {
        return Err(FriendFailure::NoAnswer { friend, said: last_words });
    }
    let remembered = request.memory != TurnMemory::None;
    Ok(FriendAnswer {
        text,
        session: remembered.then_some(session.id),
        model: model_of(&end.answer).or(session.model),
        declined,
        usage: usage_of(&end.answer),
        transport: "acp",
        remarks,
        ..FriendAnswer::default()
    })
}

/// Tokens: in `usage`, or in what Gemini says beside the protocol.
fn usage_of(answer: &Value) -> Option<FriendUsage> {
    let usage = |value: &Value, input: &str, output: &str| {
        Some(FriendUsage { input: value[input].as_u64()?, output: value[output].as_u64()? })
    };
    usage(&answer["usage"], "inputTokens", "outputTokens")
        .or_else(|| usage(&answer["_meta"]["quota"]["token_count"], "input_tokens", "output_tokens"))
}

fn model_of(answer: &Value) -> Option<String> {
    answer["_meta"]["quota"]["model_usage"][0]["model"].as_str().map(str::to_string)
}
