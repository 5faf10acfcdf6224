//! The conversation with an agent: one request of ours at a time, and whatever it asks and tells meanwhile.
//!
//! Every wait ends: at a deadline, after a silence, when somebody wants everything to stop, when the agent ends,
//! or when it sends what no agent sends. What is printed and is no message is passed over, and is no sign of life.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Finished, Job, Runner};
use serde_json::{Value, json};

use super::decide::{Decide, Permission, Refused, Verdict};
use super::session::{Capabilities, Introduced, Session, Stop};
use super::update::Update;
use crate::jsonrpc::{Incoming, METHOD_NOT_FOUND, Peer, RpcError, Style};

/// Lines that are no messages, in all; whoever prints more is no agent.
const MOST_GARBAGE: usize = 10_000;

/// How often it is looked whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// How long an agent gets to end a prompt that is broken off.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// An id that no request of ours has.
const NEVER_ASKED: u64 = u64::MAX;

/// An agent that runs.
#[derive(Debug)]
pub struct Agent {
    peer: Peer,
    garbage: usize,
}

/// How long something is waited for.
pub struct Patience<'a> {
    /// Not longer than this.
    pub until: Instant,
    /// Not longer than this without a message.
    pub idle: Duration,
    /// Whether somebody wants everything to stop. Asked often.
    pub stop: &'a dyn Fn() -> bool,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Why.
    pub stop: Stop,
    /// All that it answered, for what agents say beside the protocol.
    pub answer: Value,
}

/// Why something came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The agent says no.
    #[error("{0}")]
    Said(RpcError),
    /// It has ended.
    #[error("it ended in the middle of the conversation")]
    Over(Box<Finished>),
    /// It took too long; `idle`: it said nothing for too long.
    #[error("it took too long")]
    Late {
        /// It said nothing for too long.
        idle: bool,
    },
    /// Somebody wants everything to stop.
    #[error("it was interrupted")]
    Stopped,
    /// Whoever decides has heard enough ([`Decide::enough`]).
    #[error("it was given up")]
    Enough,
    /// It sent a line that is longer than any may be.
    #[error("it sent more in one line than is read")]
    TooLong,
    /// It does not read what it is answered.
    #[error("it does not read what it is answered")]
    Deaf,
    /// It does not speak the protocol.
    #[error("{0}")]
    Strange(String),
    /// It could not be started or watched.
    #[error("{0}")]
    Exec(#[from] ExecError),
}

impl Agent {
    /// Starts an agent. Its [`Job::input`] should be [`relaycode_exec::Input::Open`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job) -> Result<Agent, ExecError> {
        Ok(Agent { peer: Peer::start(runner, job, Style::Versioned)?, garbage: 0 })
    }

    /// Says who we are and what we do for it, and hears who it is.
    ///
    /// # Errors
    /// Why not; also if it speaks another version of the protocol.
    pub fn initialize(
        &mut self,
        can: Capabilities,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Introduced, Broken> {
        let introduced = Introduced::read(&self.call("initialize", &can.params(), decide, patience)?);
        if introduced.version == super::VERSION {
            return Ok(introduced);
        }
        Err(Broken::Strange(format!(
            "it speaks version {} of the Agent Client Protocol, relay speaks {}",
            introduced.version,
            super::VERSION
        )))
    }

    /// Begins a session in a directory.
    ///
    /// # Errors
    /// Why not.
    pub fn new_session(
        &mut self,
        directory: &Path,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Session, Broken> {
        let params = json!({"cwd": directory.to_string_lossy(), "mcpServers": []});
        let answer = self.call("session/new", &params, decide, patience)?;
        Session::read(&answer, None).ok_or_else(|| Broken::Strange("it began a session without an id".into()))
    }

    /// Takes up an earlier session. What was said in it comes again as updates, before this returns or after.
    ///
    /// # Errors
    /// Why not.
    pub fn load_session(
        &mut self,
        id: &str,
        directory: &Path,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Session, Broken> {
        let params = json!({"sessionId": id, "cwd": directory.to_string_lossy(), "mcpServers": []});
        let answer = self.call("session/load", &params, decide, patience)?;
        Session::read(&answer, Some(id))
            .ok_or_else(|| Broken::Strange("it took up a session without an id".into()))
    }

    /// Gives a session a prompt, and waits for its end. If it is broken off, the agent is told, and gets half a
    /// second to hear it.
    ///
    /// # Errors
    /// Why there is no end.
    pub fn prompt(
        &mut self,
        session: &str,
        text: &str,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Ended, Broken> {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let id = self.peer.ask("session/prompt", &params);
        let ended = self.answer_to(id, decide, patience);
        if matches!(ended, Err(Broken::Stopped | Broken::Enough | Broken::Late { .. })) {
            self.cancel(session, id);
        }
        let answer = ended?;
        Ok(Ended { stop: Stop::read(&answer), answer })
    }

    /// Hears and answers while nothing is asked of it; says why that ended: usually because the patience did.
    pub fn listen(&mut self, decide: &mut dyn Decide, patience: &Patience<'_>) -> Broken {
        match self.answer_to(NEVER_ASKED, decide, patience) {
            Err(broken) => broken,
            Ok(_) => Broken::Strange("it answers what nobody asked".to_string()),
        }
    }

    /// Says nothing more and lets the agent end by itself, so that it can write down what it remembers; after
    /// `most` it is ended.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn leave(mut self, most: Duration) -> Result<Option<Finished>, ExecError> {
        self.peer.close();
        let until = Instant::now() + most;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            if let Incoming::Over(finished) = self.peer.next(&|| false, left)? {
                return Ok(Some(*finished));
            }
        }
        self.peer.end()
    }

    /// Ends the agent and everything that it started.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(mut self) -> Result<Option<Finished>, ExecError> {
        self.peer.close();
        self.peer.end()
    }

    /// Asks something, and waits for the answer.
    fn call(
        &mut self,
        method: &str,
        params: &Value,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Value, Broken> {
        let id = self.peer.ask(method, params);
        self.answer_to(id, decide, patience)
    }

    fn answer_to(
        &mut self,
        id: u64,
        decide: &mut dyn Decide,
        patience: &Patience<'_>,
    ) -> Result<Value, Broken> {
        let mut heard = Instant::now();
        loop {
            if (patience.stop)() {
                return Err(Broken::Stopped);
            }
            if decide.enough() {
                return Err(Broken::Enough);
            }
            let left = patience.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Broken::Late { idle: false });
            }
            if heard.elapsed() >= patience.idle {
                return Err(Broken::Late { idle: true });
            }
            let next = self.peer.next(&|| false, TICK.min(left))?;
            let errors = self.peer.take_errors();
            if !errors.is_empty() {
                decide.errors(&errors);
            }
            match next {
                Incoming::Answer { id: theirs, result } if theirs == id => {
                    return result.map_err(Broken::Said);
                }
                Incoming::Asks { id, method, params } => self.serve(&id, &method, &params, decide),
                Incoming::Tells { method, params } if method == "session/update" => {
                    let (session, update) = Update::read(&params);
                    decide.hear(&session, update);
                }
                // The answer to something that nobody waits for any more; news of a kind that is not known.
                Incoming::Answer { .. } | Incoming::Tells { .. } => {}
                Incoming::Garbage(_) => {
                    self.garbage += 1;
                    if self.garbage > MOST_GARBAGE {
                        return Err(Broken::Strange("it prints what is no message, again and again".into()));
                    }
                    continue;
                }
                Incoming::TooLong => return Err(Broken::TooLong),
                Incoming::Deaf => return Err(Broken::Deaf),
                Incoming::Over(finished) => return Err(Broken::Over(finished)),
                Incoming::Nothing => continue,
            }
            heard = Instant::now();
        }
    }

    fn serve(&mut self, id: &Value, method: &str, params: &Value, decide: &mut dyn Decide) {
        let text = |name: &str| params[name].as_str();
        let missing = |name: &str| Refused { code: -32602, message: format!("`{name}` is missing") };
        let served = match method {
            "session/request_permission" => {
                let asked = Permission::read(params);
                let verdict = decide.may(&asked);
                Ok(asked.answer(verdict))
            }
            "fs/read_text_file" => text("path").ok_or_else(|| missing("path")).and_then(|path| {
                let content = decide.read(path, params["line"].as_u64(), params["limit"].as_u64())?;
                Ok(json!({"content": content}))
            }),
            "fs/write_text_file" => match (text("path"), text("content")) {
                (Some(path), Some(content)) => decide.write(path, content).map(|()| Value::Null),
                (None, _) => Err(missing("path")),
                (_, None) => Err(missing("content")),
            },
            _ => Err(Refused { code: METHOD_NOT_FOUND, message: format!("relay does not do {method}") }),
        };
        match served {
            Ok(result) => self.peer.answer(id, &result),
            Err(refused) => self.peer.refuse(id, refused.code, &refused.message),
        }
    }

    fn cancel(&mut self, session: &str, prompt: u64) {
        self.peer.tell("session/cancel", Some(&json!({"sessionId": session})));
        let until = Instant::now() + CANCEL_GRACE;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            match self.peer.next(&|| false, left) {
                Ok(Incoming::Answer { id, .. }) if id == prompt => return,
                Ok(Incoming::Over(_)) | Err(_) => return,
                Ok(Incoming::Asks { id, method, params }) if method == "session/request_permission" => {
                    self.peer.answer(&id, &Permission::read(&params).answer(Verdict::Cancel));
                }
                Ok(Incoming::Asks { id, .. }) => self.peer.refuse(&id, -32000, "the prompt was broken off"),
                Ok(_) => {}
            }
        }
    }
}
