//! relay's own agent as a friend: `relay run` of this very program, the prompt on its input, its events as lines of JSON. It is
//! confined by its access level alone, as it always is: read-only it has no way to write, in a copy it works on the copy.

use std::ffi::OsString;

use relaycode_clients::line_process::{LineEvent, LineProcess};
use relaycode_exec::{Job, JobInput};
use relaycode_project::access::Access;
use serde_json::Value;

use crate::driver::stderr_tail::error_excerpt;
use crate::driver::{StderrTail, TICK, TurnClock, describe_exit};
use crate::{
    DeclinedAction, DeclinedActionKind, Friend, FriendAbilities, FriendAnswer, FriendContext, FriendEvent,
    FriendFailure, FriendProbeReport, FriendSandbox, FriendTurn, FriendUsage, TurnMemory, TurnResult,
};

const NAME: &str = "self";
/// How it is reached.
const TRANSPORT: &str = "run";
/// Characters of the title of a session.
const MAX_TITLE: usize = 80;
/// Refusals that are named.
const MOST_DECLINED: usize = 100;

pub(super) static RELAY_SELF: RelaySelf = RelaySelf;

/// The friend `self`.
#[derive(Debug)]
pub(super) struct RelaySelf;

impl Friend for RelaySelf {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        const ACCESS: &[Access] = &[Access::ReadOnly, Access::Workspace];
        // It puts each command of its own into the fence.
        FriendAbilities { sandbox: FriendSandbox::Own, access: ACCESS, ..FriendAbilities::PROGRAM }
    }

    fn probe(&self, _world: &FriendContext<'_>) -> FriendProbeReport {
        let found = std::env::current_exe().ok().map(|path| path.display().to_string());
        let version = Some(env!("CARGO_PKG_VERSION").to_string());
        FriendProbeReport { found, version, ..FriendProbeReport::default() }
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let (request, world) = (turn.request, turn.world);
        let own =
            std::env::current_exe().map_err(|error| failed(format!("relay cannot find itself: {error}")))?;
        let mut words: Vec<OsString> =
            vec![own.into(), "run".into(), "--json".into(), "--access".into(), request.access.name().into()];
        if let Some(model) = &request.model {
            words.extend(["--model".into(), model.into()]);
        }
        match &request.memory {
            TurnMemory::Resume(id) => words.extend(["--resume".into(), id.into()]),
            // Apart from what the user works on, and called after what they asked.
            _ => {
                let first = request.prompt.lines().map(str::trim).find(|line| !line.is_empty());
                let title: String = first.unwrap_or("(no words)").chars().take(MAX_TITLE).collect();
                words.push(format!("--as-friend={title}").into());
            }
        }
        words.push("-".into());
        let mut job = Job::argv(words, &request.directory);
        job.environment = world.child_environment();
        job.deadlines = request.limits.deadlines();
        job.input = JobInput::Bytes(prompt.as_bytes().to_vec());
        let lines = LineProcess::start(&world.runner, &job).map_err(exec_failure)?;
        let answer = FriendAnswer { transport: TRANSPORT, ..FriendAnswer::default() };
        let mut run = SelfRun { lines, answer, words: String::new(), result: None };
        (turn.hear)(FriendEvent::Ready { transport: TRANSPORT });
        match run.read_events(turn) {
            Ok(ended) => run.finish(ended, turn),
            Err(failure) => {
                // That it could not be watched to its end: the keeper ends it all the same.
                let _ = run.lines.end();
                Err(failure)
            }
        }
    }
}

struct SelfRun {
    lines: LineProcess,
    answer: FriendAnswer,
    /// What it said since it last did something.
    words: String,
    result: Option<Value>,
}

impl SelfRun {
    /// Until it has ended; how it ended.
    fn read_events(&mut self, turn: &mut FriendTurn<'_>) -> TurnResult<String> {
        let mut clock = TurnClock::new(NAME, turn.request.limits);
        let mut errors = StderrTail::default();
        let excerpt = |errors: &StderrTail| error_excerpt(&errors.text(), |_| true);
        loop {
            if let Some(failure) = clock.check_expired(turn.world.stop_requested, || excerpt(&errors)) {
                return Err(failure);
            }
            let heard = self.lines.next(TICK).map_err(exec_failure)?;
            errors.push(&self.lines.take_stderr());
            match heard {
                LineEvent::Line(line) => {
                    clock.mark_alive();
                    if let Ok(event) = serde_json::from_slice::<Value>(&line) {
                        self.take_event(event, turn);
                    }
                }
                // A result of a tool that is too long to be read here is only shown.
                LineEvent::LineTooLong | LineEvent::Idle | LineEvent::NotReading => {}
                LineEvent::Exited(job) => return Ok(describe_exit(job.reason, &excerpt(&errors))),
            }
        }
    }

    fn take_event(&mut self, mut event: Value, turn: &mut FriendTurn<'_>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        match event["type"].as_str() {
            Some("agent_start") => self.answer.model = Some(text(&event["model"])),
            Some("message_update") => {
                let update = &event["update"];
                let delta = text(&update["delta"]);
                match update["type"].as_str() {
                    Some("text_delta") => {
                        self.words.push_str(&delta);
                        (turn.hear)(FriendEvent::Text(delta));
                    }
                    Some("thinking_delta") => (turn.hear)(FriendEvent::Thinking(delta)),
                    _ => {}
                }
            }
            Some("tool_execution_start") => {
                // What was said before something is done was a remark.
                if !std::mem::take(&mut self.words).is_empty() {
                    (turn.hear)(FriendEvent::AnswerRestarted);
                }
                (turn.hear)(FriendEvent::Action(text(&event["toolName"])));
            }
            Some("tool_execution_end") if event["isError"] == true => self.take_refusal(&event, turn),
            Some("request_retry" | "auto_retry_start") => {
                (turn.hear)(FriendEvent::Retrying(text(&event["errorMessage"])));
            }
            Some("result") => self.result = Some(event),
            // A failure is an object of another form.
            None if event["ok"] == false => self.result = Some(event.take()),
            _ => {}
        }
    }

    /// A tool that writes and was refused where nothing may be written.
    fn take_refusal(&mut self, event: &Value, turn: &mut FriendTurn<'_>) {
        let name = event["toolName"].as_str().unwrap_or_default();
        let kind = match name {
            "write" | "edit" => DeclinedActionKind::Write,
            "bash" => DeclinedActionKind::Command,
            _ => return,
        };
        if turn.request.access.may_write() {
            return;
        }
        let what = event["card"]["title"].as_str().filter(|title| !title.is_empty()).unwrap_or(name);
        let declined = DeclinedAction { kind, what: what.to_string() };
        if self.answer.declined.len() < MOST_DECLINED {
            self.answer.declined.push(declined.clone());
        }
        (turn.hear)(FriendEvent::Declined(declined));
    }

    fn finish(self, ended: String, turn: &FriendTurn<'_>) -> TurnResult {
        let SelfRun { mut answer, result, .. } = self;
        let Some(result) = result else { return Err(failed(ended)) };
        let friend = NAME.to_string();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        if result["ok"] != true {
            let (said, hint) = (text(&result["error"]["message"]), text(&result["error"]["hint"]));
            return Err(match (result["code"].as_u64(), result["error"]["kind"].as_str()) {
                (_, Some("noKey")) => FriendFailure::NotSignedIn { friend, said, hint },
                (_, Some("session" | "noSession"))
                    if matches!(turn.request.memory, TurnMemory::Resume(_)) =>
                {
                    let TurnMemory::Resume(id) = &turn.request.memory else { return Err(failed(said)) };
                    FriendFailure::UnknownSession { friend, id: id.clone() }
                }
                (Some(11), _) => FriendFailure::NoAnswer { friend, said },
                (Some(130), _) => FriendFailure::Cancelled { friend },
                _ => failed(said),
            });
        }
        answer.text = text(&result["answer"]);
        if matches!(turn.request.memory, TurnMemory::Begin | TurnMemory::Resume(_)) {
            answer.session = Some(text(&result["session"])).filter(|id| !id.is_empty());
        }
        let count = |name: &str| result["usage"][name].as_u64().unwrap_or(0);
        let input = count("input") + count("cacheRead") + count("cacheWrite");
        answer.usage = Some(FriendUsage { input, output: count("output") });
        if answer.text.trim().is_empty() {
            return Err(FriendFailure::NoAnswer { friend, said: ended });
        }
        Ok(answer)
    }
}

fn failed(said: impl Into<String>) -> FriendFailure {
    FriendFailure::Failed { friend: NAME.to_string(), said: said.into() }
}

fn exec_failure(source: relaycode_exec::ExecError) -> FriendFailure {
    FriendFailure::Exec { friend: NAME.to_string(), source }
}
