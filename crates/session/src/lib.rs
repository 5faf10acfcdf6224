//! Conversations: never lost, never slow, whatever happened to the file.
//!
//! A session is one JSONL file, version 3: a [`header::SessionHeader`], then [`entry::SessionEntry`]s that are only ever appended and form a
//! tree by `id` and `parentId`. The file is the truth; the index beside it is made again whenever it does not
//! fit. This crate knows neither tools nor user interfaces, never prints, and never reads the environment.

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
mod truncate;

pub use blobs::BlobStore;
pub use context::SessionContext;
pub use entry::{EntryBody, SessionEntry};
pub use error::SessionError;
pub use file::load_report::LoadReport;
pub use file::row::{EntryRole, EntryRow, EntryType};
pub use header::SessionHeader;
pub use history::PromptHistory;
pub use index::head::IndexHead;
pub use index::stats::SessionStats;
pub use layout::HomeLayout;
pub use list::{SessionLister, SessionSummary};
pub use session::{OpenMode, Session};
pub use tree::SessionTree;
