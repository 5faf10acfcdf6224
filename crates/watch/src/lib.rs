//! The clipboard and pasted text as a source of changes: noticing something new, deciding whether it is a patch
//! for this project, and copying out.
//!
//! Everything on a clipboard is foreign: any page can write it, and the user's passwords pass through it. So it
//! is read within bounds, looked at in memory, and forgotten at once unless it is a patch for this project.
//! This crate does not know how things are shown.
//!
//! | module | for |
//! |---|---|
//! | [`clipboard`] | the trait `Clipboard` and one backend per system: waiting for changes, bounded reads |
//! | `hold` | the other direction: keeping a text on the clipboard until somebody else copies |
//! | [`feed`] | the thread: wait, rate, read, filter, inbox |
//! | [`storm`] | when the clipboard changes too often |
//! | [`filter`] | whether a text may be a patch at all, and for which project |
//! | [`inbox`] | texts waiting for their turn, and the bell |
//! | [`seen_texts`] | what happened to the same text before |
//! | [`bulk`] | collecting several copies |
//! | [`config`] | watching the configuration files |
//! | `sys` | what differs by system: the clipboards, watching files |

pub mod bulk;
pub mod clipboard;
pub mod config;
pub mod feed;
pub mod filter;
mod hold;
pub mod inbox;
pub mod seen_texts;
pub mod storm;
mod sys;

pub use hold::{HOLD_MOST, HoldError, hold};
