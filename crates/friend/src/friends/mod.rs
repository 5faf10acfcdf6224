//! The friends, one file each. Adding one that is a program is a `mod` line and a line in [`ALL`]. Model servers are friends,
//! too, by what the user configured; [`Friends`] finds either by name.

pub mod claude;
pub mod codex;
mod lookup;
pub mod model;

pub use lookup::{Chosen, FindError, Friends};

use crate::friend::Friend;

/// Every friend that is a program of its own.
pub static ALL: &[&dyn Friend] = &[&claude::Claude::IN_PATH, &codex::Codex::IN_PATH];

/// The friend of this name, among those that are programs.
pub fn find(name: &str) -> Option<&'static dyn Friend> {
    ALL.iter().copied().find(|friend| friend.name() == name)
}
