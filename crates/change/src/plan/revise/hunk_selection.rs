//! Applying some of the hunks of a file's diff.
//!
//! The diff is made of decoded text, the result of bytes. Both have the same lines, so a hunk says which
//! lines of the old bytes are replaced by which lines of the new ones. If that is not certain (the encoding
//! changes, or the lines do not agree) nothing is picked.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ReviseError;
use crate::diff::{self, DiffContent, DiffHunk, DiffLine, DiffLineKind};
use crate::lines::text_file::{TextFile, line_ranges};
use crate::plan::{FilePlan, HunkReport, HunkState};

pub(super) struct HunkSelection {
    pub(super) after: Vec<u8>,
    /// How many hunks were taken.
    pub(super) taken: usize,
    pub(super) of: usize,
    /// The reports that are still true.
    pub(super) reports: Vec<HunkReport>,
}

/// The file with only the hunks of these indexes.
pub(super) fn select_hunks(file: &FilePlan, wanted: &[usize]) -> Result<HunkSelection, ReviseError> {
    let path = || file.path.clone();
    let hunks = match diff::diff_file(file).content {
        DiffContent::Text { hunks, .. } => hunks,
        DiffContent::Same => Vec::new(),
        DiffContent::Binary { .. } => return Err(ReviseError::Binary { path: path() }),
    };
    let wanted: BTreeSet<usize> = wanted.iter().copied().collect();
    if let Some(hunk) = wanted.iter().copied().find(|hunk| *hunk >= hunks.len()) {
        return Err(ReviseError::NoSuchHunk { path: path(), hunk, of: hunks.len() });
    }
    let reports = remaining_reports(&file.hunks, &hunks, &wanted);
    let (taken, of) = (wanted.len(), hunks.len());
    let before = file.before.as_deref().unwrap_or_default();
    let after = file.after.as_deref().unwrap_or_default();
    if taken == of {
        return Ok(HunkSelection { after: after.to_vec(), taken, of, reports });
    }
    let (old, new) = ByteLines::pair(before, after).ok_or(ReviseError::Encoding { path: path() })?;
    let mut out = old.mark.to_vec();
    let mut next = 0;
    for hunk in wanted.iter().map(|at| &hunks[*at]) {
        let (gone, come) = (old_range(hunk), new_range(hunk));
        let (Some(kept), Some(come)) = (old.lines.get(next..gone.start), new.lines.get(come)) else {
            return Err(ReviseError::Encoding { path: path() });
        };
        kept.iter().chain(come).for_each(|line| out.extend_from_slice(line));
        next = gone.end;
    }
    old.lines[next.min(old.lines.len())..].iter().for_each(|line| out.extend_from_slice(line));
    Ok(HunkSelection { after: out, taken, of, reports })
}

/// The lines of the old text in a hunk, from 0.
fn old_range(hunk: &DiffHunk) -> Range<usize> {
    range(hunk.old_start, hunk.old_lines)
}

/// The lines of the new text in a hunk, from 0.
fn new_range(hunk: &DiffHunk) -> Range<usize> {
    range(hunk.new_start, hunk.new_lines)
}

/// The lines of the old text that a hunk changes, from 0, without context.
fn changed_range(hunk: &DiffHunk) -> Range<usize> {
    let context = |line: &&DiffLine| line.kind == DiffLineKind::Context;
    let Range { start, end } = old_range(hunk);
    let head = hunk.lines.iter().take_while(context).count();
    let tail = hunk.lines.iter().rev().take_while(context).count();
    start + head..(end - tail.min(end)).max(start + head)
}

/// An empty side has the number of the line before.
fn range(start: usize, lines: usize) -> Range<usize> {
    let start = if lines == 0 { start } else { start - 1 };
    start..start + lines
}

/// The bytes of a file, split into the lines of its diff.
struct ByteLines<'b> {
    /// The byte order mark, if the decoded text has none of it.
    mark: &'b [u8],
    lines: Vec<&'b [u8]>,
}

/// How lines are told apart in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeUnitWidth {
    /// One byte ends a line, in UTF-8 and in every ASCII-compatible encoding.
    One,
    /// Two bytes; `true` if the zero comes first.
    Two(bool),
}

impl<'b> ByteLines<'b> {
    /// The lines of both sides; `None` if they cannot be mixed.
    fn pair(before: &'b [u8], after: &'b [u8]) -> Option<(ByteLines<'b>, ByteLines<'b>)> {
        let ((old_name, old), (new_name, new)) = (ByteLines::of(before)?, ByteLines::of(after)?);
        let wide = |name: &str| name.starts_with("UTF-16");
        let fits_any = |name: &str, bytes: &[u8]| bytes.is_empty() || (!wide(name) && bytes.is_ascii());
        let either = fits_any(old_name, before) && !wide(new_name)
            || fits_any(new_name, after) && !wide(old_name)
            || before.is_empty()
            || after.is_empty();
        (old_name == new_name || either).then_some((old, new))
    }

    fn of(bytes: &'b [u8]) -> Option<(&'static str, ByteLines<'b>)> {
        let plain = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        if plain {
            return Some(("UTF-8", ByteLines { mark: &[], lines: split(bytes, CodeUnitWidth::One) }));
        }
        let source = TextFile::decode_candidates(bytes).ok()?.into_iter().next()?;
        let name = source.encoding();
        let (width, mark) = match name {
            "UTF-16LE" => (CodeUnitWidth::Two(false), bytes.starts_with(b"\xFF\xFE")),
            "UTF-16BE" => (CodeUnitWidth::Two(true), bytes.starts_with(b"\xFE\xFF")),
            _ => (CodeUnitWidth::One, false),
        };
        let (mark, body) = bytes.split_at(if mark { 2 } else { 0 });
        let lines = split(body, width);
        (lines.len() == source.line_count()).then_some((name, ByteLines { mark, lines }))
    }
}

/// Lines with their endings: up to a line feed, or in bytes without any, up to a carriage return.
fn split(bytes: &[u8], width: CodeUnitWidth) -> Vec<&[u8]> {
    let CodeUnitWidth::Two(zero_first) = width else {
        return line_ranges(bytes).map(|line| &bytes[line]).collect();
    };
    let unit = |byte: u8| if zero_first { [0, byte] } else { [byte, 0] };
    let (feed, back) = (unit(b'\n'), unit(b'\r'));
    let size = feed.len();
    let has = |wanted: &[u8]| bytes.chunks(size).any(|chunk| chunk == wanted);
    let end = if !has(&feed) && has(&back) { back } else { feed };
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, chunk) in bytes.chunks(size).enumerate() {
        if chunk == end {
            lines.push(&bytes[start..(at + 1) * size]);
            start = (at + 1) * size;
        }
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    lines
}

/// The reports of edits of which something stays. An edit is responsible for the hunks from its own line to
/// the next edit's: if a part of them stays, its report is still of interest.
fn remaining_reports(
    reports: &[HunkReport],
    hunks: &[DiffHunk],
    wanted: &BTreeSet<usize>,
) -> Vec<HunkReport> {
    let mut places: Vec<usize> = reports.iter().map(|report| report.used.saturating_sub(1)).collect();
    places.sort_unstable();
    let stays = |report: &&HunkReport| {
        let from = report.used.saturating_sub(1);
        let until = places.iter().copied().find(|place| *place > from).unwrap_or(usize::MAX);
        let is_first = places.first() == Some(&from);
        let mut own = hunks.iter().enumerate().filter(|(_, hunk)| {
            let Range { start, end } = changed_range(hunk);
            start < until && (end.max(start + 1) > from || is_first)
        });
        let mut any = false;
        let kept = own.any(|(at, _)| {
            any = true;
            wanted.contains(&at)
        });
        report.state == HunkState::AlreadyIn || kept || !any
    };
    reports.iter().filter(stays).cloned().collect()
}
