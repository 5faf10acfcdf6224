//! The lines of a session file: header, entry, making an entry fit, older formats.

pub mod entry;
pub mod header;
pub(crate) mod migrate;
pub mod shrink;
