//! What lies in relay's home beside the session files, and removing them.

pub mod blobs;
pub mod history;
pub mod layout;
pub mod remove;
pub mod sweep;
pub mod terminal;
