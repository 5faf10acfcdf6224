//! Why a turn came to nothing. Each says what happened, with the friend's own last words, and what to do next.

use std::time::Duration;

use relaycode_exec::ExecError;
use relaycode_project::access::Access;

use crate::FriendAnswer;

/// What comes of a turn: its answer, or of a part of it something else.
pub type TurnResult<T = FriendAnswer> = Result<T, FriendFailure>;

#[derive(Debug, thiserror::Error)]
pub enum FriendFailure {
    #[error("{friend} is not installed: there is no `{program}` in PATH")]
    NotInstalled { friend: String, program: String, hint: String },
    /// Its program is older than what relay knows to be safe.
    #[error("{friend} {found} is too old: relay knows {oldest} and later")]
    TooOld {
        friend: String,
        found: String,
        /// The oldest that is used.
        oldest: String,
    },
    /// Its program does not say which version it is; one that nobody knows is not used.
    #[error("{friend} does not say which version it is, and relay only uses versions that it knows: {said}")]
    UnknownVersion { friend: String, said: String, hint: String },
    #[error("{friend} is not signed in: {said}")]
    NotSignedIn { friend: String, said: String, hint: String },
    /// It cannot do this, or nobody has tested that it does so safely.
    #[error("{friend} cannot {what}")]
    Unsupported { friend: String, what: String },
    /// It would work with other rights than it was given; nothing was said to it.
    #[error(
        "{friend} was asked to work {wanted} and says that it works with `{got}`; nothing was sent to it"
    )]
    AccessMismatch { friend: String, wanted: Access, got: String },
    #[error("{friend} has no session {id}")]
    UnknownSession { friend: String, id: String },
    /// It ended well and said nothing.
    #[error("{friend} gave no answer{}", said_after(said))]
    NoAnswer {
        friend: String,
        /// Its last words on standard error, if any.
        said: String,
    },
    #[error("{friend}'s answer does not follow the schema: {fault}")]
    SchemaMismatch { friend: String, fault: String, text: String },
    #[error("{friend} gave no verdict: it abstained{}", said_after(summary))]
    Abstained {
        friend: String,
        /// Why, in its words. Foreign text.
        summary: String,
        text: String,
    },
    #[error("{friend} failed: {said}")]
    Failed { friend: String, said: String },
    #[error("{friend} cannot reach its server: {said}")]
    Unreachable { friend: String, said: String },
    /// It took too long.
    #[error("{friend} timed out after {} s{}{}", after.as_secs(), if *idle { " without a sign of life" } else { "" }, said_after(said))]
    TimedOut {
        friend: String,
        /// How long it was waited for.
        after: Duration,
        /// It showed no sign of life for so long; `false`: the whole turn took so long.
        idle: bool,
        /// Its last words, if any.
        said: String,
    },
    #[error("{friend} sent more in one piece than relay reads, {} MiB at most; nothing of it was used", most >> 20)]
    AnswerTooLarge {
        friend: String,
        /// Bytes that are read.
        most: usize,
    },
    #[error("{friend} does not read what it is answered; more than {} MiB wait for it", most >> 20)]
    InputStalled {
        friend: String,
        /// Bytes that may wait.
        most: usize,
    },
    #[error("{friend} was interrupted")]
    Cancelled { friend: String },
    #[error("{friend}: {source}")]
    Exec { friend: String, source: ExecError },
}

impl FriendFailure {
    pub(crate) fn heard_prompt(&self) -> bool {
        use FriendFailure::{AccessMismatch, NotInstalled, TooOld, Unsupported};
        !matches!(self, NotInstalled { .. } | TooOld { .. } | AccessMismatch { .. } | Unsupported { .. })
    }
}

fn said_after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
