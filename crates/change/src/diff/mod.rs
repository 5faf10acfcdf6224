//! What a plan changes, as a diff: for people ([`diff_file`]), for machines (the same, serialized) and for
//! `git apply` (`patch`).
//!
//! Two renderings of the same comparison. The one for people is decoded text, and says in words what
//! lines cannot show (binary content, a change of line endings alone). The one for git is made of the
//! file's own bytes, so that applying it to "before" gives exactly "after".

mod lines;
mod patch;
#[cfg(test)]
mod tests;
mod word_diff;

use std::borrow::Cow;

use serde::Serialize;
use similar::{DiffOp, DiffTag, group_diff_ops};

pub use lines::count_changed_lines;
pub(crate) use lines::equal_ends;
pub use patch::{git_patch, reverse_git_patch};
pub use word_diff::{LINE_BYTES, LineWords, RUN_LINES, changed_words};

use crate::lines::align;
pub use crate::lines::text_file::FileLineEnding;
use crate::lines::text_file::TextFile;
use crate::plan::{FileChangeKind, FilePlan, Plan};
use crate::proposal::GitFileMode;
use crate::proposal::path::RelPath;

/// Lines shown around a change.
pub const CONTEXT_LINES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// After the change (for a deletion, before it).
    pub path: RelPath,
    /// Before, if it is renamed.
    pub renamed_from: Option<RelPath>,
    pub change: FileChangeKind,
    pub mode_before: Option<GitFileMode>,
    pub mode_after: Option<GitFileMode>,
    #[serde(flatten)]
    pub content: DiffContent,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "content", rename_all = "camelCase")]
pub enum DiffContent {
    /// A rename, a change of mode, an empty file.
    Same,
    /// Lines are added or removed.
    Text {
        /// In the order of the file.
        hunks: Vec<DiffHunk>,
        /// Line endings that change on otherwise equal lines.
        endings: Option<LineEndingChange>,
    },
    /// Not text.
    #[serde(rename_all = "camelCase")]
    Binary { bytes_before: usize, bytes_after: usize },
}

/// One changed place, with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// From 1; the line before it if `old_lines` is 0.
    pub old_start: usize,
    pub old_lines: usize,
    /// From 1; the line before it if `new_lines` is 0.
    pub new_start: usize,
    pub new_lines: usize,
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: DiffLineKind,
    /// Without its ending.
    pub text: String,
    pub ending: FileLineEnding,
    /// Number in the old text.
    pub old: Option<usize>,
    /// Number in the new text.
    pub new: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DiffLineKind {
    Context,
    Removed,
    Added,
}

impl FileDiff {
    /// Lines that are added, and lines that are removed.
    pub fn line_counts(&self) -> (usize, usize) {
        let DiffContent::Text { hunks, .. } = &self.content else { return (0, 0) };
        let count = |kind| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
        (count(DiffLineKind::Added), count(DiffLineKind::Removed))
    }
}

impl DiffHunk {
    /// The numbers of its header, without its lines.
    fn header(group: &[DiffOp]) -> DiffHunk {
        let (old, new) = group.first().map_or((0, 0), |op| (op.old_range().start, op.new_range().start));
        let old_lines = group.iter().map(|op| op.old_range().len()).sum();
        let new_lines = group.iter().map(|op| op.new_range().len()).sum();
        // An empty side has the number of the line before.
        let start = |index: usize, lines: usize| if lines == 0 { index } else { index + 1 };
        let (old_start, new_start) = (start(old, old_lines), start(new, new_lines));
        DiffHunk { old_start, old_lines, new_start, new_lines, lines: Vec::new() }
    }
}

impl DiffLineKind {
    /// As in a unified diff.
    pub fn sign(self) -> char {
        match self {
            DiffLineKind::Context => ' ',
            DiffLineKind::Removed => '-',
            DiffLineKind::Added => '+',
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LineEndingChange {
    /// How many lines differ only in their ending.
    pub lines: usize,
    /// How the first of them ended.
    pub from: FileLineEnding,
    /// How it ends now.
    pub to: FileLineEnding,
    /// Nothing else changes in the file.
    pub only: bool,
}

/// Every changed file.
pub fn diff_plan(plan: &Plan) -> Vec<FileDiff> {
    plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged).map(diff_file).collect()
}

/// As decoded text.
pub fn diff_file(file: &FilePlan) -> FileDiff {
    let FilePlan { change, mode_before, mode_after, .. } = *file;
    let (path, renamed_from) = (file.path.clone(), file.renamed_from.clone());
    let [before, after] = [&file.before, &file.after].map(|bytes| bytes.as_deref().unwrap_or_default());
    FileDiff { path, renamed_from, change, mode_before, mode_after, content: content(before, after) }
}

fn content(before: &[u8], after: &[u8]) -> DiffContent {
    if before == after {
        return DiffContent::Same;
    }
    let (Some(old), Some(new)) = (decode_text(before), decode_text(after)) else {
        return DiffContent::Binary { bytes_before: before.len(), bytes_after: after.len() };
    };
    let (old, new) = (lines::split(old.as_bytes()), lines::split(new.as_bytes()));
    let operations = align::diff_operations(&old, &new);
    let endings = ending_change(&operations, &old, &new);
    let groups = group_diff_ops(operations, CONTEXT_LINES);
    DiffContent::Text { hunks: groups.iter().map(|group| hunk(group, &old, &new)).collect(), endings }
}

/// The text as a diff shows and counts its lines; `None` if it is not text.
pub fn decode_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if memchr::memchr(0, bytes).is_none()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Some(Cow::Borrowed(text));
    }
    let source = TextFile::decode_candidates(bytes).ok()?.into_iter().next()?;
    Some(Cow::Owned(source.text().to_string()))
}

fn hunk(group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) -> DiffHunk {
    let mut hunk = DiffHunk::header(group);
    let context = |(o, n): (usize, usize)| line(DiffLineKind::Context, old[o], Some(o), Some(n));
    for op in group {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            hunk.lines.extend(old_range.zip(new_range).map(context));
            continue;
        }
        hunk.lines.extend(old_range.map(|o| line(DiffLineKind::Removed, old[o], Some(o), None)));
        hunk.lines.extend(new_range.map(|n| line(DiffLineKind::Added, new[n], None, Some(n))));
    }
    hunk
}

fn line(kind: DiffLineKind, bytes: &[u8], old: Option<usize>, new: Option<usize>) -> DiffLine {
    let (body, ending) = split_ending(bytes);
    let text = String::from_utf8_lossy(body).into_owned();
    DiffLine { kind, text, ending, old: old.map(|o| o + 1), new: new.map(|n| n + 1) }
}

fn split_ending(line: &[u8]) -> (&[u8], FileLineEnding) {
    let endings = [FileLineEnding::CrLf, FileLineEnding::Lf, FileLineEnding::Cr];
    let found = endings.into_iter().find(|eol| line.ends_with(eol.as_str().as_bytes()));
    let ending = found.unwrap_or(FileLineEnding::None);
    (&line[..line.len() - ending.as_str().len()], ending)
}

/// Lines replaced by themselves with another ending.
fn ending_change(operations: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) -> Option<LineEndingChange> {
    let mut found: Option<LineEndingChange> = None;
    let mut others = false;
    for op in operations {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        others |= old_range.len() != new_range.len();
        for (o, n) in old_range.zip(new_range) {
            let ((old_body, from), (new_body, to)) = (split_ending(old[o]), split_ending(new[n]));
            if old_body != new_body {
                others = true;
                continue;
            }
            found.get_or_insert(LineEndingChange { lines: 0, from, to, only: true }).lines += 1;
        }
    }
    found.map(|change| LineEndingChange { only: !others, ..change })
}
