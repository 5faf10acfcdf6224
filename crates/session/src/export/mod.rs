//! A conversation as something to keep or to hand on: one HTML page that needs nothing else, or Markdown.
//!
//! Invariants: everything of the session is there, on the path that is active or in a folded branch beside it (unless the
//! caller asks for the path alone, and then it is counted). Nothing of it is markup, runs, or makes a browser ask anybody for anything. Entries are read
//! twice, one after the other, and written as they come: memory is that of the largest entry and of a small line per entry, never that of the session.

mod entry_view;
mod html;
mod human_format;
mod image;
mod markdown;
mod strip_colours;
mod survey;

use std::io::{self, BufWriter, Write};

use crate::format::entry::SessionEntry;
use crate::format::header::SessionHeader;

/// Images that are put into one page at most, in bytes of base64.
pub const MAX_IMAGES: u64 = 64 << 20;

/// One image at most, in bytes of base64.
pub const MAX_IMAGE: usize = 16 << 20;

/// Lines of the outline at most.
pub const MAX_OUTLINE: usize = 2_000;

/// How much is written to the file at a time.
const BUFFER: usize = 64 << 10;

/// What is exported.
pub struct ExportSource<'a> {
    /// The file's first line.
    pub header: &'a SessionHeader,
    /// Everything else, images resolved where they could be.
    pub entries: &'a dyn EntrySource,
    /// Where the conversation stands; without one it stands at the last entry.
    pub leaf: Option<&'a str>,
    /// What the reader of the file had to report.
    pub load_issues: &'a [String],
}

/// The entries of a conversation, in the order of the file.
pub trait EntrySource {
    /// Hands over one after the other, from the first; ends with the first error. It is called twice.
    ///
    /// # Errors
    /// [`ExportError::Read`], or what `see` gave.
    fn for_each_entry(&self, see: &mut EntryVisitor<'_>) -> Result<(), ExportError>;
}

/// Takes one entry.
pub type EntryVisitor<'a> = dyn FnMut(&SessionEntry) -> Result<(), ExportError> + 'a;

/// How it is exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// In place of the session's own title.
    pub title: Option<String>,
    /// What the page begins with.
    pub theme: ExportTheme,
    /// Branches that were left behind are exported too.
    pub all_branches: bool,
    /// See [`MAX_IMAGES`].
    pub max_images: u64,
}

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportTheme {
    /// As the reader's system prefers.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportSummary {
    /// Entries that were written.
    pub entries: usize,
    /// Entries of other branches that were left out, because only the path was asked for.
    pub skipped_entries: usize,
    /// Images that are in the page.
    pub images: usize,
    /// Images that are not: missing, of an unknown kind, or too large. The page says so at their place.
    pub skipped_images: usize,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The session could not be read.
    #[error("the session could not be read: {0}")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The export could not be written.
    #[error("the export could not be written: {0}")]
    Write(#[from] io::Error),
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions { title: None, theme: ExportTheme::Auto, all_branches: true, max_images: MAX_IMAGES }
    }
}

impl EntrySource for Vec<SessionEntry> {
    fn for_each_entry(&self, see: &mut EntryVisitor<'_>) -> Result<(), ExportError> {
        self.iter().try_for_each(see)
    }
}

/// Writes one HTML page that holds everything.
///
/// # Errors
/// When the session cannot be read or the page not be written; what was written so far is not a whole page then.
pub fn export_html(
    conversation: &ExportSource<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<ExportSummary, ExportError> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let exported = html::write(conversation, options, &mut out)?;
    out.flush()?;
    Ok(exported)
}

/// Writes Markdown. Images are named, not held.
///
/// # Errors
/// When the session cannot be read or the text not be written; what was written so far is not the whole then.
pub fn export_markdown(
    conversation: &ExportSource<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<ExportSummary, ExportError> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let exported = markdown::write(conversation, options, &mut out)?;
    out.flush()?;
    Ok(exported)
}
