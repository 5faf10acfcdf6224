//! What went wrong, where, and what to do next; and the exit code that says so to a script.
//!
//! Library errors become a [`Failure`] here. Its message is plain text that may quote foreign text:
//! whoever prints it escapes it.

use std::fmt::Display;
use std::process::ExitCode;

use relaycode_change::response::ResponseError;
use serde::Serialize;

/// How relay ends. The numbers never change their meaning; `docs/exit-codes.md` has those of
/// commands that are still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; also when everything was already in.
    Done = 0,
    /// Something unexpected: a bug, or the system.
    Unexpected = 1,
    /// Wrong usage.
    Usage = 2,
    /// The answer does not match, is ambiguous, or breaks a rule. Nothing was changed.
    Refused = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A command that could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    /// A stable name.
    pub(crate) kind: &'static str,
    /// What happened, as a sentence without a full stop.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// A file, or a file and a line.
    #[serde(rename = "where")]
    pub(crate) place: Option<String>,
    /// How relay ends because of it.
    #[serde(skip)]
    pub(crate) exit: Exit,
}

impl Failure {
    fn new(exit: Exit, kind: &'static str, message: impl Display) -> Failure {
        Failure { kind, message: message.to_string(), hint: None, place: None, exit }
    }

    /// The command line, or what it names, is wrong.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::new(Exit::Usage, "usage", message)
    }

    /// The answer cannot be used.
    pub(crate) fn refused(kind: &'static str, message: impl Display) -> Failure {
        Failure::new(Exit::Refused, kind, message)
    }

    /// The system failed.
    pub(crate) fn unexpected(message: impl Display) -> Failure {
        Failure::new(Exit::Unexpected, "unexpected", message)
    }

    /// Adds what to do next.
    pub(crate) fn hint(self, hint: impl Display) -> Failure {
        Failure { hint: Some(hint.to_string()), ..self }
    }

    /// Adds where it happened.
    pub(crate) fn at(self, place: impl Display) -> Failure {
        Failure { place: Some(place.to_string()), ..self }
    }
}

impl From<ResponseError> for Failure {
    fn from(error: ResponseError) -> Failure {
        let name = match error {
            ResponseError::TooLong { .. } => "text",
            ResponseError::TooManyFiles { .. } => "files",
            ResponseError::TooManyHunks { .. } => "hunks",
            ResponseError::TooManyBlocks => {
                let hint = "ask for the change in several answers";
                return Failure::refused("limit", error).hint(hint);
            }
        };
        crate::limit::exceeded(name, error)
    }
}
