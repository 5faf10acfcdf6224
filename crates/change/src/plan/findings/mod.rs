//! What a person may want to look at before a plan is applied. One file per check, one trait, one
//! list. Checks read; none of them changes a plan, and a plan without findings is not thereby
//! right: they catch what is known to go wrong with generated changes.
//!
//! They run on every plan, so each is a single pass over the text of a file.

mod hidden;
mod mass_deletion;
mod near;

mod placeholder;
#[cfg(test)]
mod tests;

pub use mass_deletion::{DELETED_FILES, LARGE_FILE_LINES};

use std::borrow::Cow;

use crate::lines::text_file::TextFile;
use crate::plan::{FileChangeKind, FilePlan, FindingKind, PlanFinding};

/// A check of a planned change.
pub trait PlanCheck: Sync {
    /// What its findings are called.
    fn kind(&self) -> FindingKind;

    /// Looks at one file.
    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>);

    /// Looks at all files together.
    fn check_all(&self, files: &[FilePlan], out: &mut Vec<PlanFinding>) {
        let _ = (files, out);
    }
}

/// Every check, in the order in which findings are listed.
pub fn all() -> &'static [&'static dyn PlanCheck] {
    &[
        &near::NearCheck,
        &placeholder::PlaceholderCheck,
        &mass_deletion::MassDeletionCheck,
        &hidden::HiddenCheck,
    ]
}

/// What every check finds, file by file in the order of the plan.
pub fn check_plan(files: &[FilePlan]) -> Vec<PlanFinding> {
    let mut found = Vec::new();
    for check in all() {
        check.check_all(files, &mut found);
    }
    for file in files.iter().filter(|file| file.change != FileChangeKind::Unchanged) {
        let before = file.before.as_deref().and_then(lossy_text);
        let after = file.after.as_deref().and_then(lossy_text);
        let look = CheckedFile { file, before: before.as_deref(), after: after.as_deref() };
        for check in all() {
            check.check(&look, &mut found);
        }
    }
    found
}

/// A file of a plan with its text, for looking only.
pub struct CheckedFile<'a> {
    /// The file.
    pub file: &'a FilePlan,
    /// Its text before; `None` if it did not exist or is binary.
    pub before: Option<&'a str>,
    /// Its text after; `None` if it goes or is binary.
    pub after: Option<&'a str>,
}

impl CheckedFile<'_> {
    /// A finding about this file.
    fn finding(&self, kind: FindingKind, line: Option<usize>, text: String) -> PlanFinding {
        PlanFinding { kind, path: self.file.path.clone(), line, text }
    }
}

/// Bytes as text that is good enough to look at, never to write back: bytes of unknown encodings
/// become replacement characters. `None` for binary.
pub(crate) fn lossy_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
    if !wide && memchr::memchr(0, bytes).is_none() {
        return Some(String::from_utf8_lossy(bytes));
    }
    let source = TextFile::decode_candidates(bytes).ok()?.into_iter().next()?;
    Some(Cow::Owned(source.text().to_owned()))
}

/// The lines of a text, also of one that ends its lines in `\r` alone.
pub(crate) fn text_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let breaker = match memchr::memchr(b'\n', text.as_bytes()) {
        None => b'\r',
        Some(_) => b'\n',
    };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(breaker, rest.as_bytes()).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line.strip_suffix('\r').unwrap_or(line))
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
