//! The second way, `exec`: one run of `codex exec --json`, the prompt on its input. It exists for two cases and is taken in
//! no other:
//! - `CODEX_API_KEY` and `CODEX_ACCESS_TOKEN`, by which codex is signed in on build machines, are read by `exec` alone; the
//!   app-server says that it has no account (0.154 to 0.166);
//! - codex calls its app-server experimental. One that ends three times before it heard the prompt, or does not answer its
//!   first requests, leaves `exec`, the form that codex keeps for scripts.
//!
//! It says nothing of the sandbox that it works in, so only what was tested is run: the sandbox by name, before
//! the subcommand, without the user's rules. Of what the sandbox refuses, this way tells commands and no patches.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use relaycode_clients::line_process::{LineEvent as Line, LineProcess};
use relaycode_exec::{ExitReason, JobInput, JobOutcome};
use relaycode_project::access::Access;
use serde_json::{Value, json};

use super::error::{classify_error, error_excerpt, report_retry, was_blocked};
use super::events::{MOST_ANSWER, MOST_DECLINED, answer_too_large};
use super::recipe::{CodexTask, exec_arguments, list_arguments};
use super::{Codex, NAME, PROFILE, check_answer};
use crate::driver::{StderrTail, TICK, TurnClock, describe_exit};
use crate::{
    AskRequest, DeclinedAction, DeclinedActionKind, EventSink, FriendAnswer, FriendContext, FriendEvent,
    FriendFailure, FriendTurn, FriendUsage, TurnMemory, TurnResult,
};

pub(super) const TRANSPORT: &str = "exec";

const DECLINES_UNKNOWN: &str = "by `codex exec`, codex does not say every change it was refused";

/// How long it may take to list the tool servers.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn attempt(codex: &Codex, task: CodexTask<'_>, turn: &mut FriendTurn<'_>) -> TurnResult {
    let (request, world) = (turn.request, turn.world);
    let servers = tool_servers(codex, request, world)?;
    let schema = request.schema().map(|schema| TempSchemaFile::write(world, schema)).transpose()?;
    let schema_path = schema.as_ref().map(|slip| slip.0.as_path());
    let mut job = codex.job(exec_arguments(task, request, schema_path, &servers), request, world);
    job.input = match task {
        CodexTask::Prompt(prompt) => JobInput::Bytes(prompt.as_bytes().to_vec()),
        CodexTask::Review(_) => JobInput::Null,
    };
    let mut run = CodexExecRun {
        lines: LineProcess::start(&world.runner, &job).map_err(|source| PROFILE.exec_failure(source))?,
        clock: TurnClock::new(NAME, request.limits),
        answer: FriendAnswer { transport: TRANSPORT, ..FriendAnswer::default() },
        errors: StderrTail::default(),
        failure: None,
        completed: false,
    };
    (turn.hear)(FriendEvent::Ready { transport: TRANSPORT });
    let finished = match run.read_events(turn) {
        Ok(finished) => finished,
        Err(failure) => {
            // That it could not be watched to its end: the keeper ends it all the same.
            let _ = run.lines.end();
            return Err(failure);
        }
    };
    let said = error_excerpt(&run.errors.text());
    if let Some(failure) = run.failure {
        return Err(failure);
    }
    if !finished.reason.is_success() || !run.completed {
        let silent = finished.reason.is_success() && run.answer.text.is_empty();
        return Err(match exit_failure(&finished, &said, &run.errors, request) {
            FriendFailure::Failed { friend, .. } if silent => FriendFailure::NoAnswer { friend, said },
            failure => failure,
        });
    }
    if request.access != Access::Full {
        run.answer.remarks.push(DECLINES_UNKNOWN.to_string());
    }
    check_answer(run.answer, request, said)
}

struct CodexExecRun {
    lines: LineProcess,
    clock: TurnClock<'static>,
    answer: FriendAnswer,
    errors: StderrTail,
    failure: Option<FriendFailure>,
    completed: bool,
}

impl CodexExecRun {
    fn read_events(&mut self, turn: &mut FriendTurn<'_>) -> TurnResult<JobOutcome> {
        loop {
            let last_words = || error_excerpt(&self.errors.text());
            if let Some(failure) = self.clock.check_expired(turn.world.stop_requested, last_words) {
                return Err(failure);
            }
            let heard = self.lines.next(TICK).map_err(|source| PROFILE.exec_failure(source))?;
            self.errors.push(&self.lines.take_stderr());
            match heard {
                Line::Line(line) => {
                    // What is no event is passed over: a shell may print something first.
                    if let Ok(event) = serde_json::from_slice::<Value>(&line) {
                        self.handle_event(&event, turn.request, turn.hear)?;
                    }
                }
                Line::LineTooLong => return Err(answer_too_large()),
                // Nothing is said to it beside the prompt.
                Line::Idle | Line::NotReading => {}
                Line::Exited(finished) => return Ok(*finished),
            }
        }
    }

    fn handle_event(
        &mut self,
        event: &Value,
        request: &AskRequest,
        hear: &mut EventSink<'_>,
    ) -> TurnResult<()> {
        let kind = event["type"].as_str().unwrap_or_default();
        if kind == "error" {
            let said = event["message"].as_str().unwrap_or_default();
            report_retry(&mut self.clock, said, hear);
            return Ok(());
        }
        self.clock.mark_alive();
        let item = &event["item"];
        match kind {
            "thread.started" => self.thread_started(&event["thread_id"], request)?,
            "item.started" if item["type"] == "command_execution" => {
                // What was said before something is done was a remark.
                if !std::mem::take(&mut self.answer.text).is_empty() {
                    hear(FriendEvent::AnswerRestarted);
                }
                hear(FriendEvent::Action(item["command"].as_str().unwrap_or_default().to_string()));
            }
            "item.completed" => self.item_completed(item, hear)?,
            "turn.completed" => {
                let count = |name: &str| event["usage"][name].as_u64().unwrap_or(0);
                let (input, output) = (count("input_tokens"), count("output_tokens"));
                self.answer.usage = Some(FriendUsage { input, output });
                self.completed = true;
            }
            "turn.failed" => self.failure = Some(classify_error(&event["error"])),
            _ => {}
        }
        Ok(())
    }

    fn thread_started(&mut self, thread: &Value, request: &AskRequest) -> TurnResult<()> {
        let thread = thread.as_str().unwrap_or_default();
        match &request.memory {
            // What is said again is for friends that remember nothing by themselves.
            TurnMemory::None | TurnMemory::Replay(_) => {}
            // It began a new one instead.
            TurnMemory::Resume(id) if !thread.eq_ignore_ascii_case(id) => {
                return Err(PROFILE.unknown_session(id));
            }
            TurnMemory::Begin | TurnMemory::Resume(_) => self.answer.session = Some(thread.to_string()),
        }
        Ok(())
    }

    fn item_completed(&mut self, item: &Value, hear: &mut EventSink<'_>) -> TurnResult<()> {
        let text = item["text"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "agent_message" => {
                if !self.answer.text.is_empty() {
                    hear(FriendEvent::AnswerRestarted);
                }
                if text.len() > MOST_ANSWER {
                    return Err(answer_too_large());
                }
                self.answer.text = text.to_string();
                hear(FriendEvent::Text(text.to_string()));
            }
            "command_execution" if was_blocked(item["aggregated_output"].as_str().unwrap_or_default()) => {
                let command = item["command"].as_str().unwrap_or("a command").to_string();
                let declined = DeclinedAction { kind: DeclinedActionKind::Command, what: command };
                hear(FriendEvent::Declined(declined.clone()));
                if self.answer.declined.len() < MOST_DECLINED {
                    self.answer.declined.push(declined);
                }
            }
            "reasoning" => hear(FriendEvent::Thinking(text.to_string())),
            _ => {}
        }
        Ok(())
    }
}

fn exit_failure(job: &JobOutcome, said: &str, errors: &StderrTail, request: &AskRequest) -> FriendFailure {
    if let TurnMemory::Resume(id) = &request.memory
        // With RUST_BACKTRACE set, other lines follow.
        && errors.text().contains("no rollout found")
    {
        return PROFILE.unknown_session(id);
    }
    let how = describe_exit(job.reason, said);
    if said.is_empty() { PROFILE.failed(how) } else { classify_error(&json!({"message": how})) }
}

/// The tool servers of the user's settings: each of them would be started.
fn tool_servers(codex: &Codex, request: &AskRequest, world: &FriendContext<'_>) -> TurnResult<Vec<String>> {
    let mut job = codex.job(list_arguments(&request.directory), request, world);
    job.deadlines.total = Some(LIST_TIMEOUT.min(request.limits.remaining()));
    let finished = world.runner.run(&job, world.stop_requested, &mut |_| {});
    let finished = finished.map_err(|source| PROFILE.exec_failure(source))?;
    if finished.reason == ExitReason::Stopped {
        return Err(FriendFailure::Cancelled { friend: NAME.to_string() });
    }
    let listed: Value = serde_json::from_slice(&finished.stdout.head).unwrap_or(Value::Null);
    match listed.as_array() {
        Some(servers) if finished.reason.is_success() => {
            Ok(servers.iter().filter_map(|server| server["name"].as_str()).map(str::to_string).collect())
        }
        _ => {
            let said = error_excerpt(&finished.stderr.text());
            let said = if said.is_empty() { "it says nothing" } else { &said };
            let what = "`codex mcp list` does not say which tool servers it would start";
            Err(PROFILE.failed(format!("{what}: {said}")))
        }
    }
}

/// A file for the schema, which goes with this value.
struct TempSchemaFile(PathBuf);

impl TempSchemaFile {
    fn write(world: &FriendContext<'_>, schema: &Value) -> TurnResult<TempSchemaFile> {
        let folder = (world.env_var)("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let path = folder.join(format!("relay-schema-{}.json", uuid::Uuid::new_v4().simple()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let slip = TempSchemaFile(path);
        let written = file.and_then(|mut file| file.write_all(schema.to_string().as_bytes()));
        written.map_err(|error| {
            PROFILE.failed(format!("the schema cannot be written to {}: {error}", slip.0.display()))
        })?;
        Ok(slip)
    }
}

impl Drop for TempSchemaFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
