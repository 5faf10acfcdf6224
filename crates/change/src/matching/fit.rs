//! A place where a hunk fits, and what fitting it there means for the file's lines.
//!
//! The principle behind [`splice`]: lines that the author keeps stay the file's own, byte for byte, however
//! they were recognised; only lines that the author changes are written.

use std::collections::HashSet;
use std::ops::Range;

use super::line_index::LineIndex;
use super::normalize;
use crate::lines::align::{self, equal_runs};
use crate::plan::HunkDifference;
use crate::proposal::Hunk;

#[derive(Debug, Clone, PartialEq)]
pub struct HunkFit {
    /// First line of the file (from 0).
    pub start: usize,
    /// One past its last line.
    pub end: usize,
    /// Which line of the file each `before` line is.
    pub pairs: FitPairs,
    /// Where the file and the author's view differ in more than layout.
    pub differences: Vec<HunkDifference>,
    /// Similarity, 1 for all rungs but the near one.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FitPairs {
    /// Consecutive from the start of the fit.
    Consecutive,
    /// `None` for a blank line that the file does not have.
    Listed(Vec<Option<usize>>),
}

impl HunkFit {
    /// `count` consecutive lines from `start`.
    pub fn consecutive(start: usize, count: usize) -> HunkFit {
        HunkFit {
            start,
            end: start + count,
            pairs: FitPairs::Consecutive,
            differences: Vec::new(),
            score: 1.0,
        }
    }

    /// The line of the file for the `before` line `i`.
    pub fn file_line(&self, i: usize) -> Option<usize> {
        match &self.pairs {
            FitPairs::Consecutive => Some(self.start + i),
            FitPairs::Listed(lines) => lines.get(i).copied().flatten(),
        }
    }
}

/// Replaces the lines of `range` by `new`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// From 0, end excluded; empty for an insertion before `start`.
    pub range: Range<usize>,
    pub new: Vec<String>,
}

/// One line of the result of a fit.
enum SpliceItem {
    /// A line of the file stays. `follows`: it and the item before are neighbours for the author, so
    /// whatever the file has between them stays too.
    Keep {
        line: usize,
        follows: bool,
    },
    New(String),
}

/// The edits that apply `hunk` at `fit`. `after` is the hunk's new text in the file's own terms
/// (indentation, characters).
pub(crate) fn splice(view: &LineIndex<'_>, hunk: &Hunk, fit: &HunkFit, after: &[String]) -> Vec<LineEdit> {
    if !view.budget().draw(align::steps(&hunk.before, &hunk.after)) {
        return Vec::new();
    }
    let kept = kept_lines(hunk);
    let as_written = shows_blank_lines(hunk, fit);
    let mut items = Vec::with_capacity(after.len());
    let mut last_kept: Option<(usize, usize)> = None;
    for (j, text) in after.iter().enumerate() {
        let Some(i) = kept[j] else {
            items.push(SpliceItem::New(text.clone()));
            continue;
        };
        let follows = !as_written
            && last_kept.is_some_and(|(before_i, before_j)| before_i + 1 == i && before_j + 1 == j);
        match fit.file_line(i) {
            Some(line) => items.push(SpliceItem::Keep { line, follows }),
            // A blank line that only the author sees, between lines that stay: nothing to do.
            None if normalize::is_blank(text) => {}
            None => items.push(SpliceItem::New(text.clone())),
        }
        last_kept = Some((i, j));
    }
    let mut edits = edits_of(fit, items, as_written);
    edits.retain_mut(|edit| leave_equal_ends(view, edit));
    edits
}

fn edits_of(fit: &HunkFit, items: Vec<SpliceItem>, as_written: bool) -> Vec<LineEdit> {
    let known: Option<HashSet<usize>> = match &fit.pairs {
        FitPairs::Listed(pairs) if !as_written => Some(pairs.iter().flatten().copied().collect()),
        _ => None,
    };
    let leave = |range, new: &[String]| match &known {
        Some(known) => leave_blank_lines(known, range, new),
        None => range,
    };
    let mut edits = Vec::new();
    let mut cursor = fit.start;
    let mut new = Vec::new();
    for item in items {
        match item {
            SpliceItem::New(text) => new.push(text),
            SpliceItem::Keep { line, follows } => {
                if !new.is_empty() || (cursor < line && !follows) {
                    let range = leave(cursor..line, &new);
                    edits.push(LineEdit { range, new: std::mem::take(&mut new) });
                }
                cursor = line + 1;
            }
        }
    }
    if !new.is_empty() || cursor < fit.end {
        let range = leave(cursor..fit.end.max(cursor), &new);
        edits.push(LineEdit { range, new });
    }
    edits
}

/// Whether an author who does not mark what stays has blank lines of the file in the old text. Then the
/// block is meant as written, even where it lacks blank lines; an author who omits all of them does not
/// know about them.
fn shows_blank_lines(hunk: &Hunk, fit: &HunkFit) -> bool {
    let FitPairs::Listed(pairs) = &fit.pairs else { return false };
    let mut lines = hunk.before.iter().zip(pairs);
    hunk.kept.is_none() && lines.any(|(line, pair)| pair.is_some() && normalize::is_blank(line))
}

/// Spares blank lines at either end of `range` that only the file has (they are not `known`), if each of the other lines is
/// replaced by one of `new`: the author rewrites lines and does not know about the blank ones.
fn leave_blank_lines(known: &HashSet<usize>, range: Range<usize>, new: &[String]) -> Range<usize> {
    let known = |line: &usize| known.contains(line);
    let rewritten = range.clone().filter(known).count();
    let own_blanks = new.first().is_none_or(|line| normalize::is_blank(line))
        || new.last().is_none_or(|line| normalize::is_blank(line));
    if rewritten != new.len() || own_blanks {
        return range;
    }
    let start = range.clone().find(known).unwrap_or(range.start);
    let end = range.clone().rev().find(known).map_or(range.end, |line| line + 1);
    start..end
}

/// Drops equal lines from both ends of the edit; `false` if nothing is left.
pub(crate) fn leave_equal_ends(view: &LineIndex<'_>, edit: &mut LineEdit) -> bool {
    let old = &view.lines()[edit.range.clone()];
    let head = old.iter().zip(&edit.new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(edit.new.len()) - head;
    let tail = old.iter().rev().zip(edit.new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    edit.range = edit.range.start + head..edit.range.end - tail;
    edit.new.truncate(edit.new.len() - tail);
    edit.new.drain(..head);
    !edit.range.is_empty() || !edit.new.is_empty()
}

/// For every `after` line the `before` line that it is, if the author keeps it: compared in the author's
/// own words, so that a line which only changes its layout is a change.
fn kept_lines(hunk: &Hunk) -> Vec<Option<usize>> {
    let mut kept = vec![None; hunk.after.len()];
    let mut keep = |i: usize, j: usize| {
        if let Some(slot) = kept.get_mut(j) {
            *slot = Some(i);
        }
    };
    match &hunk.kept {
        Some(pairs) => pairs.iter().for_each(|(i, j)| keep(*i, *j)),
        None => {
            for run in equal_runs(&hunk.before, &hunk.after) {
                (0..run.len).for_each(|k| keep(run.old + k, run.new + k));
            }
        }
    }
    kept
}
