//! What a friend needs to know of the world around it: where programs are run, where the user's own files are,
//! what the environment says, and whether somebody wants everything to stop.

use std::ffi::OsString;
use std::path::PathBuf;

use relaycode_exec::{JobEnvironment, Runner};

pub struct FriendContext<'a> {
    pub runner: Runner,
    /// The user's own directory, where relay keeps what is theirs.
    pub home: Option<PathBuf>,
    pub env_var: &'a (dyn Fn(&str) -> Option<OsString> + Sync),
    /// Whether somebody wants everything to stop. Asked often.
    pub stop_requested: &'a (dyn Fn() -> bool + Sync),
    /// How deep relay stands in relays already: the number that a child is told is one more.
    pub depth: u32,
}

/// How deep a process stands in relays; read by relay and, under the second name, by others like it.
pub const DEPTH_VARIABLES: [&str; 2] = ["RELAY_DEPTH", "PHONE_A_FRIEND_DEPTH"];

/// What makes a friend believe that it runs inside another agent. Settings of the user's are not among them.
const INSIDE_OTHERS: &[&str] =
    &["CLAUDECODE", "CLAUDE_CODE_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];

impl FriendContext<'_> {
    /// The environment that every friend gets: it knows how deep it stands, and of no other agent.
    pub fn child_environment(&self) -> JobEnvironment {
        let depth = OsString::from((self.depth.saturating_add(1)).to_string());
        JobEnvironment {
            remove: INSIDE_OTHERS.iter().map(OsString::from).collect(),
            remove_prefixes: Vec::new(),
            set: DEPTH_VARIABLES.iter().map(|name| (OsString::from(name), depth.clone())).collect(),
        }
    }
}
