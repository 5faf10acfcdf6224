//! The conversation with an agent: one request of ours at a time, and whatever it asks and reports
//! meanwhile.
//!
//! Every wait ends: at a deadline, after a silence, when a stop is requested, when the agent exits, or when
//! it breaks the protocol. Printed lines that are not messages are skipped, and do not count as a sign of
//! life.

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use serde_json::{Value, json};

use super::{
    AcpClientCapabilities, AcpHandler, AcpInitializeResponse, AcpPermissionDecision, AcpPermissionRequest,
    AcpRefusal, AcpSession, AcpSessionUpdate, AcpStopReason, PROTOCOL_VERSION,
};
use crate::jsonrpc::{JsonRpcError, JsonRpcEvent as Event, JsonRpcPeer, JsonRpcStyle, METHOD_NOT_FOUND};
use crate::line_process::TICK;

/// Most lines that are not messages; a program that prints more is not an agent.
const MOST_GARBAGE: usize = 10_000;

/// How long an agent gets to finish a cancelled prompt.
const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// An id that none of our requests has.
const NEVER_ASKED: u64 = u64::MAX;

#[derive(Debug)]
pub struct AcpAgent {
    peer: JsonRpcPeer,
    garbage: usize,
}

/// How long to wait for an answer.
pub struct AcpWaitLimits<'a> {
    pub deadline: Instant,
    /// Longest time without a message.
    pub idle: Duration,
    /// Polled often; `true` ends the wait.
    pub should_stop: &'a dyn Fn() -> bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AcpPromptResult {
    pub stop_reason: AcpStopReason,
    /// The whole answer, for what agents add to the protocol.
    pub answer: Value,
}

#[derive(Debug, thiserror::Error)]
pub enum AcpError {
    /// The agent answered with an error.
    #[error("{0}")]
    Rpc(JsonRpcError),
    #[error("it ended in the middle of the conversation")]
    Exited(Box<JobOutcome>),
    /// The deadline passed; `idle`: it was silent for too long.
    #[error("it took too long")]
    TimedOut { idle: bool },
    /// [`AcpWaitLimits::should_stop`] said so.
    #[error("it was interrupted")]
    Interrupted,
    /// The handler wants no more ([`AcpHandler::should_abort`]).
    #[error("it was given up")]
    Abandoned,
    /// It sent a line longer than [`crate::line_process::MAX_LINE_BYTES`].
    #[error("it sent more in one line than is read")]
    LineTooLong,
    /// It does not read our answers.
    #[error("it does not read what it is answered")]
    NotReading,
    /// It broke the protocol.
    #[error("{0}")]
    Protocol(String),
    /// It could not be started or supervised.
    #[error("{0}")]
    Exec(#[from] ExecError),
}

impl AcpAgent {
    /// Its [`Job::input`] should be [`relaycode_exec::JobInput::Piped`].
    pub fn start(runner: &Runner, job: &Job) -> Result<AcpAgent, ExecError> {
        Ok(AcpAgent { peer: JsonRpcPeer::start(runner, job, JsonRpcStyle::Versioned)?, garbage: 0 })
    }

    /// Introduces us and our capabilities. Fails also if the agent speaks another version of the protocol.
    pub fn initialize(
        &mut self,
        can: AcpClientCapabilities,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpInitializeResponse, AcpError> {
        let answer = self.call("initialize", &can.initialize_params(), decide, patience)?;
        let introduced = AcpInitializeResponse::from_response(&answer);
        match introduced.version {
            PROTOCOL_VERSION => Ok(introduced),
            version => Err(AcpError::Protocol(format!(
                "it speaks version {version} of the Agent Client Protocol, relay speaks {PROTOCOL_VERSION}"
            ))),
        }
    }

    /// Begins a session in `directory`, or resumes the one of this id: its messages come again as updates, before
    /// this returns or after.
    pub fn open_session(
        &mut self,
        known: Option<&str>,
        directory: &Path,
        decide: &mut dyn AcpHandler,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpSession, AcpError> {
        let mut params = json!({"cwd": directory.to_string_lossy(), "mcpServers": []});
        let (method, nameless) = match known {
            None => ("session/new", "it began a session without an id"),
            Some(id) => {
                params["sessionId"] = id.into();
                ("session/load", "it took up a session without an id")
            }
        };
        let answer = self.call(method, &params, decide, patience)?;
        AcpSession::from_response(&answer, known).ok_or_else(|| AcpError::Protocol(nameless.into()))
    }

    /// Sends a prompt and waits for its end. On a cancel the agent is told, and gets half a second to
    /// react.
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

    /// Serves the agent without a request of ours; returns why that ended, usually a timeout.
    pub fn listen(&mut self, decide: &mut dyn AcpHandler, patience: &AcpWaitLimits<'_>) -> AcpError {
        match self.wait_for_answer(NEVER_ASKED, decide, patience) {
            Err(broken) => broken,
            Ok(_) => AcpError::Protocol("it answers what nobody asked".to_string()),
        }
    }

    /// Lets the agent exit by itself, so that it can save its state; after `most` it is ended.
    pub fn shut_down(self, most: Duration) -> Result<Option<JobOutcome>, ExecError> {
        self.peer.lines.shut_down(most, &|| false)
    }

    /// Ends the agent and everything it started.
    pub fn end(mut self) -> Result<Option<JobOutcome>, ExecError> {
        self.peer.lines.close_input();
        self.peer.lines.end()
    }

    /// Sends a request and waits for its answer.
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
            let next = self.peer.next(TICK.min(left))?;
            let errors = self.peer.lines.take_stderr();
            if !errors.is_empty() {
                decide.on_stderr(&errors);
            }
            match next {
                Event::Response { id: theirs, result } if theirs == id => {
                    return result.map_err(AcpError::Rpc);
                }
                Event::Request { id, method, params } => self.serve_request(&id, &method, &params, decide),
                Event::Notification { method, params } if method == "session/update" => {
                    let (session, update) = AcpSessionUpdate::from_params(&params);
                    decide.on_update(&session, update);
                }
                // An answer nobody waits for any more, or a notification of an unknown kind.
                Event::Response { .. } | Event::Notification { .. } => {}
                Event::Garbage(_) => {
                    self.garbage += 1;
                    if self.garbage > MOST_GARBAGE {
                        let what = "it prints what is no message, again and again";
                        return Err(AcpError::Protocol(what.into()));
                    }
                    continue;
                }
                Event::LineTooLong => return Err(AcpError::LineTooLong),
                Event::NotReading => return Err(AcpError::NotReading),
                Event::Exited(finished) => return Err(AcpError::Exited(finished)),
                Event::Idle => continue,
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
            match self.peer.next(left) {
                Ok(Event::Response { id, .. }) if id == prompt => return,
                Ok(Event::Exited(_)) | Err(_) => return,
                Ok(Event::Request { id, method, params }) => {
                    if method == "session/request_permission" {
                        let asked = AcpPermissionRequest::from_params(&params);
                        self.peer.respond(&id, &asked.to_response(AcpPermissionDecision::Cancel));
                    } else {
                        self.peer.respond_error(&id, -32000, "the prompt was broken off");
                    }
                }
                Ok(_) => {}
            }
        }
    }
}
