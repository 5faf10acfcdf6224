//! Which lines of an old text are which lines of a new one: the only line diff of this crate. Its work is
//! bounded by the size of the texts, not by a clock: past the bound only equal lines at both ends are
//! aligned, which is coarser but never wrong.

use std::collections::HashMap;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most changed lines (old and new together, without the common beginning and end) for which the shortest
/// diff is computed.
const SHORTEST_DIFF_LINES: usize = 8_000;

/// Beyond `SHORTEST_DIFF_LINES`, the largest product of the line counts of both sides, after lines that
/// only one side has are left out.
pub const MAX_ALIGN_WORK: usize = 25_000_000;

/// The steps of an alignment at most: the search is given up after a number of tries that grows with the root of the
/// lines.
pub(crate) fn steps<T>(old: &[T], new: &[T]) -> usize {
    let lines = old.len() + new.len();
    lines * (8 + lines.isqrt())
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
    if old.len() + new.len() - 2 * (head + tail) <= SHORTEST_DIFF_LINES {
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
    if old_side.len().saturating_mul(new_side.len()) > MAX_ALIGN_WORK {
        return;
    }
    let old_ids: Vec<u32> = old_side.iter().map(|(_, id)| *id).collect();
    let new_ids: Vec<u32> = new_side.iter().map(|(_, id)| *id).collect();
    for op in capture_diff_slices(Algorithm::Myers, &old_ids, &new_ids) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let pairs = old_side[old_index..].iter().zip(&new_side[new_index..]).take(len);
            runs.extend(pairs.map(|((o, _), (n, _))| EqualRun { old: offset + o, new: offset + n, len: 1 }));
        }
    }
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
}
