//! The clipboard and what is pasted as a source of changes: that something new is there, what it says, whether
//! it is a patch for this project, and copying out.
//!
//! Everything on a clipboard is a stranger's: any page can write it, and the user's passwords pass through
//! it. So it is read within bounds, looked at in memory, and what is no patch for this project is forgotten at
//! once. Nothing here knows how things are shown.

pub mod bulk;
pub mod clipboard;
pub mod config;
pub mod feed;
pub mod filter;
mod hold;
pub mod inbox;
pub mod seen_texts;
pub mod storm;

pub use hold::{HOLD_MOST, HoldError, hold};
