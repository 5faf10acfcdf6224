//! Conversations: never lost, never slow, whatever happened to the file.
//!
//! A session is one JSONL file, version 3: a [`header::Header`], then [`entry::Entry`]s that are only ever appended and form a
//! tree by `id` and `parentId`. The file is the truth; the index beside it is made again whenever it does not
//! fit. This crate knows neither tools nor user interfaces, never prints, and never reads the environment.

pub mod entry;
pub mod header;
pub mod history;
pub mod layout;
pub mod list;
pub mod resolve;
pub mod search;
pub mod terminal;

pub use entry::{Body, Entry};
pub use header::Header;
pub use history::History;
pub use layout::Layout;
pub use list::{Listing, SessionInfo};
