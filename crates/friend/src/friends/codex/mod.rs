//! Codex, by its app-server, or by `codex exec` where that does not work.
//!
//! A turn is one process. It gets the user's sign-in and provider; it does without their hooks, plugins, apps,
//! tool servers, notifications and update checks, and outside full access without the rules by which they let
//! commands out of the sandbox. The instructions for agents stay, the user's and the project's (`AGENTS.md`):
//! they are words, and what is done by them is confined all the same.
//!
//! Invariant: a prompt is said a second time only if the first may change nothing and nothing of it was answered.

mod app_server;
mod approvals;
mod error;
mod events;
mod exec;

mod recipe;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use relaycode_exec::{ExitReason, Job, JobEnvironment};

use crate::driver::{FriendProgram, FriendVersion, ProgramProfile, TICK, TurnClock, program};
use crate::{
    AskRequest, Friend, FriendAbilities, FriendAnswer, FriendContext, FriendEvent, FriendFailure,
    FriendProbeReport, FriendSandbox, FriendTurn, TurnLimits, TurnResult,
};
use app_server::AppServerClient;
use error::AttemptError;
use recipe::CodexTask;

const NAME: &str = "codex";

const PROFILE: ProgramProfile = ProgramProfile {
    name: NAME,
    oldest: FriendVersion::new(0, 154, 0),
    install: "install it with `npm install -g @openai/codex`",
    sign_in: "run `codex login`",
};

const ATTEMPT_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];

/// What makes codex believe that it runs inside itself. Where its home is, and its keys, are not among them.
const INSIDE_CODEX: &[&str] = &[
    "CODEX_CI",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
];

/// How long its server may take to say whether it needs an account.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(10);

/// What codex says for a reviewer that said nothing.
const NO_REVIEW: &str = "Reviewer failed to output a response.";

/// The friend `codex`.
#[derive(Debug)]
pub struct Codex {
    program: FriendProgram,
}

impl Codex {
    pub const IN_PATH: Codex = Codex { program: FriendProgram::in_path(NAME) };

    pub fn at(program: &Path) -> Codex {
        Codex { program: FriendProgram::with_path(NAME, program) }
    }

    /// A run of codex in the directory of the request.
    fn job(&self, words: Vec<OsString>, request: &AskRequest, world: &FriendContext<'_>) -> Job {
        let words = [self.program.argv0()].into_iter().chain(words);
        let mut job = Job::argv(words, &request.directory);
        job.environment = self.environment(world);
        job.deadlines = request.limits.deadlines();
        job
    }

    fn environment(&self, world: &FriendContext<'_>) -> JobEnvironment {
        let mut environment = world.child_environment();
        environment.remove.extend(INSIDE_CODEX.iter().map(OsString::from));
        environment
    }

    /// By its own status; a provider of the user's own needs none.
    fn signed_in(&self, world: &FriendContext<'_>) -> Option<bool> {
        let words = [self.program.argv0(), "login".into(), "status".into()];
        let finished = program::run_program(world, words, self.environment(world)).ok()?;
        if finished.reason.is_success() {
            return Some(true);
        }
        if finished.reason != ExitReason::Exited(1) {
            return None;
        }
        let limits = TurnLimits::new(ACCOUNT_TIMEOUT, ACCOUNT_TIMEOUT);
        let request = AskRequest::new("", PathBuf::from("/"), limits);
        let mut talk = AppServerClient::start(self, &request, world).ok()?;
        let lacks = talk.lacks_account();
        let _ = talk.peer.lines.end();
        // Whether the provider's own key is right, only the provider knows.
        if lacks.ok()? { Some((world.env_var)("CODEX_API_KEY").is_some()) } else { None }
    }

    fn check_version(&self, request: &AskRequest, world: &FriendContext<'_>) -> TurnResult<()> {
        PROFILE.check_program(self.program.argv0(), self.environment(world), request, world)
    }
}

impl Friend for Codex {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities {
            review: true,
            schema: true,
            sandbox: FriendSandbox::Own,
            ..FriendAbilities::PROGRAM
        }
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        let Some(found) = self.program.find(world) else { return PROFILE.missing_report() };
        let version = program::program_version(world, self.program.argv0(), self.environment(world));
        PROFILE.installed_report(found.display().to_string(), version, || self.signed_in(world))
    }

    fn check_installed(&self, world: &FriendContext<'_>) -> TurnResult<()> {
        self.program.require(world, PROFILE.install)
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        self.run_task(CodexTask::Prompt(prompt), turn)
    }

    fn run_review(&self, base: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        self.run_task(CodexTask::Review(base), turn)
    }
}

impl Codex {
    fn run_task(&self, task: CodexTask<'_>, turn: &mut FriendTurn<'_>) -> TurnResult {
        recipe::check_task(task, turn.request)?;
        let mut why = String::new();
        for (at, pause) in ATTEMPT_PAUSES.into_iter().enumerate() {
            wait_before_attempt(pause, turn)?;
            match app_server::attempt(self, task, turn) {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Fatal(failure)) => return Err(failure),
                Err(AttemptError::Retry(said)) => {
                    if at + 1 < ATTEMPT_PAUSES.len() {
                        (turn.hear)(FriendEvent::Retrying(said.clone()));
                    }
                    why = said;
                }
                Err(AttemptError::Fallback(said)) => {
                    why = said;
                    break;
                }
            }
        }
        self.check_version(turn.request, turn.world)?;
        let (tried, used) = (app_server::TRANSPORT, exec::TRANSPORT);
        (turn.hear)(FriendEvent::Fallback(format!("{tried} does not work ({why}); {used} is used")));
        exec::attempt(self, task, turn)
    }
}

/// Waits before another attempt, unless there is no point in it.
fn wait_before_attempt(pause: Duration, turn: &FriendTurn<'_>) -> TurnResult<()> {
    let began = Instant::now();
    let clock = TurnClock::new(NAME, turn.request.limits);
    loop {
        if let Some(failure) = clock.check_expired(turn.world.stop_requested, String::new) {
            return Err(failure);
        }
        if began.elapsed() >= pause {
            return Ok(());
        }
        thread::sleep(TICK.min(pause));
    }
}

/// The answer, if it is one.
fn check_answer(mut answer: FriendAnswer, request: &AskRequest, said: String) -> TurnResult {
    let friend = NAME.to_string();
    if matches!(answer.text.trim(), "" | NO_REVIEW) {
        return Err(FriendFailure::NoAnswer { friend, said });
    }
    if request.schema().is_some() {
        match serde_json::from_str(&answer.text) {
            Ok(value) => answer.value = Some(value),
            Err(error) => {
                let fault = format!("it is no JSON ({error})");
                return Err(FriendFailure::SchemaMismatch { friend, fault, text: answer.text });
            }
        }
    }
    Ok(answer)
}
