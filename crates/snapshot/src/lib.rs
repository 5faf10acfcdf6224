//! What a tree was, and what became of it. Whoever runs something in a project takes a [`Snapshot`] before, another one
//! afterwards, and asks for the [`TreeDifference`].
//!
//! | module | what |
//! |---|---|
//! | [`stat`] | what the file system says of an entry: the one type for it |
//! | [`walk`] | the one walk through a tree, by a rule of the caller |
//! | [`snapshot`] | what a walk found |
//! | [`difference`] | what differs between two of them, without a byte read |
//! | [`images`] | bytes and link targets as they were, kept for later |
//! | [`packed`] | a snapshot as bytes |
//! | [`omission`] | what was left out, and why |
//!
//! A walk is cheap enough to be taken around every command: one call for each entry, no path is written out, and two
//! snapshots are compared in one pass. What a difference means (which bytes to read, what git ignores, who is to be told)
//! is the caller's. This crate knows nothing of git and not who changed something.

pub mod difference;
pub mod images;
pub mod omission;
pub mod packed;
pub mod snapshot;
pub mod stat;
#[cfg(test)]
mod tests;
pub mod walk;

pub use difference::{EntryChange, EntryChangeKind, TreeDifference, for_each_same};
pub use images::{ImageError, ImageLocation, ImageReader, ImageWriter, SavedImage};
pub use omission::{Omission, OmissionList};
pub use packed::{PackedReader, PackedWriter};
pub use snapshot::{EntryId, Snapshot};
pub use stat::{EntryKind, EntryStat};
pub use walk::{KnownTree, WalkCaps, WalkError, WalkRule, WalkStep, WholeTree};
