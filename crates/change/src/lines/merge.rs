//! Three-way merge by lines: what changed from `base` to `theirs`, carried over to `ours`. Where
//! both sides changed the same lines differently there is a conflict, and nothing is guessed.

use std::ops::Range;

use crate::lines::align::equal_runs;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMerge {
    /// In order.
    pub edits: Vec<MergeEdit>,
    /// Regions that both sides changed differently.
    pub conflicts: Vec<MergeConflict>,
}

/// Replaces lines `ours` of our text by lines `theirs` of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeEdit {
    pub ours: Range<usize>,
    pub theirs: Range<usize>,
}

/// A region that both sides changed, by its lines in each text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    pub base: Range<usize>,
    pub ours: Range<usize>,
    pub theirs: Range<usize>,
}

/// Merges the change from `base` to `theirs` into `ours`.
pub fn merge_lines<S: AsRef<str>>(base: &[S], ours: &[S], theirs: &[S]) -> LineMerge {
    let [base, ours, theirs] =
        [base, ours, theirs].map(|lines| Vec::from_iter(lines.iter().map(AsRef::as_ref)));
    let mut merged = LineMerge::default();
    for region in regions(&base, &ours, &theirs) {
        let base_text = &base[region.base.clone()];
        let our_text = &ours[region.ours.clone()];
        let their_text = &theirs[region.theirs.clone()];
        if their_text == base_text || our_text == their_text {
            continue;
        }
        if our_text == base_text {
            merged.edits.push(MergeEdit { ours: region.ours, theirs: region.theirs });
        } else {
            merged.conflicts.push(region);
        }
    }
    merged
}

/// The regions between lines that all three texts share. A boundary needs an unchanged line, so
/// neighbouring changes of both sides fall into one region.
fn regions(base: &[&str], ours: &[&str], theirs: &[&str]) -> Vec<MergeConflict> {
    let (our_runs, their_runs) = (partner_lines(base, ours), partner_lines(base, theirs));
    let mut regions = Vec::new();
    let (mut b, mut o, mut t) = (0, 0, 0);
    for i in 0..=base.len() {
        let end = (i == base.len()).then_some((ours.len(), theirs.len()));
        let Some((next_o, next_t)) = end.or_else(|| our_runs[i].zip(their_runs[i])) else { continue };
        if b < i || o < next_o || t < next_t {
            regions.push(MergeConflict { base: b..i, ours: o..next_o, theirs: t..next_t });
        }
        (b, o, t) = (i + 1, next_o + 1, next_t + 1);
    }
    regions
}

fn partner_lines(base: &[&str], other: &[&str]) -> Vec<Option<usize>> {
    let mut partners = vec![None; base.len()];
    for run in equal_runs(base, other) {
        for k in 0..run.len {
            partners[run.old + k] = Some(run.new + k);
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    fn merged(base: &str, ours: &str, theirs: &str) -> Result<String, usize> {
        let (b, o, t) = (lines(base), lines(ours), lines(theirs));
        let merge = merge_lines(&b, &o, &t);
        if !merge.conflicts.is_empty() {
            return Err(merge.conflicts.len());
        }
        let mut out: Vec<&str> = Vec::new();
        let mut cursor = 0;
        for edit in merge.edits {
            out.extend(&o[cursor..edit.ours.start]);
            out.extend(&t[edit.theirs]);
            cursor = edit.ours.end;
        }
        out.extend(&o[cursor..]);
        Ok(out.join(" "))
    }

    #[test]
    fn changes_in_different_places_meet() {
        assert_eq!(merged("a b c d e", "a B c d e", "a b c d E"), Ok("a B c d E".into()));
        assert_eq!(merged("a b c", "x a b c", "a b c y"), Ok("x a b c y".into()));
        assert_eq!(merged("a b c", "a b c", "a c"), Ok("a c".into()));
    }

    #[test]
    fn the_same_change_twice_is_one() {
        assert_eq!(merged("a b c", "a X c", "a X c"), Ok("a X c".into()));
    }

    #[test]
    fn different_changes_in_one_place_conflict() {
        assert_eq!(merged("a b c", "a X c", "a Y c"), Err(1));
        assert_eq!(merged("a b c", "a c", "a Y c"), Err(1));
        assert_eq!(merged("a b", "a x b", "a y b"), Err(1));
    }
}
