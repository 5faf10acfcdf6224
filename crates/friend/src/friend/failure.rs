//! Why a turn came to nothing. Each says what happened, with the friend's own last words, and what to do next.

use std::time::Duration;

use relaycode_exec::ExecError;
use relaycode_project::access::Access;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum FriendFailure {
    /// Its program is not on this machine.
    #[error("{friend} is not installed: there is no `{program}` in PATH")]
    NotInstalled {
        /// The friend.
        friend: String,
        /// The program that was looked for.
        program: String,
        /// How to install it.
        hint: String,
    },
    /// Its program is older than what relay knows to be safe.
    #[error("{friend} {found} is too old: relay knows {oldest} and later")]
    TooOld {
        /// The friend.
        friend: String,
        /// Its version.
        found: String,
        /// The oldest that is used.
        oldest: String,
    },
    /// Its program does not say which version it is; one that nobody knows is not used.
    #[error("{friend} does not say which version it is, and relay uses none that it does not know: {said}")]
    UnknownVersion {
        /// The friend.
        friend: String,
        /// Its own words.
        said: String,
        /// How to install one that does.
        hint: String,
    },
    /// It is not signed in, or its key is refused.
    #[error("{friend} is not signed in: {said}")]
    NotSignedIn {
        /// The friend.
        friend: String,
        /// Its own words.
        said: String,
        /// How to sign in.
        hint: String,
    },
    /// It cannot do this, or nobody has tested that it does so safely.
    #[error("{friend} cannot {what}")]
    Unsupported {
        /// The friend.
        friend: String,
        /// What was wanted.
        what: String,
    },
    /// It would work with other rights than it was given; nothing was said to it.
    #[error(
        "{friend} was asked to work {wanted} and says that it works with `{got}`; nothing was sent to it"
    )]
    AccessMismatch {
        /// The friend.
        friend: String,
        /// What it was given.
        wanted: Access,
        /// What it says that it has.
        got: String,
    },
    /// It does not know the session.
    #[error("{friend} has no session {id}")]
    UnknownSession {
        /// The friend.
        friend: String,
        /// The session's id.
        id: String,
    },
    /// It ended well and said nothing.
    #[error("{friend} gave no answer{}", said_after(said))]
    NoAnswer {
        /// The friend.
        friend: String,
        /// Its last words on standard error, if any.
        said: String,
    },
    /// It answered, and not in the form that was asked for.
    #[error("{friend}'s answer does not follow the schema: {fault}")]
    SchemaMismatch {
        /// The friend.
        friend: String,
        /// Where, and what is wrong.
        fault: String,
        /// The answer.
        text: String,
    },
    /// It failed.
    #[error("{friend} failed: {said}")]
    Failed {
        /// The friend.
        friend: String,
        /// Its own words.
        said: String,
    },
    /// It cannot reach its model.
    #[error("{friend} cannot reach its server: {said}")]
    Unreachable {
        /// The friend.
        friend: String,
        /// Its own words.
        said: String,
    },
    /// It took too long.
    #[error("{friend} timed out after {} s{}{}", after.as_secs(), if *idle { " without a sign of life" } else { "" }, said_after(said))]
    TimedOut {
        /// The friend.
        friend: String,
        /// How long it was waited for.
        after: Duration,
        /// It showed no sign of life for so long; `false`: the whole turn took so long.
        idle: bool,
        /// Its last words, if any.
        said: String,
    },
    /// It sent more than is read.
    #[error("{friend} sent more in one piece than relay reads, {} MiB at most; nothing of it was used", most >> 20)]
    AnswerTooLarge {
        /// The friend.
        friend: String,
        /// Bytes that are read.
        most: usize,
    },
    /// It asks and asks, and does not read the answers.
    #[error("{friend} does not read what it is answered; more than {} MiB wait for it", most >> 20)]
    InputStalled {
        /// The friend.
        friend: String,
        /// Bytes that may wait.
        most: usize,
    },
    /// Somebody broke it off.
    #[error("{friend} was interrupted")]
    Cancelled {
        /// The friend.
        friend: String,
    },
    /// Its process could not be started or watched.
    #[error("{friend}: {source}")]
    Exec {
        /// The friend.
        friend: String,
        /// What happened.
        source: ExecError,
    },
}

fn said_after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
