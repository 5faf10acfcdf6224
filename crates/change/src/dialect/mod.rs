//! The ways in which an edit can be written. One file per dialect, one trait, one list.
//!
//! A dialect turns the text of one block into operations; it never looks at the project. What it
//! reads is forgiving (wrong counts, bare `@@`, odd marker spelling), what it yields is exact:
//! [`Hunk`](crate::proposal::Hunk)s whose lines are the author's, byte for byte.

use crate::path::RelPath;
use crate::proposal::{Action, Operation};

/// A way to write an edit.
pub trait Dialect: Sync {
    /// The name that a block's header uses, and that reports show.
    fn name(&self) -> &'static str;

    /// Other names under which models know it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One sentence for the documentation.
    fn about(&self) -> &'static str;

    /// Whether a block that names no dialect is written in this one. Asked in the order of the
    /// list; the last entry (whole file) takes everything.
    fn recognises(&self, text: &str) -> bool;

    /// Reads one block.
    ///
    /// # Errors
    /// When the block set out to be in this dialect but cannot be understood in full.
    fn read(&self, block: &Block<'_>) -> Result<Vec<Operation>, DialectError>;

    /// Writes an action (one that this dialect's `read` can yield) as the text of a block, so that
    /// reading it again gives the same action.
    fn print(&self, action: &Action) -> String;
}

/// The text of one block, with what its surroundings say about it.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    /// The file it is about, where a header said so. Dialects that name files themselves may do
    /// without; if both are given, the header decides for a single-file block.
    pub path: Option<RelPath>,
    /// The text between the fences, line endings as `\n`.
    pub text: &'a str,
    /// The line of the response on which `text` begins (1-based).
    pub line: usize,
}

/// Why a block could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DialectError {
    /// Line of the response.
    pub line: usize,
    /// A sentence for the user: what is wrong and what would be right.
    pub reason: String,
}
