//! The lines of a session file: header, entry, shrinking an entry to be saved, older formats.

pub mod compaction;
pub mod entry;
pub mod header;
pub(crate) mod migrate;
pub mod shrink;
