//! Recognising a hunk whose result already stands in the file, so that sending an answer twice does
//! nothing the second time.

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
    /// The line (0-based).
    pub(super) at: usize,
    /// Whether that settles it. If not, a place where the old text stands nearly counts more.
    pub(super) conclusive: bool,
}

/// Where the result of the hunk already stands. Asked only when the old text is not in the file.
///
/// That the new text stands there proves something only if it says something of its own: a line that
/// the old text does not have, another order of its lines, or a gap that is seen to be closed.
pub(super) fn find_existing_result(ask: &MatchQuery<'_, '_>) -> Option<ExistingResult> {
    let hunk = ask.hunk;
    let (before, after) = (nonblank_contents(&hunk.before), nonblank_contents(&hunk.after));
    let certain =
        adds_new_line(&before, &after) || reorders(&before, &after) || closes_a_gap(&before, &after);
    if after.is_empty() || !(certain || removed_lines_gone(ask, &before, &after)) {
        return None;
    }
    let places = result_places(ask, strict_rungs())?;
    let nearest = |fit: &&HunkFit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    let at = places.iter().min_by_key(nearest)?.start;
    Some(ExistingResult { at, conclusive: certain && after.len() > 1 && !only_adds(hunk) })
}

/// The line (0-based) where the result stands to the letter, if the hunk changes nothing but the
/// layout of lines. Asked only when the old text does not stand to the letter: it fits there too, layout
/// being forgiven, and must not be put in again.
pub(super) fn find_layout_result(ask: &MatchQuery<'_, '_>) -> Option<usize> {
    let Hunk { before, after, .. } = ask.hunk;
    let same = |(a, b): (&String, &String)| MatchLevel::Content.lines_equal(a, b);
    if before.len() != after.len() || !before.iter().zip(after).all(same) {
        return None;
    }
    result_places(ask, exact_text_rungs())?.first().map(|fit| fit.start)
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

/// Whether the new text has a line that is neither one of the old ones nor one of them mended.
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

/// What is left around a gap must have at least so many characters to be recognised by.
const MARGIN: usize = 20;
/// Lines shorter than this stand everywhere and prove nothing.
const TELLING: usize = 8;

/// Whether the hunk only takes lines away, and what it leaves says enough to be recognised.
fn only_takes_away(before: &[String], after: &[String]) -> bool {
    let kept: usize = equal_runs(before, after).iter().map(|run| run.len).sum();
    let characters: usize = after.iter().map(String::len).sum();
    kept == after.len() && before.len() > after.len() && after.len() > 1 && characters >= MARGIN
}

/// Whether what the hunk takes away stood between lines that it leaves, so that they are seen to have
/// met.
fn closes_a_gap(before: &[String], after: &[String]) -> bool {
    before.first() == after.first() && before.last() == after.last() && only_takes_away(before, after)
}

/// Whether of all that the hunk takes away nothing is left in the file.
fn removed_lines_gone(ask: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    let stays: HashSet<&String> = after.iter().collect();
    let mut telling = before.iter().filter(|line| line.len() >= TELLING && !stays.contains(line)).peekable();
    telling.peek().is_some()
        && telling.all(|line| ask.view.content_places(line).is_empty())
        && only_takes_away(before, after)
}

/// Comparing every overlay of old on new text is given up past this many pairs of lines.
const OVERLAYS: usize = 4_000_000;

/// Whether the hunk only adds around its old text: the new text has all of the old in one piece, up
/// to blank lines and slips. Such a hunk can be carried out again and again, and may be meant to.
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

/// Whether all that a hunk adds already stands around `fit`.
pub(super) fn result_surrounds(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> bool {
    only_adds(ask.hunk)
        && result_places(ask, strict_rungs())
            .is_some_and(|places| places.iter().any(|place| place.start <= fit.start && fit.end <= place.end))
}

/// Where the new text stands, on the first of `rungs` that finds it.
fn result_places(ask: &MatchQuery<'_, '_>, rungs: &[&'static dyn Rung]) -> Option<Vec<HunkFit>> {
    let result = Hunk { before: ask.hunk.after.clone(), after: Vec::new(), kept: None, ..ask.hunk.clone() };
    first_matching_rung(rungs, &MatchQuery { hunk: &result, ..*ask }).map(|(_, places)| places)
}
