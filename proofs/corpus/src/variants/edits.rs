//! The regions that a real edit changes, each with its surroundings.

use relaycode_change::lines::align::equal_runs;

use super::RealEdit;

/// Larger files only take time.
pub(super) const FILE_LINES: usize = 3_000;
/// Most regions of one edit, and most lines of one.
const REGIONS: usize = 6;
const REGION_LINES: usize = 60;

/// Lines of the old file and what replaces them.
pub(super) struct Region {
    /// Its number within the edit.
    pub(super) number: usize,
    /// First line of the old file (from 0).
    pub(super) start: usize,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// The changed regions of `edit`, without those that are too large.
pub(super) fn regions(edit: &RealEdit) -> Vec<Region> {
    let (old, new): (Vec<&str>, Vec<&str>) = (edit.before.lines().collect(), edit.after.lines().collect());
    let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<String>>();
    let mut regions = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let ends = equal_runs(&old, &new).into_iter().map(|run| (run.old, run.new, run.len));
    for (run_old, run_new, len) in ends.chain([(old.len(), new.len(), 0)]) {
        let (old_lines, new_lines) = (&old[old_at..run_old], &new[new_at..run_new]);
        let size = old_lines.len().max(new_lines.len());
        if size > 0 && size <= REGION_LINES && regions.len() < REGIONS {
            let number = regions.len();
            regions.push(Region { number, start: old_at, old: owned(old_lines), new: owned(new_lines) });
        }
        (old_at, new_at) = (run_old + len, run_new + len);
    }
    regions
}
