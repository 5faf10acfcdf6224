//! The friends, one file each. Adding one is a `mod` line and a line in [`ALL`].

mod gemini;
mod opencode;

use crate::friend::Friend;

/// Every friend that is a program of its own. Model servers are friends, too, by what the user configured.
pub static ALL: &[&dyn Friend] = &[&gemini::GEMINI, &opencode::OPENCODE];

/// The friend of this name.
pub fn find(name: &str) -> Option<&'static dyn Friend> {
    ALL.iter().copied().find(|friend| friend.name() == name)
}
