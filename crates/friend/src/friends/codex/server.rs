//! The way `app-server`: one conversation in JSON-RPC, for one turn.
//!
//! Invariants: codex hears the prompt only after it has said that it works on our terms. Before that, whatever
//! goes wrong may be tried again; after that, only what was asked read-only and not answered in any part.

use std::time::{Duration, Instant};

use relaycode_clients::jsonrpc::{Incoming, Peer, RpcError, Style};
use relaycode_exec::{Finished, Input, Job};
use serde_json::{Value, json};

use super::hear::{Hear, Heard, too_much};
use super::recipe::{Terms, server_arguments};
use super::refuse::refuse;
use super::trouble::{Broken, last_words};
use super::{Codex, KNOWN, answered};
use crate::answer::Answer;
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::last_words::{Tail, ended};
use crate::program::MOST_GARBAGE;
use crate::turn::{Memory, Task, Turn};
use crate::version::Version;
use crate::world::World;

/// What this way is called.
pub(super) const WAY: &str = "app-server";

/// How long codex may take to answer its first request. It takes half a second; a busy machine is slower.
const HELLO: Duration = Duration::from_secs(20);

/// How long it may take to say what it works with.
const TERMS: Duration = Duration::from_secs(30);

/// How long an interrupted turn is waited for.
const INTERRUPT: Duration = Duration::from_millis(300);

/// How long codex may take to end by itself; what it keeps of a session is written by then.
const GOODBYE: Duration = Duration::from_secs(2);

/// A conversation with the app-server.
pub(super) struct Talk<'a> {
    peer: Peer,
    world: &'a World<'a>,
    clock: Clock<'static>,
    heard: Heard,
    garbage: usize,
    errors: Tail,
    /// Where codex keeps what is its own.
    pub(super) home: String,
}

/// Does the turn.
pub(super) fn attempt(
    codex: &Codex,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut Hear<'_>,
) -> Result<Answer, Broken> {
    let terms = Terms::new(turn)?;
    let mut talk = Talk::start(codex, turn, world)?;
    let result = talk.whole(turn, &terms, hear);
    match &result {
        Ok(_) => talk.say_goodbye(),
        Err(_) => talk.end(),
    }
    result
}

impl<'a> Talk<'a> {
    /// Starts codex and says hello. That it is too old is said.
    pub(super) fn start(codex: &Codex, turn: &Turn, world: &'a World<'a>) -> Result<Talk<'a>, Broken> {
        let mut words = vec![codex.program.word()];
        words.extend(server_arguments(&turn.directory));
        let mut job = Job::argv(words, &turn.directory);
        job.environment = codex.environment(world);
        job.input = Input::Open;
        job.deadlines = turn.limits.deadlines();
        let mut talk = Talk {
            peer: Peer::start(&world.runner, &job, Style::Bare)?,
            world,
            clock: Clock::new(KNOWN.name, turn.limits),
            heard: Heard::new(matches!(turn.task, Task::Review { .. })),
            garbage: 0,
            errors: Tail::default(),
            home: String::new(),
        };
        let client = json!({"name": "relay", "title": "relay", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"clientInfo": client, "capabilities": {"experimentalApi": false}});
        let said = talk.ask("initialize", &hello, HELLO)?.map_err(|error| Broken::OtherWay(error.message))?;
        talk.home = said["codexHome"].as_str().unwrap_or_default().to_string();
        match version_of(said["userAgent"].as_str().unwrap_or_default()) {
            Some(found) => KNOWN.check(found)?,
            None => KNOWN.check_program(codex.program.word(), codex.environment(world), turn, world)?,
        }
        talk.peer.tell("initialized", None);
        Ok(talk)
    }

    /// Whether codex needs to be signed in and is not.
    pub(super) fn lacks_account(&mut self) -> Result<bool, Broken> {
        let said = self.ask("account/read", &json!({"refreshToken": false}), TERMS)?;
        // One that does not know the question is asked by its server.
        Ok(said.is_ok_and(|said| said["requiresOpenaiAuth"] == true && said["account"].is_null()))
    }

    fn whole(&mut self, turn: &Turn, terms: &Terms<'_>, hear: &mut Hear<'_>) -> Result<Answer, Broken> {
        if self.lacks_account()? {
            // These are read by `exec` alone.
            if ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"]
                .iter()
                .any(|name| (self.world.variable)(name).is_some())
            {
                return Err(Broken::OtherWay("it takes no key from the environment".to_string()));
            }
            return Err(KNOWN.not_signed_in("it has no account and no key").into());
        }
        let servers = self.tool_servers(turn)?;
        if self.home.is_empty() {
            return Err(KNOWN.failed("it does not say where it keeps its credentials").into());
        }
        let (method, params) = terms.request(&self.home, &servers);
        let echo = self.ask(method, &params, TERMS)?.map_err(|error| no_thread(&turn.memory, &error))?;
        let thread = echo["thread"]["id"].as_str().unwrap_or_default().to_string();
        if let Memory::Resume(id) = &turn.memory
            && !thread.eq_ignore_ascii_case(id)
        {
            return Err(KNOWN.no_session(id).into());
        }
        terms.compare(&echo)?;
        hear(Event::Ready { way: WAY });
        self.say(turn, &thread, hear)?;
        let heard = std::mem::take(&mut self.heard);
        let session = (turn.memory != Memory::None).then_some(thread);
        let answer = Answer {
            text: heard.text,
            session,
            model: echo["model"].as_str().map(str::to_string),
            declined: heard.declined,
            usage: heard.usage,
            way: WAY,
            ..Answer::default()
        };
        Ok(answered(answer, turn, &last_words(&self.errors.text()))?)
    }

    /// The tool servers of the user's and the project's settings: each of them would be started.
    fn tool_servers(&mut self, turn: &Turn) -> Result<Vec<String>, Broken> {
        let params = json!({"includeLayers": false, "cwd": turn.directory.to_str()});
        let said = self.ask("config/read", &params, TERMS)?.map_err(|error| KNOWN.failed(error.message))?;
        let servers = said["config"]["mcp_servers"].as_object();
        Ok(servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default())
    }

    /// Says the prompt, and hears the turn to its end.
    fn say(&mut self, turn: &Turn, thread: &str, hear: &mut Hear<'_>) -> Result<(), Broken> {
        let asked = match &turn.task {
            Task::Prompt(prompt) => {
                let mut params = json!({"threadId": thread, "input": [{"type": "text", "text": prompt}]});
                if let Some(schema) = &turn.schema {
                    params["outputSchema"] = schema.clone();
                }
                self.peer.ask("turn/start", &params)
            }
            Task::Review { base } => {
                let target = json!({"type": "baseBranch", "branch": base});
                self.peer.ask("review/start", &json!({"threadId": thread, "target": target}))
            }
        };
        self.heard.thread = thread.to_string();
        self.clock.lives();
        loop {
            if let Some(failure) = self.over() {
                if let Some(id) = self.heard.turn.take() {
                    self.interrupt(thread, &id);
                }
                return Err(failure.into());
            }
            match self.next()? {
                Incoming::Tells { method, params } => {
                    let over = self.heard.note(&method, &params, &mut self.clock, hear)?;
                    if over {
                        return Ok(());
                    }
                }
                Incoming::Asks { id, method, params } => {
                    self.clock.lives();
                    refuse(&mut self.peer, &id, &method, &params, &mut self.heard, hear);
                }
                Incoming::Answer { id, result } if id == asked => match result {
                    Ok(said) => self.heard.turn = said["turn"]["id"].as_str().map(str::to_string),
                    Err(error) => return Err(KNOWN.failed(last_words(&error.message)).into()),
                },
                Incoming::Over(finished) => {
                    let said = self.died(&finished);
                    if turn.access.may_write() || self.heard.spoke {
                        return Err(KNOWN.failed(said).into());
                    }
                    return Err(Broken::Again(said));
                }
                _ => {}
            }
        }
    }

    /// Asks, and waits for the answer. Nothing that codex does meanwhile is part of a turn.
    fn ask(
        &mut self,
        method: &str,
        params: &Value,
        most: Duration,
    ) -> Result<Result<Value, RpcError>, Broken> {
        let asked = self.peer.ask(method, params);
        let began = Instant::now();
        loop {
            if let Some(failure) = self.over() {
                return Err(failure.into());
            }
            if began.elapsed() >= most {
                // Who hangs once hangs again: the other way is quicker than another wait.
                return Err(Broken::OtherWay(format!(
                    "it did not answer `{method}` in {} s",
                    most.as_secs()
                )));
            }
            match self.next()? {
                Incoming::Answer { id, result } if id == asked => {
                    self.clock.lives();
                    return Ok(result);
                }
                Incoming::Asks { id, method, params } => {
                    refuse(&mut self.peer, &id, &method, &params, &mut self.heard, &mut |_| {});
                }
                Incoming::Over(finished) => return Err(Broken::Again(self.died(&finished))),
                _ => {}
            }
        }
    }

    /// The next that comes, if anything does, in a short time.
    fn next(&mut self) -> Result<Incoming, Broken> {
        // Whether to stop is looked at elsewhere: codex is asked to end its turn first.
        let incoming = self.peer.next(&|| false, TICK);
        self.errors.add(&self.peer.take_errors());
        match incoming? {
            Incoming::TooLong => Err(too_much().into()),
            Incoming::Deaf => Err(KNOWN.not_reading().into()),
            Incoming::Garbage(line) => {
                self.garbage += 1;
                if self.garbage > MOST_GARBAGE {
                    let said = format!("it prints what is no message: {}", last_words(&line));
                    return Err(KNOWN.failed(said).into());
                }
                Ok(Incoming::Nothing)
            }
            incoming => Ok(incoming),
        }
    }

    /// Why it is not waited for any longer.
    fn over(&self) -> Option<Failure> {
        self.clock.over(self.world.stop, || last_words(&self.errors.text()))
    }

    /// Asks codex to end the turn by itself, and gives it a moment.
    fn interrupt(&mut self, thread: &str, turn: &str) {
        self.peer.ask("turn/interrupt", &json!({"threadId": thread, "turnId": turn}));
        let began = Instant::now();
        while began.elapsed() < INTERRUPT {
            match self.peer.next(&|| false, TICK) {
                Ok(Incoming::Tells { method, .. }) if method == "turn/completed" => return,
                Ok(Incoming::Over(_)) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    fn died(&self, finished: &Finished) -> String {
        ended(finished.end, &last_words(&self.errors.text()))
    }

    /// Lets codex end by itself.
    fn say_goodbye(mut self) {
        self.peer.close();
        let began = Instant::now();
        while began.elapsed() < GOODBYE && !(self.world.stop)() {
            match self.peer.next(&|| false, TICK) {
                Ok(Incoming::Over(_)) | Err(_) => return,
                Ok(_) => {}
            }
        }
        self.end();
    }

    /// Ends codex and everything that it started.
    pub(super) fn end(self) {
        // That it could not be watched to its end: the keeper ends it all the same.
        let _ = self.peer.end();
    }
}

/// From the name that the app-server gives itself: `relay/0.166.0 (Debian …)`.
fn version_of(agent: &str) -> Option<Version> {
    Version::read(agent.split_whitespace().next()?.split_once('/')?.1)
}

/// What it means that codex gives no thread.
fn no_thread(memory: &Memory, error: &RpcError) -> Failure {
    match memory {
        Memory::Resume(id)
            if error.message.contains("no rollout found") || error.message.contains("not found") =>
        {
            KNOWN.no_session(id)
        }
        _ => KNOWN.failed(last_words(&error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_read_from_the_name_that_codex_gives_itself() {
        let agent = "relay/0.167.0-alpha.3 (Debian 12.0.0; x86_64) dumb";
        assert_eq!(version_of(agent), Some(Version::new(0, 167, 0)));
        assert_eq!(version_of("something else"), None);
        assert!(version_of("relay/0.99.1 (x)").is_some_and(|found| KNOWN.check(found).is_err()));
    }
}
