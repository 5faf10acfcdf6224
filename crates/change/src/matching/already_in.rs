//! Recognises a hunk whose result is already in the file, so that sending an answer twice does nothing the
//! second time.

use std::collections::HashSet;

use super::fit::HunkFit;
use super::line_index::MatchLevel;
use super::normalize::is_blank;
use super::rungs::{MatchQuery, Rung, exact_text_rungs, first_matching_rung, strict_rungs};
use super::typo::find_typo;
use crate::lines::align::equal_runs;
use crate::proposal::Hunk;

/// Where the result of a hunk already stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExistingResult {
    /// From 0.
    pub(super) at: usize,
    /// If not, a place where the old text nearly matches counts more.
    pub(super) conclusive: bool,
}

/// Where the result of the hunk already stands. Asked only if the old text is not in the file.
///
/// Finding the new text proves something only if it is distinctive: a line that the old text does not have,
/// another order of its lines, or a gap that has visibly closed.
pub(super) fn find_existing_result(query: &MatchQuery<'_, '_>) -> Option<ExistingResult> {
    let hunk = query.hunk;
    let (before, after) = (nonblank_contents(&hunk.before), nonblank_contents(&hunk.after));
    let certain =
        adds_new_line(&before, &after) || reorders(&before, &after) || closes_a_gap(&before, &after);
    if after.is_empty() || !(certain || removed_lines_gone(query, &before, &after)) {
        return None;
    }
    let places = result_places(query, strict_rungs())?;
    let nearest = |fit: &&HunkFit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    let at = places.iter().min_by_key(nearest)?.start;
    Some(ExistingResult { at, conclusive: certain && after.len() > 1 && !only_adds(hunk) })
}

/// The line (from 0) where the result stands to the letter, if the hunk changes only the layout of lines.
/// Asked only if the old text does not stand to the letter: with layout forgiven it fits there too, and
/// must not be inserted again.
pub(super) fn find_layout_result(query: &MatchQuery<'_, '_>) -> Option<usize> {
    let Hunk { before, after, .. } = query.hunk;
    let same = |(a, b): (&String, &String)| MatchLevel::Content.lines_equal(a, b);
    if before.len() != after.len() || !before.iter().zip(after).all(same) {
        return None;
    }
    result_places(query, exact_text_rungs())?.first().map(|fit| fit.start)
}

/// The contents of the lines that are not blank.
fn nonblank_contents(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| !is_blank(line))
        .map(|line| MatchLevel::Content.normalize(line).into_owned())
        .collect()
}

/// Comparing line by line is given up past this many pairs of lines.
const PAIRS: usize = 1_000_000;

/// Whether the new text has a line that is neither an old one nor an old one with a typo fixed.
fn adds_new_line(before: &[String], after: &[String]) -> bool {
    let known: HashSet<&String> = before.iter().collect();
    let new: Vec<&String> = after.iter().filter(|line| !known.contains(line)).collect();
    if new.len().saturating_mul(before.len()) > PAIRS {
        return true;
    }
    new.iter().any(|line| !before.iter().any(|old| find_typo(old, line).is_some()))
}

/// Whether the new text has the same lines in another order.
fn reorders(before: &[String], after: &[String]) -> bool {
    let sorted = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort_unstable();
        lines
    };
    after.len() > 2 && before != after && before.len() == after.len() && sorted(before) == sorted(after)
}

/// Least characters around a gap by which it is recognised.
const MARGIN: usize = 20;
/// Shorter lines are everywhere and prove nothing.
const TELLING: usize = 8;

/// Whether the hunk only removes lines, and what it leaves is enough to be recognised.
fn only_takes_away(before: &[String], after: &[String]) -> bool {
    let kept: usize = equal_runs(before, after).iter().map(|run| run.len).sum();
    let characters: usize = after.iter().map(String::len).sum();
    kept == after.len() && before.len() > after.len() && after.len() > 1 && characters >= MARGIN
}

/// Whether the removed lines stood between lines that stay, so that those now visibly meet.
fn closes_a_gap(before: &[String], after: &[String]) -> bool {
    before.first() == after.first() && before.last() == after.last() && only_takes_away(before, after)
}

/// Whether none of the removed lines is left in the file.
fn removed_lines_gone(query: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    let stays: HashSet<&String> = after.iter().collect();
    let mut telling = before.iter().filter(|line| line.len() >= TELLING && !stays.contains(line)).peekable();
    telling.peek().is_some()
        && telling.all(|line| query.view.content_places(line).is_empty())
        && only_takes_away(before, after)
}

/// Comparing every overlay of old on new text is given up past this many pairs of lines.
const OVERLAYS: usize = 4_000_000;

/// Whether the hunk only adds around its old text: the new text has all of the old in one piece, up to
/// blank lines and typos. Such a hunk can be applied again and again, and may be meant to.
fn only_adds(hunk: &Hunk) -> bool {
    let (before, after) = (nonblank_contents(&hunk.before), nonblank_contents(&hunk.after));
    if before.is_empty() || after.len() <= before.len() || before.len().saturating_mul(after.len()) > OVERLAYS
    {
        return false;
    }
    after.windows(before.len()).any(|window| {
        window
            .iter()
            .zip(&before)
            .all(|(a, b)| MatchLevel::Content.lines_equal(a, b) || find_typo(a, b).is_some())
    })
}

/// Whether everything a hunk adds already stands around `fit`.
pub(super) fn result_surrounds(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> bool {
    only_adds(query.hunk)
        && result_places(query, strict_rungs())
            .is_some_and(|places| places.iter().any(|place| place.start <= fit.start && fit.end <= place.end))
}

/// Where the new text stands, on the first of `rungs` that finds it.
fn result_places(query: &MatchQuery<'_, '_>, rungs: &[&'static dyn Rung]) -> Option<Vec<HunkFit>> {
    let result =
        Hunk { before: query.hunk.after.clone(), after: Vec::new(), kept: None, ..query.hunk.clone() };
    first_matching_rung(rungs, &MatchQuery { hunk: &result, ..*query }).map(|(_, places)| places)
}
