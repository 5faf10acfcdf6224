//! Which lines of an old text are which lines of a new one: the only line diff of this crate. Its work is
//! bounded by the size of the texts, not by a clock: past the bound only lines that stand once in each text and what
//! is equal around them are aligned, which is coarser but never wrong.

use std::collections::HashMap;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The largest product of the line counts of both sides for which the shortest diff is computed, and of all gaps
/// between lines that stand once in each text.
pub const ALIGN_WORK: usize = 500_000;

/// Most pieces that a gap is cut into.
const PIECES: usize = 1_000;

/// The steps of an alignment at most.
pub(crate) fn steps<T>(old: &[T], new: &[T]) -> usize {
    (old.len() + new.len()) * 16 + old.len().saturating_mul(new.len()).min(ALIGN_WORK) / 2
}

/// A run of lines that both texts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EqualRun {
    pub old: usize,
    pub new: usize,
    pub len: usize,
}

/// Complete: the operations cover all of `old` and `new`.
pub fn diff_operations<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let (head, tail) = equal_ends(old, new);
    let [changed_old, changed_new] = [old, new].map(|lines| lines.len() - head - tail);
    if changed_old.saturating_mul(changed_new) <= ALIGN_WORK {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let mut operations = Vec::new();
    let (mut old_index, mut new_index) = (0, 0);
    let end = EqualRun { old: old.len(), new: new.len(), len: 0 };
    for run in equal_runs(old, new).into_iter().chain([end]) {
        let (old_len, new_len) = (run.old - old_index, run.new - new_index);
        match (old_len, new_len) {
            (0, 0) => {}
            (0, _) => operations.push(DiffOp::Insert { old_index, new_index, new_len }),
            (_, 0) => operations.push(DiffOp::Delete { old_index, old_len, new_index }),
            _ => operations.push(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        }
        if run.len > 0 {
            operations.push(DiffOp::Equal { old_index: run.old, new_index: run.new, len: run.len });
        }
        (old_index, new_index) = (run.old + run.len, run.new + run.len);
    }
    operations
}

/// In order, none empty.
pub fn equal_runs<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<EqualRun> {
    let (head, tail) = equal_ends(old, new);
    let mut runs = vec![EqualRun { old: 0, new: 0, len: head }];
    align_middle(&old[head..old.len() - tail], &new[head..new.len() - tail], head, &mut runs);
    runs.push(EqualRun { old: old.len() - tail, new: new.len() - tail, len: tail });
    join_runs(runs)
}

/// How many lines the texts share at the beginning, and how many more at the end.
pub(crate) fn equal_ends<T: Eq>(old: &[T], new: &[T]) -> (usize, usize) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    (head, tail)
}

/// Aligns what lies between the common head and tail. Lines that only one side has can never be aligned, so
/// they are left out before the diff.
fn align_middle<T: Hash + Eq>(old: &[T], new: &[T], offset: usize, runs: &mut Vec<EqualRun>) {
    if old.is_empty() || new.is_empty() {
        return;
    }
    let mut ids: HashMap<&T, (u32, bool)> = HashMap::new();
    for line in old {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        ids.entry(line).or_insert((next, false));
    }
    let mut new_side: Vec<(usize, u32)> = Vec::new();
    for (j, line) in new.iter().enumerate() {
        if let Some((id, shared)) = ids.get_mut(line) {
            *shared = true;
            new_side.push((j, *id));
        }
    }
    let old_side: Vec<(usize, u32)> = old
        .iter()
        .enumerate()
        .filter_map(|(i, line)| ids.get(line).filter(|(_, shared)| *shared).map(|(id, _)| (i, *id)))
        .collect();
    let (old_ids, new_ids) = (ids_of(&old_side), ids_of(&new_side));
    let mut pair = |o: usize, n: usize| {
        runs.push(EqualRun { old: offset + old_side[o].0, new: offset + new_side[n].0, len: 1 });
    };
    let mut work = ALIGN_WORK;
    if old_ids.len().saturating_mul(new_ids.len()) <= work {
        return align_gap(&old_ids, &new_ids, (0, 0), &mut work, &mut pair);
    }
    let (mut from_old, mut from_new) = (0, 0);
    for (o, n) in anchors(&old_ids, &new_ids).into_iter().chain([(old_ids.len(), new_ids.len())]) {
        let (old_gap, new_gap) = (&old_ids[from_old..o], &new_ids[from_new..n]);
        align_gap(old_gap, new_gap, (from_old, from_new), &mut work, &mut pair);
        if o < old_ids.len() {
            pair(o, n);
        }
        (from_old, from_new) = (o + 1, n + 1);
    }
}

fn ids_of(side: &[(usize, u32)]) -> Vec<u32> {
    side.iter().map(|(_, id)| *id).collect()
}

/// Pairs the lines of a gap that begins `at`: what is equal at its ends, and the rest while there is work left.
fn align_gap(
    old: &[u32],
    new: &[u32],
    at: (usize, usize),
    work: &mut usize,
    pair: &mut impl FnMut(usize, usize),
) {
    let (head, tail) = equal_ends(old, new);
    (0..head).for_each(|k| pair(at.0 + k, at.1 + k));
    let (rest_old, rest_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let product = rest_old.len().saturating_mul(rest_new.len());
    // A gap that is too large is cut into as many pieces on both sides as make it small enough.
    let pieces = product.div_ceil((*work).max(1)).max(1);
    if pieces <= PIECES {
        *work -= (product / pieces).min(*work);
        let cut = |lines: &[u32], piece: usize| lines.len() * piece / pieces;
        for piece in 0..pieces {
            let [from_old, to_old] = [piece, piece + 1].map(|piece| cut(rest_old, piece));
            let [from_new, to_new] = [piece, piece + 1].map(|piece| cut(rest_new, piece));
            let (old, new) = (&rest_old[from_old..to_old], &rest_new[from_new..to_new]);
            for op in capture_diff_slices(Algorithm::Myers, old, new) {
                if let DiffOp::Equal { old_index, new_index, len } = op {
                    let (o, n) = (at.0 + head + from_old + old_index, at.1 + head + from_new + new_index);
                    (0..len).for_each(|k| pair(o + k, n + k));
                }
            }
        }
    }
    (0..tail).rev().for_each(|k| pair(at.0 + old.len() - 1 - k, at.1 + new.len() - 1 - k));
}

/// The longest row of lines that stand once on each side and in the same order on both.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let once = |side: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, id) in side.iter().enumerate() {
            places.entry(*id).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (old_places, new_places) = (once(old), once(new));
    let candidate = |(o, id): (usize, &u32)| {
        old_places[id]?;
        Some((o, (*new_places.get(id)?)?))
    };
    let pairs: Vec<(usize, usize)> = old.iter().enumerate().filter_map(candidate).collect();
    // Piles of pairs: each pair points at the one that it follows.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, n)) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].1 < *n);
        before.push(pile.checked_sub(1).map(|below| tops[below]));
        if pile == tops.len() { tops.push(at) } else { tops[pile] = at }
    }
    let mut row: Vec<(usize, usize)> =
        std::iter::successors(tops.last().copied(), |at| before[*at]).map(|at| pairs[at]).collect();
    row.reverse();
    row
}

fn join_runs(runs: Vec<EqualRun>) -> Vec<EqualRun> {
    let mut joined: Vec<EqualRun> = Vec::new();
    for run in runs.into_iter().filter(|run| run.len > 0) {
        match joined.last_mut() {
            Some(last) if last.old + last.len == run.old && last.new + last.len == run.new => {
                last.len += run.len;
            }
            _ => joined.push(run),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_what_is_equal() {
        let runs = equal_runs(&["a", "b", "c", "d"], &["a", "x", "c", "d", "e"]);
        assert_eq!(runs, [EqualRun { old: 0, new: 0, len: 1 }, EqualRun { old: 2, new: 2, len: 2 }]);
        assert_eq!(equal_runs::<&str>(&[], &[]), []);
        assert_eq!(equal_runs(&["a"], &["b"]), []);
        assert_eq!(equal_runs(&["a", "a"], &["a"]), [EqualRun { old: 0, new: 0, len: 1 }]);
    }

    #[test]
    fn a_hopeless_diff_is_cut_short() {
        let old: Vec<usize> = (0..20_000).collect();
        let new: Vec<usize> = (0..20_000).rev().collect();
        assert!(equal_runs(&old, &new).len() <= 1);
    }

    /// The changed regions by their lengths: `(old, new)`.
    fn changes(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
        let operations = diff_operations(old, new);
        let rebuilt: Vec<&String> = operations
            .iter()
            .flat_map(|op| match op {
                DiffOp::Equal { old_index, len, .. } => &old[*old_index..old_index + len],
                _ => &new[op.new_range()],
            })
            .collect();
        assert!(rebuilt.into_iter().eq(new), "the pieces make the new text");
        let changed = operations.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        changed.map(|op| (op.old_range().len(), op.new_range().len())).collect()
    }

    #[test]
    fn far_apart_changes_of_a_long_text_stay_apart() {
        for lines in [8_000, 60_000] {
            // Every third line is the same.
            let line = |i: usize| if i.is_multiple_of(3) { "}".to_owned() } else { format!("line {i}") };
            let old: Vec<String> = (0..lines).map(line).collect();
            let mut new = old.clone();
            new[40] = "near the top".to_owned();
            new.insert(lines - 40, "near the end".to_owned());
            assert_eq!(changes(&old, &new), [(1, 1), (0, 1)], "{lines}");
        }
    }

    #[test]
    fn hostile_repeats_are_aligned_in_bounded_time() {
        let text = |seed: usize, of: usize| -> Vec<String> {
            (0..200_000).map(|i| format!("{}", (i * i + seed * i) % of)).collect()
        };
        for of in [1, 2, 7, 1_000, 150_000] {
            let started = std::time::Instant::now();
            changes(&text(1, of), &text(3, of)[5..]);
            assert!(started.elapsed().as_secs() < 5, "{of}: {:?}", started.elapsed());
        }
    }

    #[test]
    fn past_the_limit_lines_that_stand_once_are_aligned_and_what_is_equal_around_them() {
        let old: Vec<usize> = (0..20_000).map(|at| if at % 2 == 0 { at } else { 1 }).collect();
        let mut new = old.clone();
        new.splice(10_000..10_004, [7, 7]);
        (new[0], new[19_997]) = (7, 7);
        let runs = equal_runs(&old, &new);
        assert!(runs.iter().all(|run| old[run.old..run.old + run.len] == new[run.new..run.new + run.len]));
        let rising = |pair: &[EqualRun]| {
            pair[0].old + pair[0].len <= pair[1].old && pair[0].new + pair[0].len <= pair[1].new
        };
        assert!(runs.windows(2).all(rising));
        assert!(runs.iter().map(|run| run.len).sum::<usize>() > 19_980, "{runs:?}");
    }
}
