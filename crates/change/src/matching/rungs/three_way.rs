//! The file changed since the author saw it. If the text that the author saw is known, the hunk is placed
//! there, and the difference is merged into the present file. A conflict means that the hunk does not fit.

use super::{MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::lines::merge::merge_lines;
use crate::matching::fit::{FitPairs, HunkFit, LineEdit};
use crate::matching::line_index::LineIndex;

pub(super) struct ThreeWayRung;

/// For each line that is merged.
const MERGE_STEPS: usize = 8;

impl Rung for ThreeWayRung {
    fn name(&self) -> &'static str {
        "three-way"
    }

    fn description(&self) -> &'static str {
        "Changes to the file since the author saw it, where that text is known and the changes do not touch the same lines."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let Some(edits) = query.seen.iter().find_map(|seen| merge_onto_file(query, seen)) else {
            return Vec::new();
        };
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else {
            return Vec::new();
        };
        let pairs = FitPairs::Listed(vec![None; query.hunk.before.len()]);
        vec![HunkFit {
            start: first.range.start,
            end: last.range.end,
            pairs,
            differences: Vec::new(),
            score: 1.0,
        }]
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, _fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        query
            .seen
            .iter()
            .find_map(|seen| merge_onto_file(query, seen))
            .ok_or_else(|| "the merge has a conflict".to_string())
    }
}

/// What the hunk changes in `seen`, merged into the present file.
fn merge_onto_file(query: &MatchQuery<'_, '_>, seen: &str) -> Option<Vec<LineEdit>> {
    let base: Vec<&str> = seen.lines().collect();
    if !query.draw((base.len() + query.view.len()) * MERGE_STEPS) {
        return None;
    }
    let view = LineIndex::new(base.clone(), query.view.budget());
    let seen_ask = MatchQuery { view: &view, hunk: query.hunk, seen: &[], shift: 0 };
    let (rung, places) = first_matching_rung(strict_rungs(), &seen_ask)?;
    let [place] = places.as_slice() else {
        return None;
    };
    let mut theirs: Vec<String> = base.iter().map(ToString::to_string).collect();
    for edit in rung.edits(&seen_ask, place).ok()?.into_iter().rev() {
        theirs.splice(edit.range, edit.new);
    }
    let changed: Vec<&str> = theirs.iter().map(String::as_str).collect();
    let merged = merge_lines(&base, query.view.lines(), &changed);
    if !merged.conflicts.is_empty() || merged.edits.is_empty() {
        return None;
    }
    Some(
        merged
            .edits
            .into_iter()
            .map(|edit| LineEdit { range: edit.ours, new: theirs[edit.theirs].to_vec() })
            .collect(),
    )
}
