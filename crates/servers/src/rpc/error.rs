//! Why a command was not carried out.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Told to the program: a stable code, and a sentence for people.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct RpcError {
    pub code: RpcErrorCode,
    pub message: String,
    /// More of it as data, for some codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RpcErrorCode {
    /// The line is no JSON object in UTF-8, or is nested too deeply.
    ParseError,
    /// The line is over the limit and was passed over.
    LineTooLong,
    /// There is no `type`, or the `id` is neither text nor number.
    InvalidRequest,
    UnknownCommand,
    /// A field is missing, unknown, or has a value that it cannot have.
    InvalidParams,
    /// The agent works, or a move to another session is on its way.
    Busy,
    /// There is nothing to abort, to undo, to name.
    NothingToDo,
    /// This relay cannot do it.
    NotAvailable,
    /// The access level or a rule is against it.
    NotAllowed,
    /// Relay asks no such thing, or no longer.
    UnknownRequest,
    UnknownQuestion,
    AlreadyAnswered,
    /// The question has no such option.
    NotAnOption,
    UnknownGate,
    AlreadyResolved,
    UnknownModel,
    UnknownSession,
    UnknownEntry,
    /// A hook of the program said no.
    Cancelled,
    /// Somebody's later edits are in the way.
    Conflict,
    /// Too much waits already.
    QueueFull,
    /// The run ended before the model was done: stopped.
    Aborted,
    /// The run ended before the model was done: the model gave no answer, or a limit was reached.
    RunFailed,
    /// It cannot be done now; the message says why.
    Failed,
    /// A bug of relay's.
    Internal,
}

impl RpcError {
    pub fn new(code: RpcErrorCode, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), details: None }
    }

    #[must_use]
    pub fn details(self, details: Value) -> RpcError {
        RpcError { details: Some(details), ..self }
    }

    pub(crate) fn busy(message: &str) -> RpcError {
        RpcError::new(RpcErrorCode::Busy, message)
    }

    pub(crate) fn params(message: impl Into<String>) -> RpcError {
        RpcError::new(RpcErrorCode::InvalidParams, message)
    }

    pub(crate) fn failed(error: &dyn std::fmt::Display) -> RpcError {
        RpcError::new(RpcErrorCode::Failed, error.to_string())
    }
}
