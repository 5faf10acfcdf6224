//! Which words of a changed line are the change: `let total` became `let sum`, and only the name is new.
//!
//! In a run of removed and added lines, each line is paired with the one it turned into, in order. Lines
//! with little in common stay alone: a whole new line reads better than a mosaic. The ranges lie on
//! character boundaries, in order, without overlap. The work is bounded by the size of the hunk, not by a
//! clock: what is too long to compare counts as wholly changed.

mod tokens;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{DiffHunk, DiffLineKind};
use crate::lines::align::equal_ends;
use tokens::LineTokens;

/// Longer lines, in bytes, are not compared.
pub const LINE_BYTES: usize = 2_000;

/// In runs with more lines on one side, a line is compared only with the one at the same position, and only
/// if both sides have the same number of lines.
pub const RUN_LINES: usize = 40;

/// Most tokens of a line that are compared, without the common beginning and end.
const LINE_TOKENS: usize = 400;

/// Least similarity of two paired lines, in per cent by weight.
const ALIKE: u64 = 40;

/// What is known of one line of a hunk beside its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineWords {
    /// The line that it turned into, or came from: an index into the lines of the hunk.
    pub partner: Option<usize>,
    /// The bytes of the text that its partner does not have. Empty without a partner, and if only the line
    /// ending differs.
    pub changed: Vec<Range<usize>>,
}

/// What really differs in the lines of `hunk`, one entry per line.
///
/// ```
/// use relaycode_change::diff::{DiffHunk, DiffLine, FileLineEnding, DiffLineKind, changed_words};
/// let line = |kind, text: &str| DiffLine { kind, text: text.into(), ending: FileLineEnding::Lf, old: None, new: None };
/// let lines = vec![line(DiffLineKind::Removed, "let total = 0;"), line(DiffLineKind::Added, "let sum = 0;")];
/// let words = changed_words(&DiffHunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines });
/// assert_eq!(words[0].partner, Some(1));
/// assert_eq!((&words[0].changed[..], &words[1].changed[..]), (&[4..9][..], &[4..7][..]));
/// ```
pub fn changed_words(hunk: &DiffHunk) -> Vec<LineWords> {
    let mut found = vec![LineWords::default(); hunk.lines.len()];
    for (removed, added) in runs(hunk) {
        let mut ids = HashMap::new();
        let mut read = |lines: Range<usize>| -> Vec<LineTokens> {
            lines.map(|line| LineTokens::of(&hunk.lines[line].text, &mut ids)).collect()
        };
        let (old, new) = (read(removed.clone()), read(added.clone()));
        for (o, n) in pairs(&old, &new) {
            let Some((gone, come)) = compare(&old[o], &new[n]) else { continue };
            let (removed, added) = (removed.start + o, added.start + n);
            found[removed] = LineWords { partner: Some(added), changed: gone };
            found[added] = LineWords { partner: Some(removed), changed: come };
        }
    }
    found
}

type ByteRanges = Vec<Range<usize>>;

/// Removed lines, and the added lines right after them.
fn runs(hunk: &DiffHunk) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs = Vec::new();
    let end_of = |from: usize, kind: DiffLineKind| {
        from + hunk.lines[from..].iter().take_while(|line| line.kind == kind).count()
    };
    let mut at = 0;
    while at < hunk.lines.len() {
        let middle = end_of(at, DiffLineKind::Removed);
        let end = end_of(middle, DiffLineKind::Added);
        if at < middle && middle < end {
            runs.push((at..middle, middle..end));
        }
        at = end.max(at + 1);
    }
    runs
}

/// Which old line pairs with which new one; both in order.
fn pairs(old: &[LineTokens], new: &[LineTokens]) -> Vec<(usize, usize)> {
    if old.len() == 1 && new.len() == 1 {
        return vec![(0, 0)];
    }
    if old.len() <= RUN_LINES && new.len() <= RUN_LINES {
        return best_pairs(old, new);
    }
    if old.len() == new.len() { (0..old.len()).map(|line| (line, line)).collect() } else { Vec::new() }
}

/// The pairing with the most in common overall.
fn best_pairs(old: &[LineTokens], new: &[LineTokens]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    // best[o * width + n]: the best total for the lines from `o` and `n` on.
    let mut best = vec![0_u64; (old.len() + 1) * width];
    let mut scores = vec![0_u64; old.len() * new.len()];
    for o in (0..old.len()).rev() {
        for n in (0..new.len()).rev() {
            let score = score(&old[o], &new[n]);
            let together = if score > 0 { score + best[(o + 1) * width + n + 1] } else { 0 };
            scores[o * new.len() + n] = score;
            best[o * width + n] = together.max(best[(o + 1) * width + n]).max(best[o * width + n + 1]);
        }
    }
    let mut pairs = Vec::new();
    let (mut o, mut n) = (0, 0);
    while o < old.len() && n < new.len() {
        let here = best[o * width + n];
        let score = scores[o * new.len() + n];
        if score > 0 && here == score + best[(o + 1) * width + n + 1] {
            pairs.push((o, n));
            (o, n) = (o + 1, n + 1);
        } else if here == best[(o + 1) * width + n] {
            o += 1;
        } else {
            n += 1;
        }
    }
    pairs
}

/// How much two lines have in common, in any order of words; 0 if too little. Weight counts twice, as a
/// share and absolutely: one long kept line is worth more than two brackets.
fn score(old: &LineTokens, new: &LineTokens) -> u64 {
    if !old.comparable || !new.comparable {
        return 0;
    }
    let (total, same) = (old.weight + new.weight, old.shared_weight(new));
    if !alike(same, total) {
        return 0;
    }
    // Blank lines weigh nothing and pair if there is nothing better.
    1 + (same * same * 1_000).checked_div(total).unwrap_or(0)
}

fn alike(same: u64, total: u64) -> bool {
    same * 200 >= total * ALIKE
}

/// The ranges of each line that the other does not have; `None` if they are too different or too long.
fn compare(old: &LineTokens, new: &LineTokens) -> Option<(ByteRanges, ByteRanges)> {
    if !old.comparable || !new.comparable {
        return None;
    }
    let (old_ids, new_ids) = (&old.ids[..], &new.ids[..]);
    let (head, tail) = equal_ends(old_ids, new_ids);
    let (old_end, new_end) = (old_ids.len() - tail, new_ids.len() - tail);
    if old_end - head > LINE_TOKENS || new_end - head > LINE_TOKENS {
        return None;
    }
    let mut same = old.weight_of(0..head) + old.weight_of(old_end..old_ids.len());
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for op in capture_diff_slices(Algorithm::Myers, &old_ids[head..old_end], &new_ids[head..new_end]) {
        let shift = |range: Range<usize>| range.start + head..range.end + head;
        let (old_range, new_range) = (shift(op.old_range()), shift(op.new_range()));
        if matches!(op, DiffOp::Equal { .. }) {
            same += old.weight_of(old_range);
            continue;
        }
        old.mark(old_range, &mut gone);
        new.mark(new_range, &mut come);
    }
    alike(same, old.weight + new.weight).then_some((gone, come))
}
