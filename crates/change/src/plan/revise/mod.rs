//! Changing a plan as a person wants it: without a file, with only some hunks of one, or with the person's
//! own text.
//!
//! The result is a new plan with its own counts, changes and findings; the caller repeats the syntax check.
//! The bytes are those of the file before and of the plan: lines are taken whole, with their endings, so
//! that picking all hunks is the plan's own result and picking none is the file as it was.

mod hunk_selection;
#[cfg(test)]
mod tests;

use crate::diff;
use crate::plan::findings;
use crate::plan::findings::lossy_text;
use crate::plan::{FileChangeKind, FilePlan, FindingKind, Plan};
use crate::proposal::ProposalNote;
use crate::proposal::limits::FILE_BYTES;
use crate::proposal::path::RelPath;

/// Why a plan cannot be revised. The plan is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviseError {
    #[error("{path} is not in this plan")]
    NoSuchFile { path: RelPath },
    #[error("{path} has {of} hunks, and no hunk {}", .hunk + 1)]
    NoSuchHunk {
        path: RelPath,
        /// From 0.
        hunk: usize,
        /// How many hunks it has.
        of: usize,
    },
    /// There are no lines to choose from.
    #[error("{path} is not text; take all of it or leave it out")]
    Binary { path: RelPath },
    /// The change turns the file into another encoding: half of it would be neither.
    #[error("{path} changes its encoding; take all of it or leave it out")]
    Encoding { path: RelPath },
    /// Longer than relay's limit.
    #[error("the text for {path} has {bytes} bytes; the limit `file` is {FILE_BYTES}")]
    TooLong { path: RelPath, bytes: usize },
}

/// The plan without one file. For a renamed file that includes the rename.
///
/// # Errors
/// `NoSuchFile`.
pub fn exclude_file(plan: &Plan, path: &RelPath) -> Result<Plan, ReviseError> {
    let at = position(plan, path)?;
    let mut files = plan.files.clone();
    files.remove(at);
    Ok(revised_plan(plan, files, format!("{path} was left out")))
}

/// The plan with only some hunks of one file: those with these indexes (from 0) in
/// [`diff_file`](crate::diff::diff_file), applied to the file as it is before. No hunk at all leaves the
/// file out. A rename and a mode stay with the hunks that stay.
///
/// # Errors
/// `NoSuchFile`, `NoSuchHunk`; `Binary` and `Encoding` if lines cannot be told apart.
pub fn keep_hunks(plan: &Plan, path: &RelPath, hunks: &[usize]) -> Result<Plan, ReviseError> {
    let at = position(plan, path)?;
    if hunks.is_empty() {
        return exclude_file(plan, path);
    }
    let file = &plan.files[at];
    let picked = hunk_selection::select_hunks(file, hunks)?;
    let note = format!("{path}: {} of {} hunks were taken", picked.taken, picked.of);
    let mut files = plan.files.clone();
    if picked.taken < picked.of {
        files[at] = with_after(FilePlan { hunks: picked.reports, ..file.clone() }, picked.after);
    }
    Ok(revised_plan(plan, files, note))
}

/// The plan with a person's own text for one file. A file that the plan deletes stays, with this text. The
/// reports of the plan's hunks no longer apply, and are dropped.
///
/// # Errors
/// `NoSuchFile`; `Binary` if the file or the text is not text; `TooLong`.
pub fn replace_text(plan: &Plan, path: &RelPath, bytes: Vec<u8>) -> Result<Plan, ReviseError> {
    let at = position(plan, path)?;
    let file = &plan.files[at];
    if bytes.len() > FILE_BYTES {
        return Err(ReviseError::TooLong { path: path.clone(), bytes: bytes.len() });
    }
    let texts = [file.before.as_deref(), file.after.as_deref(), Some(&bytes)];
    if texts.into_iter().flatten().any(|bytes| lossy_text(bytes).is_none()) {
        return Err(ReviseError::Binary { path: path.clone() });
    }
    let mut files = plan.files.clone();
    files[at] = with_after(FilePlan { hunks: Vec::new(), dialect: None, ..file.clone() }, bytes);
    Ok(revised_plan(plan, files, format!("{path} was edited by hand")))
}

fn position(plan: &Plan, path: &RelPath) -> Result<usize, ReviseError> {
    let at = plan.files.iter().position(|file| file.path == *path);
    at.ok_or_else(|| ReviseError::NoSuchFile { path: path.clone() })
}

/// The file with other bytes after the change, and everything derived from them.
fn with_after(mut file: FilePlan, after: Vec<u8>) -> FilePlan {
    (file.added, file.removed) =
        diff::count_changed_lines(file.before.as_deref().unwrap_or_default(), &after);
    file.mode_after = file.mode_after.or(file.mode_before);
    file.after = Some(after);
    file.change = if file.renamed_from.is_some() {
        FileChangeKind::Renamed
    } else if file.before.is_none() {
        FileChangeKind::Added
    } else if file.before == file.after && file.mode_before == file.mode_after {
        FileChangeKind::Unchanged
    } else {
        FileChangeKind::Modified
    };
    file
}

fn revised_plan(plan: &Plan, files: Vec<FilePlan>, said: String) -> Plan {
    let mut findings = findings::check_plan(&files);
    // Only the operations themselves show what they replace.
    let changes = |path: &RelPath| {
        files.iter().any(|file| file.path == *path && file.change != FileChangeKind::Unchanged)
    };
    let replaces = plan.findings.iter().filter(|finding| finding.kind == FindingKind::Overwrite);
    findings.extend(replaces.filter(|finding| changes(&finding.path)).cloned());
    let mut notes = plan.notes.clone();
    notes.push(ProposalNote { line: 0, text: said });
    Plan { files, findings, notes }
}
