//! A place where a hunk fits, and what fitting it there means for the file's lines.
//!
//! The principle behind [`splice`]: lines that the author keeps stay the file's own, byte for byte,
//! however they were recognised; only lines that the author changes are written anew.

use std::ops::Range;

use super::forms;
use super::view::{Level, View};
use crate::align::equal_runs;
use crate::plan::Difference;
use crate::proposal::Hunk;

/// A place where a hunk fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// First line of the file that belongs to it (0-based).
    pub start: usize,
    /// One past its last line.
    pub end: usize,
    /// Which line of the file each `before` line is.
    pub pairs: Pairs,
    /// Where the file and the author's view differ in more than layout.
    pub differences: Vec<Difference>,
    /// Likeness, 1 for all rungs but the near one.
    pub score: f64,
}

/// Which line of the file each `before` line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pairs {
    /// One after the other from the start of the fit.
    Straight,
    /// As listed; `None` for a blank line that the file does not have.
    Listed(Vec<Option<usize>>),
}

impl Fit {
    /// A fit of `count` lines, one after the other from `start`.
    pub fn straight(start: usize, count: usize) -> Fit {
        Fit {
            start,
            end: start + count,
            pairs: Pairs::Straight,
            differences: Vec::new(),
            score: 1.0,
        }
    }

    /// The line of the file that the `before` line `i` is.
    pub fn file_line(&self, i: usize) -> Option<usize> {
        match &self.pairs {
            Pairs::Straight => Some(self.start + i),
            Pairs::Listed(lines) => lines.get(i).copied().flatten(),
        }
    }
}

/// The lines of `range` go, `new` comes in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// Lines of the file (0-based, end excluded); empty for an insertion before `start`.
    pub range: Range<usize>,
    /// The lines that come in.
    pub new: Vec<String>,
}

/// One line of the result of a fit.
enum Item {
    /// A line of the file stays. `follows`: it and the item before are neighbours for the author,
    /// so whatever the file has between them stays too.
    Keep { line: usize, follows: bool },
    /// A new line.
    New(String),
}

/// The edits that put `hunk` into the file at `fit`. `after` is the hunk's new text in the file's
/// own terms (indentation, characters); `level` is what the rung forgave.
pub(super) fn splice(
    view: &View<'_>,
    hunk: &Hunk,
    fit: &Fit,
    after: &[String],
    level: Level,
) -> Vec<LineEdit> {
    let kept = kept_lines(view, hunk, fit, level);
    let mut items = Vec::with_capacity(after.len());
    let mut last_kept: Option<(usize, usize)> = None;
    for (j, text) in after.iter().enumerate() {
        let Some(i) = kept[j] else {
            items.push(Item::New(text.clone()));
            continue;
        };
        let follows =
            last_kept.is_some_and(|(before_i, before_j)| before_i + 1 == i && before_j + 1 == j);
        match fit.file_line(i) {
            Some(line) => items.push(Item::Keep { line, follows }),
            // A blank line that only the author sees, between lines that stay: nothing to do.
            None if forms::is_blank(text) => {}
            None => items.push(Item::New(text.clone())),
        }
        last_kept = Some((i, j));
    }
    edits_of(fit, items)
}

fn edits_of(fit: &Fit, items: Vec<Item>) -> Vec<LineEdit> {
    let mut edits = Vec::new();
    let mut cursor = fit.start;
    let mut new = Vec::new();
    for item in items {
        match item {
            Item::New(text) => new.push(text),
            Item::Keep { line, follows } => {
                if !new.is_empty() || (cursor < line && !follows) {
                    edits.push(LineEdit {
                        range: cursor..line,
                        new: std::mem::take(&mut new),
                    });
                }
                cursor = line + 1;
            }
        }
    }
    if !new.is_empty() || cursor < fit.end {
        edits.push(LineEdit {
            range: cursor..fit.end.max(cursor),
            new,
        });
    }
    edits
}

/// For every `after` line the `before` line that it is, if the author keeps it.
fn kept_lines(view: &View<'_>, hunk: &Hunk, fit: &Fit, level: Level) -> Vec<Option<usize>> {
    let mut kept = vec![None; hunk.after.len()];
    if let Some(pairs) = &hunk.kept {
        for (i, j) in pairs {
            if let Some(slot) = kept.get_mut(*j) {
                *slot = Some(*i);
            }
        }
        return kept;
    }
    let forms = |lines: &[String]| {
        lines
            .iter()
            .map(|line| level.form(line).into_owned())
            .collect::<Vec<_>>()
    };
    for run in equal_runs(&forms(&hunk.before), &forms(&hunk.after)) {
        for k in 0..run.len {
            let (i, j) = (run.old + k, run.new + k);
            let seen_as_it_is = fit
                .file_line(i)
                .is_some_and(|line| view.lines()[line] == hunk.before[i]);
            // Where the author saw the line as it is and writes it otherwise, that is a change,
            // even if it is only one of layout.
            if hunk.before[i] == hunk.after[j] || !seen_as_it_is {
                kept[j] = Some(i);
            }
        }
    }
    kept
}

/// Whether carrying out `edits` would leave every line as it is.
pub(super) fn changes_nothing(view: &View<'_>, edits: &[LineEdit]) -> bool {
    edits.iter().all(|edit| {
        let old = &view.lines()[edit.range.clone()];
        old.len() == edit.new.len() && old.iter().zip(&edit.new).all(|(a, b)| a == b)
    })
}
