//! The ways in which an edit can be written. One file per dialect, one trait, one list.
//!
//! A dialect turns the text of one block into operations; it never looks at the project. What it
//! reads is forgiving (wrong counts, bare `@@`, odd marker spelling), what it yields is exact:
//! [`Hunk`](crate::proposal::Hunk)s whose lines are the author's, byte for byte.

mod apply_patch;
mod diff;
mod new_unified;
mod opening;
mod search_replace;
mod unified;
mod whole_file;

#[cfg(test)]
mod tests;

use crate::proposal::path::RelPath;
use crate::proposal::{FileAction, Operation};

/// Every dialect, in the order in which they are asked whether they recognise a block.
const ALL: &[&dyn Dialect] = &[
    &search_replace::SearchReplaceDialect,
    &apply_patch::ApplyPatchDialect,
    &unified::UnifiedDialect,
    &new_unified::NewUnifiedDialect,
    &whole_file::WholeFileDialect,
];

/// Every dialect, in the order in which they are asked whether they recognise a block. The last
/// one takes everything.
pub fn all() -> &'static [&'static dyn Dialect] {
    ALL
}

/// The dialect of that name or alias, in any case.
///
/// ```
/// use relaycode_change::dialect;
/// assert_eq!(dialect::named("Standard-Diff").unwrap().name(), "new-unified");
/// assert!(dialect::named("typescript").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    all().iter().copied().find(|dialect| is(&dialect.name()) || dialect.aliases().iter().any(is))
}

/// The dialect in which a block is written that names none.
pub fn detect(text: &str) -> &'static dyn Dialect {
    all().iter().copied().find(|dialect| dialect.recognises(text)).unwrap_or(&whole_file::WholeFileDialect)
}

/// A way to write an edit.
pub trait Dialect: Sync {
    /// The name that a block's header uses, and that reports show.
    fn name(&self) -> &'static str;

    /// Other names under which models know it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One sentence for the documentation.
    fn description(&self) -> &'static str;

    /// Whether a block that names no dialect is written in this one. Asked in the order of the
    /// list; the last entry (whole file) takes everything.
    fn recognises(&self, text: &str) -> bool;

    /// Reads one block.
    ///
    /// # Errors
    /// When the block set out to be in this dialect but cannot be understood in full.
    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError>;

    /// Writes an action (one that this dialect's `read` can yield) as the text of a block, so that
    /// reading it again gives the same action.
    fn print(&self, action: &FileAction) -> String;
}

/// The text of one block, with what its surroundings say about it.
#[derive(Debug, Clone)]
pub struct DialectBlock<'a> {
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

impl DialectBlock<'_> {
    /// The lines of the text, without the empty one after a final newline.
    fn lines(&self) -> Vec<&str> {
        let mut lines = Vec::with_capacity(memchr::memchr_iter(b'\n', self.text.as_bytes()).count() + 1);
        lines.extend(self.text.split('\n'));
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        lines
    }

    /// The path that the header gives, for a dialect that cannot name files itself.
    fn headed_path(&self) -> Result<RelPath, DialectError> {
        self.path.clone().ok_or_else(|| {
            DialectError::at(self.line, "the block names no file; put its path into the header")
        })
    }
}

impl DialectError {
    fn at(line: usize, reason: impl Into<String>) -> DialectError {
        DialectError { line, reason: reason.into() }
    }
}

/// Checks a path that a block names.
fn checked_path(line: usize, text: &str) -> Result<RelPath, DialectError> {
    RelPath::parse(text).map_err(|error| DialectError::at(line, error.to_string()))
}
