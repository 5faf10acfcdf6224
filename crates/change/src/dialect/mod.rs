//! The ways to write an edit. One file per dialect, one trait, one list.
//!
//! A dialect turns the text of one block into operations; it never looks at the project. What it
//! reads is forgiving (wrong counts, bare `@@`, odd marker spelling), what it yields is exact:
//! [`Hunk`](crate::proposal::Hunk)s whose lines are the author's, byte for byte.

mod apply_patch;
mod diff;
pub(crate) mod headed;
pub(crate) mod heredocs;
mod new_unified;
pub(crate) mod opening;
pub(crate) mod patch_marker;
mod search_replace;
pub(crate) mod tool_calls;
mod unified;
mod whole_file;
pub(crate) mod xml_tags;

#[cfg(test)]
mod tests;

pub(crate) use diff::mail;

use crate::proposal::path::RelPath;
use crate::proposal::{FileAction, Operation};

/// In the order in which they are asked whether they recognise a block.
const ALL: &[&dyn Dialect] = &[
    &search_replace::SearchReplaceDialect,
    &apply_patch::ApplyPatchDialect,
    &unified::UnifiedDialect,
    &new_unified::NewUnifiedDialect,
    &tool_calls::ToolCallsDialect,
    &xml_tags::XmlTagsDialect,
    &heredocs::HeredocsDialect,
    &whole_file::WholeFileDialect,
];

/// In the order in which they are asked whether they recognise a block. The last one takes everything.
pub fn all() -> &'static [&'static dyn Dialect] {
    ALL
}

/// By name or alias, ignoring case.
///
/// ```
/// use relaycode_change::dialect;
/// assert_eq!(dialect::by_name("Standard-Diff").unwrap().name(), "new-unified");
/// assert!(dialect::by_name("typescript").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    all().iter().copied().find(|dialect| is(&dialect.name()) || dialect.aliases().iter().any(is))
}

/// The dialect of a block that names none.
pub fn detect(text: &str) -> &'static dyn Dialect {
    all().iter().copied().find(|dialect| dialect.recognises(text)).unwrap_or(&whole_file::WholeFileDialect)
}

pub trait Dialect: Sync {
    /// Used in a block's header and shown in reports.
    fn name(&self) -> &'static str;

    /// Other names that models use for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// One sentence for the documentation.
    fn description(&self) -> &'static str;

    /// Whether a block that names no dialect is in this one. Asked in the order of the list; the last one
    /// (whole file) takes everything.
    fn recognises(&self, text: &str) -> bool;

    /// # Errors
    /// If the block set out to be in this dialect but cannot be fully understood.
    fn read(&self, block: &DialectBlock<'_>) -> Result<Vec<Operation>, DialectError>;

    /// What a person should know about a block that was read, if anything.
    fn remark(&self, _text: &str) -> Option<String> {
        None
    }

    /// Prints an action (one that this dialect's `read` can yield) as the text of a block that reads back
    /// the same.
    fn print(&self, action: &FileAction) -> String;
}

/// The text of one block, with what its surroundings say about it.
#[derive(Debug, Clone)]
pub struct DialectBlock<'a> {
    /// The file from a header. Dialects that name files themselves may do without; if both are given, they must
    /// mean the same file.
    pub path: Option<RelPath>,
    /// The text between the fences, its lines ending in a line feed.
    pub text: &'a str,
    /// The line of the response where `text` begins, from 1.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DialectError {
    /// Line of the response.
    pub line: usize,
    /// A sentence for the user: what is wrong and what would be right.
    pub reason: String,
}

impl DialectBlock<'_> {
    /// Without the empty one after a final newline.
    fn lines(&self) -> Vec<&str> {
        let mut lines = Vec::with_capacity(memchr::memchr_iter(b'\n', self.text.as_bytes()).count() + 1);
        lines.extend(self.text.split('\n'));
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        lines
    }

    /// The path from the header, for a dialect that cannot name files itself.
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

/// Whether a line begins a hunk of a diff.
pub(crate) fn is_hunk_header(line: &str) -> bool {
    diff::lines::parse_hunk_header(line).is_some()
}

fn checked_path(line: usize, text: &str) -> Result<RelPath, DialectError> {
    RelPath::parse(text).map_err(|error| DialectError::at(line, error.to_string()))
}
