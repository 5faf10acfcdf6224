//! A conversation to keep or to pass on: one self-contained HTML page, or Markdown.
//!
//! Invariants: the whole session is there, on the active path or in a folded branch beside it (unless the
//! caller asks for the path only; then the rest is counted). None of it is markup, runs, or makes a browser
//! call anybody. Entries are read twice, one after the other, and written as they come: memory is that of
//! the largest entry plus a small line per entry, never that of the session.

mod entry_view;
mod html;
mod human_format;
mod image;
mod markdown;
mod strip_colours;
mod survey;

use std::io::{self, BufWriter, Write};

use crate::{SessionEntry, SessionHeader};
use survey::{EntryPosition, ExportSurvey};

/// Most bytes of base64 for all images of a page.
pub const MAX_IMAGES: u64 = 64 << 20;

/// Most bytes of base64 for one image.
pub const MAX_IMAGE: usize = 16 << 20;

/// Most lines of the outline.
pub const MAX_OUTLINE: usize = 2_000;

/// Bytes written to the file at a time.
const BUFFER: usize = 64 << 10;

pub struct ExportSource<'a> {
    /// The first line of the file.
    pub header: &'a SessionHeader,
    /// Everything else, with images resolved where possible.
    pub entries: &'a dyn EntrySource,
    /// Where the conversation stands; the last entry if `None`.
    pub leaf: Option<&'a str>,
    /// Problems found when the file was read.
    pub load_issues: &'a [String],
}

/// The entries of a conversation, in the order of the file.
pub trait EntrySource {
    /// Passes each entry to `see`; ends with the first error. Called twice.
    ///
    /// # Errors
    /// [`ExportError::Read`], or the error of `see`.
    fn for_each_entry(&self, see: &mut EntryVisitor<'_>) -> Result<(), ExportError>;
}

pub type EntryVisitor<'a> = dyn FnMut(&SessionEntry) -> Result<(), ExportError> + 'a;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// Instead of the session's own title.
    pub title: Option<String>,
    /// The page's initial theme.
    pub theme: ExportTheme,
    /// Also export branches that were left.
    pub all_branches: bool,
    /// See [`MAX_IMAGES`].
    pub max_images: u64,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportSummary {
    pub entries: usize,
    /// Entries of other branches, if only the path was asked for.
    pub skipped_entries: usize,
    /// Images in the page.
    pub images: usize,
    /// Images left out: missing, of an unknown type, or too large. The page says so in their place.
    pub skipped_images: usize,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the session could not be read: {0}")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
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

/// One self-contained page.
///
/// # Errors
/// If the session cannot be read or the page cannot be written; the output is incomplete then.
pub fn export_html(
    source: &ExportSource<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<ExportSummary, ExportError> {
    export(source, options, out, html::write)
}

/// Images are named, not included.
///
/// # Errors
/// If the session cannot be read or the text cannot be written; the output is incomplete then.
pub fn export_markdown(
    source: &ExportSource<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
) -> Result<ExportSummary, ExportError> {
    export(source, options, out, markdown::write)
}

/// What is exported, how, and what a first pass over it found.
struct ExportRun<'a> {
    source: &'a ExportSource<'a>,
    options: &'a ExportOptions,
    survey: ExportSurvey,
}

fn export(
    source: &ExportSource<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
    write: fn(&ExportRun<'_>, &mut dyn Write) -> Result<ExportSummary, ExportError>,
) -> Result<ExportSummary, ExportError> {
    let run = ExportRun { source, options, survey: ExportSurvey::read_source(source)? };
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let exported = write(&run, &mut out)?;
    out.flush()?;
    Ok(exported)
}

impl ExportRun<'_> {
    fn title(&self) -> String {
        let ExportRun { source: ExportSource { header, .. }, options, survey } = self;
        let given = [options.title.as_deref(), header.title.as_deref(), Some(survey.first_prompt.as_str())];
        let named = given.into_iter().flatten().map(str::trim).find(|title| !title.is_empty());
        named.unwrap_or(&header.id).to_owned()
    }

    /// Shows each entry that is to be exported, with its number and position; says how many are left out.
    fn for_each_entry(
        &self,
        see: &mut dyn FnMut(&SessionEntry, usize, EntryPosition) -> Result<(), ExportError>,
    ) -> Result<usize, ExportError> {
        let (mut next, mut skipped) = (0, 0);
        self.source.entries.for_each_entry(&mut |entry| {
            let (at, position) = (next, self.survey.position(next));
            next += 1;
            let is_wanted = position == EntryPosition::ActivePath || self.options.all_branches;
            if at < self.survey.entries() && is_wanted {
                return see(entry, at, position);
            }
            skipped += 1;
            Ok(())
        })?;
        Ok(skipped)
    }
}
