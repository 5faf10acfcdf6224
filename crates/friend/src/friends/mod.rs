//! The friends, one file each. Adding one that is a program is a `mod` line and a line in [`ALL`]. Model servers are friends,
//! too, by what the user configured; [`FriendRegistry`] finds either by name.

pub mod claude;
pub mod codex;
mod gemini;
pub mod model;
mod opencode;
mod registry;
mod relay_self;

pub use registry::{FriendLookupError, FriendRegistry, ResolvedFriend};

use std::fs;
use std::path::Path;

use crate::Friend;

pub static ALL: &[&dyn Friend] =
    &[&codex::Codex::IN_PATH, &claude::Claude::IN_PATH, &gemini::GEMINI, &opencode::OPENCODE];

/// [`ALL`], and `self`: relay's own agent, which is always there and no other agent.
pub fn program_friends() -> impl Iterator<Item = &'static dyn Friend> {
    let own: &dyn Friend = &relay_self::RELAY_SELF;
    ALL.iter().copied().chain([own])
}

pub fn find_program_friend(name: &str) -> Option<&'static dyn Friend> {
    program_friends().find(|friend| friend.name() == name)
}

/// Bytes of a file of the user's that are read.
const MOST_SETTINGS: u64 = 1 << 20;

/// A file of the user's settings; nothing if it cannot be read or is too large.
fn read_settings(file: &Path) -> Option<Vec<u8>> {
    let meta = fs::metadata(file).ok()?;
    (meta.is_file() && meta.len() <= MOST_SETTINGS).then(|| fs::read(file).ok())?
}
