//! Conversations with friends that go on: `--session NAME`. A name stands for a friend, a project, and either the id by which
//! the friend knows the conversation, or what was said, for friends that keep nothing themselves.
//!
//! A session is one file, `friends/sessions/<name>.json` in the user's own directory, for the user alone; one of the same
//! name in another project has a mark of that project behind its name. Invariants: in a project a name means one friend; what is saved is added to what is there, so two relays at once lose nothing; a
//! file is whole or not there; one that cannot be read is kept aside, and said; there are at most [`SESSIONS`], and what is
//! kept of each is bounded by [`TRANSCRIPT_BYTES`].

mod error;
mod file;
mod store;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use jiff::Timestamp;

use crate::{Friend, FriendAnswer, PromptExchange, TurnMemory};

pub use error::FriendSessionError;
pub use store::{FriendSessionList, FriendSessionLookup, FriendSessionStore};

/// Sessions that are kept; beyond, those go that were not used for longest.
pub const SESSIONS: usize = 100;
/// Bytes of what was said that are kept of one session; beyond, the oldest turns go.
pub const TRANSCRIPT_BYTES: usize = 2_000_000;
/// Characters of a name.
pub const MAX_NAME_CHARS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FriendSession {
    pub name: String,
    pub friend: String,
    /// Where: the project's root.
    pub project: PathBuf,
    /// The model that answered last, if the friend said.
    pub model: Option<String>,
    pub created: Timestamp,
    /// When it was last added to.
    pub used: Timestamp,
    pub turns: u64,
    pub state: FriendSessionState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FriendSessionState {
    FriendId(String),
    /// What was said, the oldest first.
    Transcript(Vec<PromptExchange>),
}

impl FriendSession {
    pub fn memory(&self) -> TurnMemory {
        match &self.state {
            FriendSessionState::FriendId(id) => TurnMemory::Resume(id.clone()),
            FriendSessionState::Transcript(exchanges) => TurnMemory::Replay(exchanges.clone()),
        }
    }
}

#[derive(Clone, Copy)]
pub struct FriendSessionUpdate<'a> {
    pub name: &'a str,
    pub friend: &'a dyn Friend,
    /// In which project: its root.
    pub project: &'a std::path::Path,
    /// The prompt, whole.
    pub prompt: &'a str,
    /// The answer. Of a friend that remembers by itself its id is kept, of others what was said.
    pub answer: &'a FriendAnswer,
    pub at: Timestamp,
}

/// Whether this can be the name of a session: letters, digits, `-`, `_` and `.`, beginning with a letter or digit. Capitals
/// make no difference.
pub fn is_session_name(name: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    name.len() <= MAX_NAME_CHARS
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && name.bytes().all(fine)
}
