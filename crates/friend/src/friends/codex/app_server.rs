//! The way `app-server`: one conversation in JSON-RPC, for one turn.
//!
//! Invariants: codex hears the prompt only after it has said that it works on our terms. Before that, whatever
//! goes wrong may be tried again; after that, only what was asked read-only and not answered in any part.

use std::time::{Duration, Instant};

use relaycode_clients::jsonrpc::{JsonRpcError, JsonRpcEvent as Event, JsonRpcPeer, JsonRpcStyle};
use relaycode_exec::{JobInput, JobOutcome};
use serde_json::{Value, json};

use super::approvals::decline_request;
use super::error::{AttemptError, error_excerpt};
use super::events::{CodexTurnState, answer_too_large};
use super::recipe::{CodexTask, CodexThreadConfig, server_arguments};
use super::{Codex, PROFILE, check_answer};
use crate::driver::{FriendVersion, MAX_INVALID_LINES, StderrTail, TICK, TurnClock, describe_exit};
use crate::{
    AskRequest, EventSink, FriendAnswer, FriendContext, FriendEvent, FriendFailure, FriendTurn, TurnMemory,
};

pub(super) const TRANSPORT: &str = "app-server";

/// How long codex may take to answer its first request. It takes half a second; a busy machine is slower.
const HELLO_TIMEOUT: Duration = Duration::from_secs(20);

/// How long it may take to say what it works with.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long an interrupted turn is waited for.
const INTERRUPT: Duration = Duration::from_millis(300);

/// How long codex may take to end by itself; what it keeps of a session is written by then.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct AppServerClient<'a> {
    pub(super) peer: JsonRpcPeer,
    world: &'a FriendContext<'a>,
    clock: TurnClock<'static>,
    state: CodexTurnState,
    garbage: usize,
    errors: StderrTail,
    /// Where codex keeps what is its own.
    pub(super) home: String,
}

pub(super) fn attempt(
    codex: &Codex,
    task: CodexTask<'_>,
    turn: &mut FriendTurn<'_>,
) -> Result<FriendAnswer, AttemptError> {
    let terms = CodexThreadConfig::new(turn.request)?;
    let mut talk = AppServerClient::start(codex, turn.request, turn.world)?;
    let result = talk.run_turn(task, &terms, turn.hear);
    // That it could not be watched to its end: the keeper ends it all the same.
    let _ = match &result {
        Ok(_) => talk.peer.lines.shut_down(EXIT_TIMEOUT, turn.world.stop_requested),
        Err(_) => talk.peer.lines.end(),
    };
    result
}

impl<'a> AppServerClient<'a> {
    /// Starts codex and says hello. That it is too old is said.
    pub(super) fn start(
        codex: &Codex,
        request: &AskRequest,
        world: &'a FriendContext<'a>,
    ) -> Result<AppServerClient<'a>, AttemptError> {
        let mut job = codex.job(server_arguments(&request.directory), request, world);
        job.input = JobInput::Piped;
        let mut talk = AppServerClient {
            peer: JsonRpcPeer::start(&world.runner, &job, JsonRpcStyle::Bare)?,
            world,
            clock: TurnClock::new(PROFILE.name, request.limits),
            state: CodexTurnState::default(),
            garbage: 0,
            errors: StderrTail::default(),
            home: String::new(),
        };
        let client = json!({"name": "relay", "title": "relay", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"clientInfo": client, "capabilities": {"experimentalApi": false}});
        let said = talk.request("initialize", &hello, HELLO_TIMEOUT)?;
        let said = said.map_err(|error| AttemptError::Fallback(error.message))?;
        talk.home = said["codexHome"].as_str().unwrap_or_default().to_string();
        match version_of(said["userAgent"].as_str().unwrap_or_default()) {
            Some(found) => PROFILE.check_version(found)?,
            None => codex.check_version(request, world)?,
        }
        talk.peer.notify("initialized", None);
        Ok(talk)
    }

    pub(super) fn lacks_account(&mut self) -> Result<bool, AttemptError> {
        let said = self.request("account/read", &json!({"refreshToken": false}), REQUEST_TIMEOUT)?;
        // One that does not know the question is asked by its server.
        Ok(said.is_ok_and(|said| said["requiresOpenaiAuth"] == true && said["account"].is_null()))
    }

    fn run_turn(
        &mut self,
        task: CodexTask<'_>,
        terms: &CodexThreadConfig<'_>,
        hear: &mut EventSink<'_>,
    ) -> Result<FriendAnswer, AttemptError> {
        let request = terms.request;
        self.state.review = matches!(task, CodexTask::Review(_));
        if self.lacks_account()? {
            // These are read by `exec` alone.
            let keys = ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"];
            if keys.iter().any(|name| (self.world.env_var)(name).is_some()) {
                return Err(AttemptError::Fallback("it takes no key from the environment".to_string()));
            }
            return Err(PROFILE.not_signed_in("it has no account and no key").into());
        }
        let servers = self.tool_servers(request)?;
        if self.home.is_empty() {
            return Err(PROFILE.failed("it does not say where it keeps its credentials").into());
        }
        let (method, params) = terms.params(&self.home, &servers);
        let echo = self.request(method, &params, REQUEST_TIMEOUT)?;
        let echo = echo.map_err(|error| thread_failure(&request.memory, &error))?;
        let thread = echo["thread"]["id"].as_str().unwrap_or_default().to_string();
        if let TurnMemory::Resume(id) = &request.memory
            && !thread.eq_ignore_ascii_case(id)
        {
            return Err(PROFILE.unknown_session(id).into());
        }
        terms.verify_echo(&echo)?;
        hear(FriendEvent::Ready { transport: TRANSPORT });
        self.send_prompt(task, request, &thread, hear)?;
        let heard = std::mem::take(&mut self.state);
        let session = (request.memory != TurnMemory::None).then_some(thread);
        let answer = FriendAnswer {
            text: heard.text,
            session,
            model: echo["model"].as_str().map(str::to_string),
            declined: heard.declined,
            usage: heard.usage,
            transport: TRANSPORT,
            ..FriendAnswer::default()
        };
        Ok(check_answer(answer, request, self.last_words())?)
    }

    /// The tool servers of the user's and the project's settings: each of them would be started.
    fn tool_servers(&mut self, request: &AskRequest) -> Result<Vec<String>, AttemptError> {
        let params = json!({"includeLayers": false, "cwd": request.directory.to_str()});
        let said = self.request("config/read", &params, REQUEST_TIMEOUT)?;
        let said = said.map_err(|error| PROFILE.failed(error.message))?;
        let servers = said["config"]["mcp_servers"].as_object();
        Ok(servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default())
    }

    fn send_prompt(
        &mut self,
        task: CodexTask<'_>,
        request: &AskRequest,
        thread: &str,
        hear: &mut EventSink<'_>,
    ) -> Result<(), AttemptError> {
        let asked = match task {
            CodexTask::Prompt(prompt) => {
                let mut params = json!({"threadId": thread, "input": [{"type": "text", "text": prompt}]});
                if let Some(schema) = request.schema() {
                    params["outputSchema"] = schema.clone();
                }
                self.peer.request("turn/start", &params)
            }
            CodexTask::Review(base) => {
                let target = json!({"type": "baseBranch", "branch": base});
                self.peer.request("review/start", &json!({"threadId": thread, "target": target}))
            }
        };
        self.state.thread = thread.to_string();
        self.clock.mark_alive();
        // What it said while it started is not why the turn fails.
        self.errors.clear();
        loop {
            if let Some(failure) = self.check_expired() {
                if let Some(id) = self.state.turn.take() {
                    self.interrupt(thread, &id);
                }
                return Err(failure.into());
            }
            match self.next_message()? {
                Event::Notification { method, params } => {
                    let over = self.state.handle_notification(&method, &params, &mut self.clock, hear)?;
                    if over {
                        return Ok(());
                    }
                }
                Event::Request { id, method, params } => {
                    self.clock.mark_alive();
                    decline_request(&mut self.peer, &id, &method, &params, &mut self.state, hear);
                }
                Event::Response { id, result } if id == asked => match result {
                    Ok(said) => self.state.turn = said["turn"]["id"].as_str().map(str::to_string),
                    Err(error) => return Err(PROFILE.failed(error_excerpt(&error.message)).into()),
                },
                Event::Exited(finished) => {
                    let said = self.exit_message(&finished);
                    return Err(match request.access.may_write() || self.state.has_output {
                        true => PROFILE.failed(said).into(),
                        false => AttemptError::Retry(said),
                    });
                }
                _ => {}
            }
        }
    }

    /// Asks, and waits for the answer. Nothing that codex does meanwhile is part of a turn.
    fn request(
        &mut self,
        method: &str,
        params: &Value,
        most: Duration,
    ) -> Result<Result<Value, JsonRpcError>, AttemptError> {
        let asked = self.peer.request(method, params);
        let began = Instant::now();
        loop {
            if let Some(failure) = self.check_expired() {
                return Err(failure.into());
            }
            if began.elapsed() >= most {
                // Who hangs once hangs again: the other way is quicker than another wait.
                let seconds = most.as_secs();
                return Err(AttemptError::Fallback(format!("it did not answer `{method}` in {seconds} s")));
            }
            match self.next_message()? {
                Event::Response { id, result } if id == asked => {
                    self.clock.mark_alive();
                    return Ok(result);
                }
                Event::Request { id, method, params } => {
                    decline_request(&mut self.peer, &id, &method, &params, &mut self.state, &mut |_| {});
                }
                Event::Exited(finished) => return Err(AttemptError::Retry(self.exit_message(&finished))),
                _ => {}
            }
        }
    }

    /// The next that comes, if anything does, in a short time.
    fn next_message(&mut self) -> Result<Event, AttemptError> {
        // Whether to stop is looked at elsewhere: codex is asked to end its turn first.
        let incoming = self.peer.next(TICK);
        self.errors.push(&self.peer.lines.take_stderr());
        match incoming? {
            Event::LineTooLong => Err(answer_too_large().into()),
            Event::NotReading => Err(PROFILE.input_stalled().into()),
            Event::Garbage(line) => {
                self.garbage += 1;
                if self.garbage > MAX_INVALID_LINES {
                    let said = format!("it prints what is no message: {}", error_excerpt(&line));
                    return Err(PROFILE.failed(said).into());
                }
                Ok(Event::Idle)
            }
            incoming => Ok(incoming),
        }
    }

    fn check_expired(&self) -> Option<FriendFailure> {
        self.clock.check_expired(self.world.stop_requested, || self.last_words())
    }

    fn interrupt(&mut self, thread: &str, turn: &str) {
        self.peer.request("turn/interrupt", &json!({"threadId": thread, "turnId": turn}));
        let began = Instant::now();
        while began.elapsed() < INTERRUPT {
            match self.peer.next(TICK) {
                Ok(Event::Notification { method, .. }) if method == "turn/completed" => return,
                Ok(Event::Exited(_)) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    fn exit_message(&self, finished: &JobOutcome) -> String {
        describe_exit(finished.reason, &self.last_words())
    }

    fn last_words(&self) -> String {
        error_excerpt(&self.errors.text())
    }
}

/// From the name that the app-server gives itself: `relay/0.166.0 (Debian …)`.
fn version_of(agent: &str) -> Option<FriendVersion> {
    FriendVersion::parse(agent.split_whitespace().next()?.split_once('/')?.1)
}

fn thread_failure(memory: &TurnMemory, error: &JsonRpcError) -> FriendFailure {
    let unknown = error.message.contains("no rollout found") || error.message.contains("not found");
    match memory {
        TurnMemory::Resume(id) if unknown => PROFILE.unknown_session(id),
        _ => PROFILE.failed(error_excerpt(&error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_read_from_the_name_that_codex_gives_itself() {
        let agent = "relay/0.167.0-alpha.3 (Debian 12.0.0; x86_64) dumb";
        assert_eq!(version_of(agent), Some(FriendVersion::new(0, 167, 0)));
        assert_eq!(version_of("something else"), None);
        assert!(version_of("relay/0.99.1 (x)").is_some_and(|found| PROFILE.check_version(found).is_err()));
    }
}
