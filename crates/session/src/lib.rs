//! Conversations: never lost, never slow, whatever happened to the file.
//!
//! A session is one JSONL file, version 3: a [`header::Header`], then [`entry::Entry`]s that are only ever appended and form a
//! tree by `id` and `parentId`. The file is the truth; the index beside it is made again whenever it does not
//! fit. This crate knows neither tools nor user interfaces, never prints, and never reads the environment.

mod beginning;
pub mod blobs;
pub mod context;
pub mod entry;
pub mod error;
pub mod export;
pub mod file;
pub mod header;
pub mod history;
pub mod index;
pub mod layout;
pub mod list;
mod migrate;
pub mod outline;
pub mod remove;
pub mod resolve;
pub mod search;
pub mod session;
pub mod shrink;
pub mod sweep;
pub mod terminal;
pub mod tree;

pub use blobs::Blobs;
pub use context::Context;
pub use entry::{Body, Entry};
pub use error::SessionError;
pub use file::report::Report;
pub use file::row::{Kind, Role, Row};
pub use header::Header;
pub use history::History;
pub use index::facts::Facts;
pub use index::head::Head;
pub use layout::Layout;
pub use list::{Listing, SessionInfo};
pub use session::{Mode, Session};
pub use tree::Tree;
