//! Conversations: never lost, never slow, whatever happened to the file.
//!
//! A session is one JSONL file, version 3: a [`SessionHeader`], then [`SessionEntry`]s that are only ever
//! appended and form a tree by `id` and `parentId`. The file is the truth; the index beside it is rebuilt
//! whenever it does not match. This crate knows neither tools nor user interfaces, never prints, and never
//! reads the environment.
//!
//! | module | for |
//! |---|---|
//! | [`session`] | [`Session`]: open, append, move in the tree, fork, repair, title |
//! | [`mod@format`] | the lines of the file: header, entry, shrinking, older formats; unknown entries are kept |
//! | [`mod@file`] | reading and writing the file: bounded lines, salvage and report, appending, the index |
//! | [`view`] | what a session is turned into: the tree, a model's context, an outline for people |
//! | [`home`] | relay's home: layout, blobs, prompt history, breadcrumbs, removing sessions |
//! | [`find`] | listing by the two ends of each file, resolving a name, full-text search |
//! | [`usage`] | what sessions used, by day and model |
//! | [`export`] | one self-contained HTML page, or Markdown |
//! | [`error`] | [`SessionError`] |

pub mod error;
pub mod export;
pub mod file;
pub mod find;
pub mod format;
pub mod home;
pub mod session;
mod truncate;
pub mod usage;
pub mod view;

pub use error::SessionError;
pub use file::index::head::IndexHead;
pub use file::index::stats::SessionStats;
pub use file::load_report::LoadReport;
pub use file::row::{EntryRole, EntryRow, EntryType};
pub use find::list::{SessionLister, SessionSummary};
pub use format::compaction::ContextChange;
pub use format::entry::{EntryBody, SessionEntry};
pub use format::header::SessionHeader;
pub use home::blobs::BlobStore;
pub use home::history::PromptHistory;
pub use home::layout::HomeLayout;
pub use session::{OpenMode, Session};
pub use view::context::{ContextCompaction, SessionContext};
pub use view::tree::SessionTree;
