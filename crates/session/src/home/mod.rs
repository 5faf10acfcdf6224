//! What relay's home holds beside the session files, and removing sessions.

pub mod blobs;
pub mod history;
pub mod layout;
pub mod remove;
pub mod sweep;
pub mod terminal;
