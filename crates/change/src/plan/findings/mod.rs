//! What a person may want to look at before a plan is applied. One file per check, one trait, one list.
//! Checks only read, and a plan without findings is not necessarily right: they catch what is known to go
//! wrong with generated changes.
//!
//! They run on every plan, so each is a single pass over the text of a file.

mod confusable;
mod fragment;
mod hidden;
mod mass_deletion;
mod near;
mod placeholder;
#[cfg(test)]
mod tests;

pub use mass_deletion::{DELETED_FILES, LARGE_FILE_LINES};
pub(crate) use placeholder::{gap_lines, is_gap};

use std::borrow::Cow;

use crate::lines::text_file::{TextFile, line_ranges};
use crate::plan::{FileChangeKind, FilePlan, FindingKind, PlanFinding};

/// The dialect of whole files.
const WHOLE_FILE: &str = "replace";

pub trait PlanCheck: Sync {
    /// The kind of its findings.
    fn kind(&self) -> FindingKind;

    /// Checks one file.
    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let _ = (file, out);
    }

    /// Checks all files together.
    fn check_all(&self, files: &[FilePlan], out: &mut Vec<PlanFinding>) {
        let _ = (files, out);
    }
}

/// In the order in which findings are listed.
pub fn all() -> &'static [&'static dyn PlanCheck] {
    &[
        &near::NearCheck,
        &placeholder::PlaceholderCheck,
        &fragment::FragmentCheck,
        &mass_deletion::MassDeletionCheck,
        &hidden::HiddenCheck,
        &confusable::ConfusableCheck,
    ]
}

/// File by file in the order of the plan.
pub fn check_plan(files: &[FilePlan]) -> Vec<PlanFinding> {
    let mut found = Vec::new();
    for check in all() {
        check.check_all(files, &mut found);
    }
    for file in files.iter().filter(|file| file.change != FileChangeKind::Unchanged || file.has_doubt()) {
        let before = file.before.as_deref().and_then(lossy_text);
        let after = file.after.as_deref().and_then(lossy_text);
        let look = CheckedFile { file, before: before.as_deref(), after: after.as_deref() };
        for check in all() {
            check.check(&look, &mut found);
        }
    }
    found
}

/// A file of a plan with its text, read-only.
pub struct CheckedFile<'a> {
    pub file: &'a FilePlan,
    /// `None` if it did not exist or is binary.
    pub before: Option<&'a str>,
    /// `None` if it is deleted or binary.
    pub after: Option<&'a str>,
}

impl CheckedFile<'_> {
    fn finding(&self, kind: FindingKind, line: Option<usize>, text: String) -> PlanFinding {
        PlanFinding { kind, path: self.file.path.clone(), line, text }
    }
}

/// Text that is good enough to look at, never to write back: bytes of unknown encodings become replacement
/// characters. `None` for binary.
pub(crate) fn lossy_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    if !wide && memchr::memchr(0, bytes).is_none() {
        // Nearly every file is UTF-8, and only checking that is much faster.
        let text = std::str::from_utf8(bytes).map(Cow::Borrowed);
        return Some(text.unwrap_or_else(|_| String::from_utf8_lossy(bytes)));
    }
    let source = TextFile::decode_candidates(bytes).ok()?.into_iter().next()?;
    Some(Cow::Owned(source.text().to_owned()))
}

/// Without their endings, whatever these are.
pub(crate) fn text_lines(text: &str) -> impl Iterator<Item = &str> {
    line_ranges(text.as_bytes()).map(|line| {
        let line = &text[line];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    })
}

/// The start of a line for a message: without indentation, at most 80 characters.
pub(crate) fn clip_line(line: &str) -> String {
    const WIDTH: usize = 80;
    let line = line.trim();
    match line.char_indices().nth(WIDTH) {
        None => line.to_owned(),
        Some(_) => line.chars().take(WIDTH - 1).chain(['…']).collect(),
    }
}
