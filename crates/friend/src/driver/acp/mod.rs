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
use serde_json::Value;

use super::{FriendVersion, ProgramProfile};
use crate::{
    AskRequest, FriendAbilities, FriendAnswer, FriendContext, FriendFailure, FriendTurn, FriendUsage,
    TurnMemory, TurnResult,
};
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

pub(crate) fn check_access(request: &AskRequest, known: &ProgramProfile) -> TurnResult<()> {
    match FriendAbilities::PROGRAM.access.contains(&request.access) {
        true => Ok(()),
        false => Err(known.unsupported(format!("work with access `{}`", request.access))),
    }
}

pub(crate) fn run_over_acp(recipe: &AcpRecipe, turn: &mut FriendTurn<'_>) -> TurnResult {
    let (known, request) = (recipe.profile, turn.request);
    let run = AcpRun { recipe, known, request, world: turn.world };
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
    let mut agent = AcpAgent::start(&run.world.runner, &job).map_err(exec)?;
    let mut decider = AcpDecider::new(request.access, beneath, recipe.denials, &mut *turn.hear);
    decider.check.clone_from(&request.check);
    let done = run.converse(&mut agent, &mut decider);
    // One that is to remember writes that down when it ends by itself.
    let remembers = done.is_ok() && request.memory != TurnMemory::None;
    let ended = if remembers { agent.shut_down(LEAVING) } else { agent.end() }.map_err(exec)?;
    if let Some(finished) = ended {
        decider.stderr.push(&finished.stderr.tail);
    }
    let (session, end) = done?;
    run.answer(session, &end, decider)
}

/// Whether something can be the id of a session: some make the name of a file of it.
pub(crate) fn is_session_id(id: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (8..=128).contains(&id.len()) && id.bytes().all(known)
}

struct AcpRun<'a> {
    recipe: &'a AcpRecipe,
    known: &'static ProgramProfile,
    request: &'a AskRequest,
    world: &'a FriendContext<'a>,
}

impl AcpRun<'_> {
    /// Everything that is said, up to the end of the prompt.
    fn converse(
        &self,
        agent: &mut AcpAgent,
        decider: &mut AcpDecider<'_>,
    ) -> TurnResult<(AcpSession, AcpPromptResult)> {
        let AcpRun { recipe, known, request, .. } = self;
        let introduced = agent.initialize(recipe.capabilities, decider, &self.start_limits());
        let introduced = introduced.map_err(|broken| self.start_failure(broken, decider))?;
        match introduced.agent_version.as_deref().and_then(FriendVersion::parse) {
            Some(found) => known.check_version(found)?,
            None => self.check_program()?,
        }
        let session = match &request.memory {
            TurnMemory::Resume(_) if !introduced.can_load_session => {
                return Err(known.unsupported("take up an earlier session; it says so itself"));
            }
            TurnMemory::Resume(id) => self.resume(agent, decider, id)?,
            TurnMemory::None | TurnMemory::Begin | TurnMemory::Replay(_) => agent
                .open_session(None, &recipe.directory, decider, &self.start_limits())
                .map_err(|broken| self.start_failure(broken, decider))?,
        };
        let got = session.mode.as_deref().unwrap_or("no mode that it would name");
        if got != recipe.mode {
            return Err(known.access_mismatch(request.access, got));
        }
        decider.start_turn();
        let limits = self.wait_limits(request.limits.remaining(), request.limits.idle);
        match agent.prompt(&session.id, &recipe.prompt, decider, &limits) {
            Ok(ended) => Ok((session, ended)),
            Err(broken) => Err(self.prompt_failure(broken, decider)),
        }
    }

    fn wait_limits(&self, most: Duration, idle: Duration) -> AcpWaitLimits<'_> {
        AcpWaitLimits { deadline: Instant::now() + most, idle, should_stop: self.world.stop_requested }
    }

    fn start_limits(&self) -> AcpWaitLimits<'_> {
        self.wait_limits(START.min(self.request.limits.remaining()), START)
    }

    /// Takes up an earlier session, and lets it say what it remembers.
    fn resume(&self, agent: &mut AcpAgent, decider: &mut AcpDecider<'_>, id: &str) -> TurnResult<AcpSession> {
        let loaded = agent.open_session(Some(id), &self.recipe.directory, decider, &self.start_limits());
        let session = loaded.map_err(|broken| match broken {
            AcpError::Rpc(error) if classify_error(&error) != AcpFailureKind::NotSignedIn => {
                self.known.unknown_session(id)
            }
            broken => self.start_failure(broken, decider),
        })?;
        match agent.listen(decider, &self.wait_limits(MOST_SETTLING, SETTLED)) {
            AcpError::TimedOut { .. } => Ok(session),
            broken => Err(self.start_failure(broken, decider)),
        }
    }

    /// Refuses a program that is too old or does not say how old it is, by what it answers.
    fn check_program(&self) -> TurnResult<()> {
        let job = &self.recipe.job;
        let program = match &job.command {
            JobCommand::Argv(words) => words.first().cloned().unwrap_or_default(),
            JobCommand::Shell(line) => line.into(),
        };
        self.known.check_program(program, job.environment.clone(), self.request, self.world)
    }

    /// It does not speak the protocol. One that is too old fails in ways of its own: better to say what it is.
    fn protocol_failure(&self, why: String) -> FriendFailure {
        self.check_program().err().unwrap_or_else(|| self.known.failed(why))
    }

    /// Something went wrong before the prompt was sent.
    fn start_failure(&self, broken: AcpError, decider: &AcpDecider<'_>) -> FriendFailure {
        let ours = matches!(broken, AcpError::Interrupted) || self.request.limits.remaining().is_zero();
        if let AcpError::Rpc(error) = &broken {
            let said = classify::error_text(error);
            return match classify_error(error) {
                AcpFailureKind::NotSignedIn => self.known.not_signed_in(said),
                _ => self.protocol_failure(said),
            };
        }
        if let Some(said) = classify::find_sign_in_error(&decider.stderr.text()) {
            return self.known.not_signed_in(said);
        }
        match broken {
            AcpError::Exec(_) | AcpError::NotReading => self.prompt_failure(broken, decider),
            broken if ours => self.prompt_failure(broken, decider),
            AcpError::TimedOut { .. } => {
                self.protocol_failure(format!("it did not answer within {} s", START.as_secs()))
            }
            other => self.protocol_failure(with_error_excerpt(&other.to_string(), decider)),
        }
    }

    /// Something went wrong after the prompt was sent, or by our own will.
    fn prompt_failure(&self, broken: AcpError, decider: &AcpDecider<'_>) -> FriendFailure {
        let (known, friend, limits) = (self.known, self.known.name.to_string(), &self.request.limits);
        if decider.too_large {
            return FriendFailure::AnswerTooLarge { friend, most: permissions::MOST_ANSWER };
        }
        match broken {
            AcpError::Rpc(error) => classify_error(&error).into_failure(known, classify::error_text(&error)),
            AcpError::TimedOut { idle } => {
                let after = if idle { limits.idle } else { limits.total };
                FriendFailure::TimedOut { friend, after, idle, said: decider.error_excerpt() }
            }
            AcpError::Abandoned => {
                let said = decider.retry_error().unwrap_or_default().to_string();
                classify::classify_text(&said).into_failure(known, said)
            }
            AcpError::Interrupted => FriendFailure::Cancelled { friend },
            AcpError::NotReading => known.input_stalled(),
            AcpError::LineTooLong => FriendFailure::AnswerTooLarge { friend, most: MAX_LINE_BYTES },
            AcpError::Exec(source) => known.exec_failure(source),
            other => known.failed(with_error_excerpt(&other.to_string(), decider)),
        }
    }

    fn answer(&self, session: AcpSession, end: &AcpPromptResult, decider: AcpDecider<'_>) -> TurnResult {
        let friend = self.known.name.to_string();
        let remark = match &end.stop_reason {
            AcpStopReason::EndTurn => None,
            AcpStopReason::MaxTokens => Some("because its model may not write more".to_string()),
            AcpStopReason::MaxRequests => Some("because it may not ask its model more often".to_string()),
            AcpStopReason::Refusal => return Err(self.known.failed("it refuses to do this")),
            AcpStopReason::Cancelled => {
                return Err(self.known.failed(with_error_excerpt("it broke off by itself", &decider)));
            }
            AcpStopReason::Other(reason) => Some(format!("with `{reason}`")),
        };
        if decider.text.trim().is_empty() {
            return Err(FriendFailure::NoAnswer { friend, said: decider.error_excerpt() });
        }
        let remembered = self.request.memory != TurnMemory::None;
        Ok(FriendAnswer {
            text: decider.text,
            session: remembered.then_some(session.id),
            model: model_of(&end.answer).or(session.model),
            declined: decider.declined,
            usage: usage_of(&end.answer),
            transport: "acp",
            remarks: remark.map(|why| format!("{friend} stopped {why}")).into_iter().collect(),
            ..FriendAnswer::default()
        })
    }
}

fn with_error_excerpt(what: &str, decider: &AcpDecider<'_>) -> String {
    match decider.error_excerpt() {
        said if said.is_empty() => what.to_string(),
        said => format!("{what}: {said}"),
    }
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
