//! The way `exec`: one run of `codex exec --json`, the prompt on its input.
//!
//! It says nothing of the sandbox that it works in, so only what was tested is run: the sandbox by name, before
//! the subcommand, without the user's rules. What the sandbox refuses, this way does not tell.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_clients::lines::{Heard as Line, Lines};
use relaycode_exec::{Deadlines, End, Finished, Input, Job};
use relaycode_project::access::Access;
use serde_json::{Value, json};

use super::hear::{Hear, MOST_ANSWER, too_much};
use super::recipe::{list_arguments, run_arguments};
use super::trouble::{failure_of, last_words, tries_again};
use super::{Codex, KNOWN, NAME, answered};
use crate::answer::{Answer, Usage};
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::last_words::{Tail, ended};
use crate::turn::{GRACE, Memory, Task, Turn};
use crate::world::World;

/// What this way is called.
pub(super) const WAY: &str = "exec";

/// What a person should know of an answer that came by this way.
const SILENT: &str = "by `codex exec`, codex does not say what it was refused";

/// How long it may take to list the tool servers.
const LIST: Duration = Duration::from_secs(20);

/// Does the turn.
pub(super) fn attempt(
    codex: &Codex,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut Hear<'_>,
) -> Result<Answer, Failure> {
    let servers = tool_servers(codex, turn, world)?;
    let schema = turn.schema.as_ref().map(|schema| Slip::write(world, schema)).transpose()?;
    let mut words = vec![codex.program.word()];
    words.extend(run_arguments(turn, schema.as_ref().map(|slip| slip.0.as_path()), &servers));
    let mut job = Job::argv(words, &turn.directory);
    job.environment = codex.environment(world);
    job.input = match &turn.task {
        Task::Prompt(prompt) => Input::Bytes(prompt.clone().into_bytes()),
        Task::Review { .. } => Input::Nothing,
    };
    job.deadlines = turn.limits.deadlines();
    let mut run = Run {
        lines: Lines::start(&world.runner, &job).map_err(|source| KNOWN.not_run(source))?,
        clock: Clock::new(NAME, turn.limits),
        answer: Answer { way: WAY, ..Answer::default() },
        errors: Tail::default(),
        failure: None,
        completed: false,
    };
    hear(Event::Ready { way: WAY });
    let finished = match run.hear_out(turn, world, hear) {
        Ok(finished) => finished,
        Err(failure) => {
            // That it could not be watched to its end: the keeper ends it all the same.
            let _ = run.lines.end();
            return Err(failure);
        }
    };
    let said = last_words(&run.errors.text());
    if let Some(failure) = run.failure {
        return Err(failure);
    }
    if !finished.end.is_success() || !run.completed {
        let silent = finished.end.is_success() && run.answer.text.is_empty();
        return Err(match ended_badly(&finished, &said, &run.errors, turn) {
            Failure::Failed { friend, .. } if silent => Failure::NoAnswer { friend, said },
            failure => failure,
        });
    }
    if turn.access != Access::Full {
        run.answer.remarks.push(SILENT.to_string());
    }
    answered(run.answer, turn, &said)
}

/// A run as it goes.
struct Run {
    lines: Lines,
    clock: Clock<'static>,
    answer: Answer,
    errors: Tail,
    failure: Option<Failure>,
    completed: bool,
}

impl Run {
    fn hear_out(&mut self, turn: &Turn, world: &World<'_>, hear: &mut Hear<'_>) -> Result<Finished, Failure> {
        loop {
            if let Some(failure) = self.clock.over(world.stop, || last_words(&self.errors.text())) {
                return Err(failure);
            }
            let heard = self.lines.next(&|| false, TICK).map_err(|source| KNOWN.not_run(source))?;
            self.errors.add(&self.lines.take_errors());
            match heard {
                Line::Line(line) => {
                    // What is no event is passed over: a shell may print something first.
                    if let Ok(event) = serde_json::from_slice::<Value>(&line) {
                        self.note(&event, turn, hear)?;
                    }
                }
                Line::TooLong => return Err(too_much()),
                // Nothing is said to it beside the prompt.
                Line::Nothing | Line::Deaf => {}
                Line::Over(finished) => return Ok(*finished),
            }
        }
    }

    fn note(&mut self, event: &Value, turn: &Turn, hear: &mut Hear<'_>) -> Result<(), Failure> {
        let kind = event["type"].as_str().unwrap_or_default();
        if kind == "error" {
            let said = event["message"].as_str().unwrap_or_default();
            tries_again(&mut self.clock, said, hear);
            return Ok(());
        }
        self.clock.lives();
        match kind {
            "thread.started" => self.begins(event["thread_id"].as_str().unwrap_or_default(), turn)?,
            "item.started" if event["item"]["type"] == "command_execution" => {
                // What was said before something is done was a remark.
                if !std::mem::take(&mut self.answer.text).is_empty() {
                    hear(Event::Anew);
                }
                hear(Event::Doing(event["item"]["command"].as_str().unwrap_or_default().to_string()));
            }
            "item.completed" => self.completes(&event["item"], hear)?,
            "turn.completed" => {
                let count = |name: &str| event["usage"][name].as_u64().unwrap_or(0);
                self.answer.usage =
                    Some(Usage { input: count("input_tokens"), output: count("output_tokens") });
                self.completed = true;
            }
            "turn.failed" => self.failure = Some(failure_of(&event["error"])),
            _ => {}
        }
        Ok(())
    }

    fn begins(&mut self, thread: &str, turn: &Turn) -> Result<(), Failure> {
        match &turn.memory {
            // What is said again is for friends that remember nothing by themselves.
            Memory::None | Memory::Replay(_) => {}
            Memory::Begin => self.answer.session = Some(thread.to_string()),
            Memory::Resume(id) if thread.eq_ignore_ascii_case(id) => {
                self.answer.session = Some(thread.to_string());
            }
            // It began a new one instead.
            Memory::Resume(id) => {
                return Err(KNOWN.no_session(id));
            }
        }
        Ok(())
    }

    fn completes(&mut self, item: &Value, hear: &mut Hear<'_>) -> Result<(), Failure> {
        let text = item["text"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "agent_message" => {
                if !self.answer.text.is_empty() {
                    hear(Event::Anew);
                }
                if text.len() > MOST_ANSWER {
                    return Err(too_much());
                }
                self.answer.text = text.to_string();
                hear(Event::Text(text.to_string()));
            }
            "reasoning" => hear(Event::Thinking(text.to_string())),
            _ => {}
        }
        Ok(())
    }
}

fn ended_badly(finished: &Finished, said: &str, errors: &Tail, turn: &Turn) -> Failure {
    if let Memory::Resume(id) = &turn.memory
        // With RUST_BACKTRACE set, other lines follow.
        && errors.text().contains("no rollout found")
    {
        return KNOWN.no_session(id);
    }
    let how = ended(finished.end, said);
    if said.is_empty() { KNOWN.failed(how) } else { failure_of(&json!({"message": how})) }
}

/// The tool servers of the user's settings: each of them would be started.
fn tool_servers(codex: &Codex, turn: &Turn, world: &World<'_>) -> Result<Vec<String>, Failure> {
    let mut words = vec![codex.program.word()];
    words.extend(list_arguments(&turn.directory));
    let mut job = Job::argv(words, &turn.directory);
    job.environment = codex.environment(world);
    job.deadlines = Deadlines { total: Some(LIST.min(turn.limits.left())), idle: None, grace: GRACE };
    let finished = world.runner.run(&job, world.stop, &mut |_| {}).map_err(|source| KNOWN.not_run(source))?;
    if finished.end == End::Stopped {
        return Err(Failure::Cancelled { friend: NAME.to_string() });
    }
    let listed: Value = serde_json::from_slice(&finished.stdout.head).unwrap_or(Value::Null);
    match listed.as_array() {
        Some(servers) if finished.end.is_success() => {
            Ok(servers.iter().filter_map(|server| server["name"].as_str()).map(str::to_string).collect())
        }
        _ => {
            let said = match last_words(&finished.stderr.text()) {
                said if said.is_empty() => "it says nothing".to_string(),
                said => said,
            };
            Err(KNOWN
                .failed(format!("`codex mcp list` does not say which tool servers it would start: {said}")))
        }
    }
}

/// A file for the schema, which goes with this value.
struct Slip(PathBuf);

impl Slip {
    fn write(world: &World<'_>, schema: &Value) -> Result<Slip, Failure> {
        let folder = (world.variable)("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let path = folder.join(format!("relay-schema-{}.json", uuid::Uuid::new_v4().simple()));
        let written = write_new(&path, schema.to_string().as_bytes());
        let slip = Slip(path);
        written.map_err(|error| {
            KNOWN.failed(format!("the schema cannot be written to {}: {error}", slip.0.display()))
        })?;
        Ok(slip)
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

impl Drop for Slip {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
