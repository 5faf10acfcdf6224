//! Which lines of an old text are which lines of a new one: the only line diff of this crate. Its work is
//! bounded by the size of the texts, not by a clock: past the bound only lines that stand exactly once, and
//! equal lines next to those and at both ends, are aligned, which is coarser but never wrong.

use std::collections::HashMap;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most changed lines (old and new together, without the common beginning and end) for which the shortest
/// diff is computed.
const SHORTEST_DIFF_LINES: usize = 8_000;

/// Beyond `SHORTEST_DIFF_LINES`, the largest product of the line counts of both sides, after lines that
/// only one side has are left out. Larger texts are first divided at lines that both have exactly once.
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
    let old_ids: Vec<u32> = old_side.iter().map(|(_, id)| *id).collect();
    let new_ids: Vec<u32> = new_side.iter().map(|(_, id)| *id).collect();
    let mut aligner = IdAligner { work_left: MAX_ALIGN_WORK, runs: Vec::new() };
    aligner.align(&old_ids, &new_ids, (0, 0), ANCHOR_DEPTH);
    for EqualRun { old, new, len } in aligner.runs {
        let pairs = old_side[old..].iter().zip(&new_side[new..]).take(len);
        runs.extend(pairs.map(|((o, _), (n, _))| EqualRun { old: offset + o, new: offset + n, len: 1 }));
    }
}

/// How often the lines between two anchors are searched for anchors of their own.
const ANCHOR_DEPTH: usize = 8;

/// The shortest diff where the work left allows it. Where not, lines that stand exactly once on both sides divide
/// the texts (as in a patience diff), and what lies between them is aligned by itself.
struct IdAligner {
    work_left: usize,
    runs: Vec<EqualRun>,
}

impl IdAligner {
    /// `old` and `new` begin at these indexes.
    fn align(&mut self, old: &[u32], new: &[u32], (old_at, new_at): (usize, usize), depth: usize) {
        let (head, tail) = equal_ends(old, new);
        let run = |o, n, len| EqualRun { old: old_at + o, new: new_at + n, len };
        self.runs.push(run(0, 0, head));
        let (old_end, new_end) = (old.len() - tail, new.len() - tail);
        let (old_part, new_part) = (&old[head..old_end], &new[head..new_end]);
        let work = old_part.len().saturating_mul(new_part.len());
        if work <= self.work_left {
            self.work_left -= work;
            for op in capture_diff_slices(Algorithm::Myers, old_part, new_part) {
                if let DiffOp::Equal { old_index, new_index, len } = op {
                    self.runs.push(run(head + old_index, head + new_index, len));
                }
            }
        } else if depth > 0 {
            let (mut o, mut n) = (head, head);
            let anchors = find_anchors(old_part, new_part);
            // Without an anchor there is nothing to divide.
            let end = (!anchors.is_empty()).then_some((old_part.len(), new_part.len()));
            for (old_anchor, new_anchor) in anchors.into_iter().chain(end) {
                let (to_o, to_n) = (head + old_anchor, head + new_anchor);
                self.align(&old[o..to_o], &new[n..to_n], (old_at + o, new_at + n), depth - 1);
                if to_o < old_end {
                    self.runs.push(run(to_o, to_n, 1));
                }
                (o, n) = (to_o + 1, to_n + 1);
            }
        }
        self.runs.push(run(old_end, new_end, tail));
    }
}

/// Lines that both sides have exactly once: as many as possible that come in the same order on both.
fn find_anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    // How often each side has a line, and where the old one has it last.
    let mut counts: HashMap<u32, (usize, usize, usize)> = HashMap::new();
    for (at, id) in old.iter().enumerate() {
        let entry = counts.entry(*id).or_default();
        *entry = (entry.0 + 1, 0, at);
    }
    for id in new {
        counts.entry(*id).and_modify(|entry| entry.1 += 1);
    }
    let unique = |(n, id): (usize, &u32)| match counts.get(id) {
        Some((1, 1, o)) => Some((*o, n)),
        _ => None,
    };
    let pairs: Vec<(usize, usize)> = new.iter().enumerate().filter_map(unique).collect();
    // The longest chain that increases in `old`: `ends[k]` is the best end of a chain of `k + 1` pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < pair.0);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chain: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |at| previous[*at]).map(|at| pairs[at]).collect();
    chain.reverse();
    chain
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
}
