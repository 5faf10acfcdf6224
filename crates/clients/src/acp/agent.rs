//! The conversation with an agent: one request of ours at a time, and whatever it asks and tells meanwhile.
//!
//! Every wait ends: at a deadline, after a silence, when somebody wants everything to stop, when the agent ends,
//! or when it sends what no agent sends. What is printed and is no message is passed over, and is no sign of life.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use serde_json::{Value, json};

use super::handler::{AcpHandler, AcpPermissionDecision, AcpPermissionRequest, AcpRefusal};
use super::session::{AcpClientCapabilities, AcpInitializeResponse, AcpSession, AcpStopReason};
use super::update::AcpSessionUpdate;
use crate::jsonrpc::{JsonRpcError, JsonRpcEvent, JsonRpcPeer, JsonRpcStyle, METHOD_NOT_FOUND};

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
pub struct AcpAgent {
    peer: JsonRpcPeer,
    garbage: usize,
}

/// How long something is waited for.
pub struct AcpWaitLimits<'a> {
    /// Not longer than this.
    pub deadline: Instant,
    /// Not longer than this without a message.
    pub idle: Duration,
    /// Whether somebody wants everything to stop. Asked often.
    pub should_stop: &'a dyn Fn() -> bool,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq)]
pub struct AcpPromptResult {
    /// Why.
    pub stop_reason: AcpStopReason,
    /// All that it answered, for what agents say beside the protocol.
    pub answer: Value,
}

/// Why something came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum AcpError {
    /// The agent says no.
    #[error("{0}")]
    Rpc(JsonRpcError),
    /// It has ended.
    #[error("it ended in the middle of the conversation")]
    Exited(Box<JobOutcome>),
    /// It took too long; `idle`: it said nothing for too long.
    #[error("it took too long")]
    TimedOut {
        /// It said nothing for too long.
        idle: bool,
    },
    /// Somebody wants everything to stop.
    #[error("it was interrupted")]
    Interrupted,
    /// Whoever decides has heard enough ([`AcpHandler::enough`]).
    #[error("it was given up")]
    Abandoned,
    /// It sent a line that is longer than any may be.
    #[error("it sent more in one line than is read")]
    LineTooLong,
    /// It does not read what it is answered.
    #[error("it does not read what it is answered")]
    NotReading,
    /// It does not speak the protocol.
    #[error("{0}")]
    Protocol(String),
    /// It could not be started or watched.
    #[error("{0}")]
    Exec(#[from] ExecError),
}

impl AcpAgent {
    /// Starts an agent. Its [`Job::input`] should be [`relaycode_exec::Input::Open`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job) -> Result<AcpAgent, ExecError> {
        Ok(AcpAgent { peer: JsonRpcPeer::start(runner, job, JsonRpcStyle::Versioned)?, garbage: 0 })
    }

    /// Says who we are and what we do for it, and hears who it is.
    ///
    /// # Errors
    /// Why not; also if it speaks another version of the protocol.
    pub fn initialize(
        &mut self,
        can: AcpClientCapabilities,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpInitializeResponse, AcpError> {
        let introduced = AcpInitializeResponse::from_response(&self.call(
            "initialize",
            &can.initialize_params(),
            decide,
            patience,
        )?);
        if introduced.version == super::PROTOCOL_VERSION {
            return Ok(introduced);
        }
        Err(AcpError::Protocol(format!(
            "it speaks version {} of the Agent Client Protocol, relay speaks {}",
            introduced.version,
            super::PROTOCOL_VERSION
        )))
    }

    /// Begins a session in a directory.
    ///
    /// # Errors
    /// Why not.
    pub fn new_session(
        &mut self,
        directory: &Path,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpSession, AcpError> {
        let params = json!({"cwd": directory.to_string_lossy(), "mcpServers": []});
        let answer = self.call("session/new", &params, decide, patience)?;
        AcpSession::from_response(&answer, None)
            .ok_or_else(|| AcpError::Protocol("it began a session without an id".into()))
    }

    /// Takes up an earlier session. What was said in it comes again as updates, before this returns or after.
    ///
    /// # Errors
    /// Why not.
    pub fn load_session(
        &mut self,
        id: &str,
        directory: &Path,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpSession, AcpError> {
        let params = json!({"sessionId": id, "cwd": directory.to_string_lossy(), "mcpServers": []});
        let answer = self.call("session/load", &params, decide, patience)?;
        AcpSession::from_response(&answer, Some(id))
            .ok_or_else(|| AcpError::Protocol("it took up a session without an id".into()))
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
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpPromptResult, AcpError> {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let id = self.peer.request("session/prompt", &params);
        let ended = self.wait_for_answer(id, decide, patience);
        if matches!(ended, Err(AcpError::Interrupted | AcpError::Abandoned | AcpError::TimedOut { .. })) {
            self.cancel(session, id);
        }
        let answer = ended?;
        Ok(AcpPromptResult { stop_reason: AcpStopReason::from_response(&answer), answer })
    }

    /// Hears and answers while nothing is asked of it; says why that ended: usually because the patience did.
    pub fn listen(&mut self, decide: &mut dyn AcpHandler, patience: &AcpWaitLimits<'_>) -> AcpError {
        match self.wait_for_answer(NEVER_ASKED, decide, patience) {
            Err(broken) => broken,
            Ok(_) => AcpError::Protocol("it answers what nobody asked".to_string()),
        }
    }

    /// Says nothing more and lets the agent end by itself, so that it can write down what it remembers; after
    /// `most` it is ended.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn shut_down(mut self, most: Duration) -> Result<Option<JobOutcome>, ExecError> {
        self.peer.close_input();
        let until = Instant::now() + most;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            if let JsonRpcEvent::Exited(finished) = self.peer.next(&|| false, left)? {
                return Ok(Some(*finished));
            }
        }
        self.peer.end()
    }

    /// Ends the agent and everything that it started.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(mut self) -> Result<Option<JobOutcome>, ExecError> {
        self.peer.close_input();
        self.peer.end()
    }

    /// Asks something, and waits for the answer.
    fn call(
        &mut self,
        method: &str,
        params: &Value,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<Value, AcpError> {
        let id = self.peer.request(method, params);
        self.wait_for_answer(id, decide, patience)
    }

    fn wait_for_answer(
        &mut self,
        id: u64,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<Value, AcpError> {
        let mut heard = Instant::now();
        loop {
            if (patience.should_stop)() {
                return Err(AcpError::Interrupted);
            }
            if decide.should_abort() {
                return Err(AcpError::Abandoned);
            }
            let left = patience.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(AcpError::TimedOut { idle: false });
            }
            if heard.elapsed() >= patience.idle {
                return Err(AcpError::TimedOut { idle: true });
            }
            let next = self.peer.next(&|| false, TICK.min(left))?;
            let errors = self.peer.take_stderr();
            if !errors.is_empty() {
                decide.on_stderr(&errors);
            }
            match next {
                JsonRpcEvent::Response { id: theirs, result } if theirs == id => {
                    return result.map_err(AcpError::Rpc);
                }
                JsonRpcEvent::Request { id, method, params } => {
                    self.serve_request(&id, &method, &params, decide)
                }
                JsonRpcEvent::Notification { method, params } if method == "session/update" => {
                    let (session, update) = AcpSessionUpdate::from_params(&params);
                    decide.on_update(&session, update);
                }
                // The answer to something that nobody waits for any more; news of a kind that is not known.
                JsonRpcEvent::Response { .. } | JsonRpcEvent::Notification { .. } => {}
                JsonRpcEvent::Garbage(_) => {
                    self.garbage += 1;
                    if self.garbage > MOST_GARBAGE {
                        return Err(AcpError::Protocol(
                            "it prints what is no message, again and again".into(),
                        ));
                    }
                    continue;
                }
                JsonRpcEvent::LineTooLong => return Err(AcpError::LineTooLong),
                JsonRpcEvent::NotReading => return Err(AcpError::NotReading),
                JsonRpcEvent::Exited(finished) => return Err(AcpError::Exited(finished)),
                JsonRpcEvent::Idle => continue,
            }
            heard = Instant::now();
        }
    }

    fn serve_request(&mut self, id: &Value, method: &str, params: &Value, decide: &mut dyn AcpHandler) {
        let text = |name: &str| params[name].as_str();
        let missing = |name: &str| AcpRefusal { code: -32602, message: format!("`{name}` is missing") };
        let served = match method {
            "session/request_permission" => {
                let asked = AcpPermissionRequest::from_params(params);
                let verdict = decide.decide_permission(&asked);
                Ok(asked.to_response(verdict))
            }
            "fs/read_text_file" => text("path").ok_or_else(|| missing("path")).and_then(|path| {
                let content = decide.read_file(path, params["line"].as_u64(), params["limit"].as_u64())?;
                Ok(json!({"content": content}))
            }),
            "fs/write_text_file" => match (text("path"), text("content")) {
                (Some(path), Some(content)) => decide.write_file(path, content).map(|()| Value::Null),
                (None, _) => Err(missing("path")),
                (_, None) => Err(missing("content")),
            },
            _ => Err(AcpRefusal { code: METHOD_NOT_FOUND, message: format!("relay does not do {method}") }),
        };
        match served {
            Ok(result) => self.peer.respond(id, &result),
            Err(refused) => self.peer.respond_error(id, refused.code, &refused.message),
        }
    }

    fn cancel(&mut self, session: &str, prompt: u64) {
        self.peer.notify("session/cancel", Some(&json!({"sessionId": session})));
        let until = Instant::now() + CANCEL_GRACE;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            match self.peer.next(&|| false, left) {
                Ok(JsonRpcEvent::Response { id, .. }) if id == prompt => return,
                Ok(JsonRpcEvent::Exited(_)) | Err(_) => return,
                Ok(JsonRpcEvent::Request { id, method, params })
                    if method == "session/request_permission" =>
                {
                    self.peer.respond(
                        &id,
                        &AcpPermissionRequest::from_params(&params)
                            .to_response(AcpPermissionDecision::Cancel),
                    );
                }
                Ok(JsonRpcEvent::Request { id, .. }) => {
                    self.peer.respond_error(&id, -32000, "the prompt was broken off")
                }
                Ok(_) => {}
            }
        }
    }
}
