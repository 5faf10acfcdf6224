//! What the program decides before something goes on: each decision has an id, a schema for its answer, and a deadline after which
//! nothing is approved.
//!
//! Invariant: an answer counts once, and only if it follows the schema.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use relaycode_friend::prompt::schema::AnswerSchema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::error::{RpcError, RpcErrorCode};
use super::frame::{GateStatus, RpcFrame};
use super::outbox::Outbox;

/// Decisions that may be open at once.
const MAX_OPEN: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    Question,
    Approval,
    Execution,
}

/// What is to be decided.
#[derive(Debug, Clone)]
pub struct GateRequest {
    /// What it is about, in one word.
    pub stage: String,
    pub kind: GateKind,
    /// What an answer has to follow, as JSON schema.
    pub schema: Value,
    pub options: Vec<String>,
    /// What the decision is about.
    pub context: Value,
    pub timeout: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateEnd {
    TimedOut,
    /// The run was ended, or the program is gone.
    Cancelled,
    /// It cannot be asked: too many are open, or its schema is none.
    Unavailable,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum GateReceipt {
    Accepted,
    /// It does not follow the schema; the gate stays open.
    Rejected {
        errors: Vec<String>,
    },
}

pub struct GateBoard {
    outbox: Arc<Outbox>,
    state: Mutex<GateBoardState>,
    bell: Condvar,
}

#[derive(Default)]
struct GateBoardState {
    asked: u64,
    open: HashMap<String, OpenGate>,
    /// Grows when everything that waits is to end.
    cancelled: u64,
    is_closed: bool,
}

struct OpenGate {
    schema: AnswerSchema,
    stage: String,
    /// It stands for a question of the agent's, which decides.
    question_id: Option<String>,
    answer: Option<Value>,
}

impl GateBoard {
    pub(crate) fn new(outbox: Arc<Outbox>) -> GateBoard {
        GateBoard { outbox, state: Mutex::default(), bell: Condvar::new() }
    }

    /// Asks and waits for an answer that follows the schema.
    ///
    /// # Errors
    /// See [`GateEnd`].
    pub fn ask(&self, gate: &GateRequest) -> Result<Value, GateEnd> {
        let until = Instant::now() + gate.timeout;
        let generation = self.lock().cancelled;
        let id = self.open_gate(gate, None)?;
        let ended = self.wait(&id, until, generation);
        let status = match &ended {
            Ok(_) => GateStatus::Accepted,
            Err(GateEnd::TimedOut) => GateStatus::TimedOut,
            Err(GateEnd::Cancelled | GateEnd::Unavailable) => GateStatus::Cancelled,
        };
        self.close_gate(&id, status);
        ended
    }

    /// Shows a question of the agent's as a decision, too: an answer to either counts.
    pub(crate) fn open_for_question(&self, gate: &GateRequest, question_id: &str) {
        // Without the gate, the question is still there.
        let _ = self.open_gate(gate, Some(question_id.to_string()));
    }

    /// The question has its answer, or nobody waits for one any more.
    pub(crate) fn close_for_question(&self, question_id: &str, status: GateStatus) {
        let is_it = |gate: &OpenGate| gate.question_id.as_deref() == Some(question_id);
        let found = self.lock().open.iter().find(|(_, gate)| is_it(gate)).map(|(id, _)| id.clone());
        if let Some(id) = found {
            self.close_gate(&id, status);
        }
    }

    fn open_gate(&self, gate: &GateRequest, question_id: Option<String>) -> Result<String, GateEnd> {
        let schema = AnswerSchema::new(gate.schema.clone()).map_err(|_| GateEnd::Unavailable)?;
        let id = {
            let mut state = self.lock();
            if state.is_closed || state.open.len() >= MAX_OPEN {
                return Err(GateEnd::Unavailable);
            }
            state.asked += 1;
            let id = format!("g{}", state.asked);
            let open = OpenGate { schema, stage: gate.stage.clone(), question_id, answer: None };
            state.open.insert(id.clone(), open);
            id
        };
        let hash: String = Sha256::digest(gate.schema.to_string().as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let frame = RpcFrame::WorkflowGate {
            gate_id: &id,
            stage: &gate.stage,
            kind: gate.kind,
            schema: &gate.schema,
            schema_hash: &hash,
            options: &gate.options,
            context: &gate.context,
            timeout_ms: u64::try_from(gate.timeout.as_millis()).unwrap_or(u64::MAX),
        };
        if self.outbox.push_within(&frame, gate.timeout).is_err() {
            self.lock().open.remove(&id);
            return Err(GateEnd::Cancelled);
        }
        Ok(id)
    }

    fn close_gate(&self, id: &str, status: GateStatus) {
        self.lock().open.remove(id);
        // A program that reads nothing need not know.
        let closed = RpcFrame::WorkflowGateClosed { gate_id: id, status };
        let _ = self.outbox.push_within(&closed, Duration::ZERO);
    }

    fn wait(&self, id: &str, until: Instant, generation: u64) -> Result<Value, GateEnd> {
        let mut state = self.lock();
        let ended = loop {
            if let Some(answer) = state.open.get_mut(id).and_then(|open| open.answer.take()) {
                break Ok(answer);
            }
            if state.is_closed || state.cancelled != generation {
                break Err(GateEnd::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Err(GateEnd::TimedOut);
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        // At once, so that no answer is accepted that counts for nothing.
        state.open.remove(id);
        ended
    }

    /// Answers; an answer that does not follow the schema is told, and another one may come. With an accepted one comes the
    /// question that it answers, if the gate stands for one.
    pub(crate) fn answer(&self, id: &str, answer: Value) -> Result<(GateReceipt, Option<String>), RpcError> {
        let mut state = self.lock();
        let asked = state.asked;
        let resolved = || RpcError::new(RpcErrorCode::AlreadyResolved, "this is decided already");
        let Some(open) = state.open.get_mut(id) else {
            let number = id.strip_prefix('g').and_then(|number| number.parse::<u64>().ok());
            return Err(match number {
                Some(number) if (1..=asked).contains(&number) => resolved(),
                _ => RpcError::new(RpcErrorCode::UnknownGate, "relay asks for no such decision"),
            });
        };
        if open.answer.is_some() {
            return Err(resolved());
        }
        if let Err(violation) = open.schema.check(&answer) {
            return Ok((GateReceipt::Rejected { errors: vec![violation.to_string()] }, None));
        }
        open.answer = Some(answer);
        let question_id = open.question_id.clone();
        drop(state);
        self.bell.notify_all();
        Ok((GateReceipt::Accepted, question_id))
    }

    /// The ids of what is not decided, with what each is about.
    pub(crate) fn open(&self) -> Vec<(String, String)> {
        let state = self.lock();
        let open = state.open.iter().filter(|(_, open)| open.answer.is_none());
        open.map(|(id, open)| (id.clone(), open.stage.clone())).collect()
    }

    /// The run is ended: what waits is not approved.
    pub(crate) fn cancel(&self) {
        self.lock().cancelled += 1;
        self.bell.notify_all();
    }

    /// The program is gone.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.bell.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GateBoardState> {
        // Each change leaves the board consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(timeout: Duration) -> GateRequest {
        GateRequest {
            stage: "plan".into(),
            kind: GateKind::Approval,
            schema: json!({"type": "object", "properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}),
            options: Vec::new(),
            context: json!({"plan": "do it"}),
            timeout,
        }
    }

    #[test]
    fn an_answer_counts_once_and_only_if_it_follows_the_schema() {
        let board = GateBoard::new(Arc::default());
        assert_eq!(board.answer("g1", json!(1)).unwrap_err().code, RpcErrorCode::UnknownGate);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| board.ask(&request(Duration::from_secs(600))));
            while board.open().is_empty() {
                std::thread::yield_now();
            }
            let (rejected, _) = board.answer("g1", json!({"approve": "yes"})).unwrap();
            assert!(matches!(&rejected, GateReceipt::Rejected { errors } if errors[0].contains("approve")));
            assert_eq!(board.answer("g1", json!({"approve": true})), Ok((GateReceipt::Accepted, None)));
            assert_eq!(asked.join().unwrap(), Ok(json!({"approve": true})));
        });
        assert_eq!(
            board.answer("g1", json!({"approve": false})).unwrap_err().code,
            RpcErrorCode::AlreadyResolved
        );
    }

    #[test]
    fn nothing_is_approved_by_time_by_the_end_of_the_run_or_of_the_program() {
        let board = GateBoard::new(Arc::default());
        assert_eq!(board.ask(&request(Duration::ZERO)), Err(GateEnd::TimedOut));
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| board.ask(&request(Duration::from_secs(600))));
            while board.open().is_empty() {
                std::thread::yield_now();
            }
            board.cancel();
            assert_eq!(asked.join().unwrap(), Err(GateEnd::Cancelled));
        });
        board.close();
        assert_eq!(board.ask(&request(Duration::from_secs(600))), Err(GateEnd::Unavailable));
    }
}
