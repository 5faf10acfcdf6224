//! Recognising a hunk whose result already stands in the file, so that sending an answer twice does
//! nothing the second time.

use std::collections::HashSet;

use super::fit::Fit;
use super::forms::is_blank;
use super::rungs::{Ask, Rung, first_places, strict};
use super::typo::slip;
use super::view::Level;
use crate::align::equal_runs;
use crate::proposal::Hunk;

/// The line (0-based) where the result of the hunk already stands. Asked only when the old text is
/// not in the file.
///
/// That the new text stands there proves something only if it says something of its own: a line that
/// the old text does not have, another order of its lines, or a gap that is seen to be closed.
pub(super) fn already_in(ask: &Ask<'_, '_>) -> Option<usize> {
    let hunk = ask.hunk;
    let (before, after) = (solid(&hunk.before), solid(&hunk.after));
    let proof = || {
        brings(&before, &after) || reorders(&before, &after) || closes_a_gap(ask, &before, &after)
    };
    if after.is_empty() || !proof() {
        return None;
    }
    let places = result_places(ask, strict())?;
    let nearest = |fit: &&Fit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    places.iter().min_by_key(nearest).map(|fit| fit.start)
}

/// The line (0-based) where the result stands to the letter, if the hunk changes nothing but layout.
/// Then the old text fits there too, layout being forgiven, and must not be put in again.
pub(super) fn only_layout_and_in(ask: &Ask<'_, '_>) -> Option<usize> {
    if solid(&ask.hunk.before) != solid(&ask.hunk.after) {
        return None;
    }
    result_places(ask, &strict()[..2])?
        .first()
        .map(|fit| fit.start)
}

/// The contents of the lines that are not blank.
fn solid(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| !is_blank(line))
        .map(|line| Level::Content.form(line).into_owned())
        .collect()
}

/// Comparing line by line is given up past this many pairs of lines.
const PAIRS: usize = 1_000_000;

/// Whether the new text has a line that is neither one of the old ones nor one of them mended.
fn brings(before: &[String], after: &[String]) -> bool {
    let known: HashSet<&String> = before.iter().collect();
    let new: Vec<&String> = after.iter().filter(|line| !known.contains(line)).collect();
    if new.len().saturating_mul(before.len()) > PAIRS {
        return true;
    }
    new.iter()
        .any(|line| !before.iter().any(|old| slip(old, line).is_some()))
}

/// Whether the new text has the same lines in another order.
fn reorders(before: &[String], after: &[String]) -> bool {
    let sorted = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort_unstable();
        lines
    };
    after.len() > 2
        && before != after
        && before.len() == after.len()
        && sorted(before) == sorted(after)
}

/// What is left around a gap must have at least so many characters to be recognised by.
const MARGIN: usize = 20;
/// Lines shorter than this stand everywhere and prove nothing.
const TELLING: usize = 8;

/// Whether the hunk only takes lines away, what it leaves says enough to be recognised, and the gap is
/// seen to be closed: by a line on either side, or because nothing of what goes is left in the file.
fn closes_a_gap(ask: &Ask<'_, '_>, before: &[String], after: &[String]) -> bool {
    let runs = equal_runs(before, after);
    let kept: usize = runs.iter().map(|run| run.len).sum();
    let characters: usize = after.iter().map(String::len).sum();
    if kept != after.len() || before.len() <= after.len() || after.len() < 2 || characters < MARGIN
    {
        return false;
    }
    if before.first() == after.first() && before.last() == after.last() {
        return true;
    }
    let stays: HashSet<&String> = after.iter().collect();
    let mut telling = before
        .iter()
        .filter(|line| line.len() >= TELLING && !stays.contains(line))
        .peekable();
    telling.peek().is_some() && telling.all(|line| ask.view.content_places(line).is_empty())
}

/// Comparing every overlay of old on new text is given up past this many pairs of lines.
const OVERLAYS: usize = 4_000_000;

/// Whether the hunk only adds around its old text: the new text has all of the old in one piece, up
/// to blank lines and slips. Such a hunk can be carried out again and again, and may be meant to.
pub(super) fn only_adds(hunk: &Hunk) -> bool {
    let (before, after) = (solid(&hunk.before), solid(&hunk.after));
    if before.is_empty()
        || after.len() <= before.len()
        || before.len().saturating_mul(after.len()) > OVERLAYS
    {
        return false;
    }
    after.windows(before.len()).any(|window| {
        window
            .iter()
            .zip(&before)
            .all(|(a, b)| Level::Content.same(a, b) || slip(a, b).is_some())
    })
}

/// Whether all that a hunk adds already stands around `fit`.
pub(super) fn stands_around(ask: &Ask<'_, '_>, fit: &Fit) -> bool {
    only_adds(ask.hunk)
        && result_places(ask, strict()).is_some_and(|places| {
            places
                .iter()
                .any(|place| place.start <= fit.start && fit.end <= place.end)
        })
}

/// Where the new text stands, on the first of `rungs` that finds it.
fn result_places(ask: &Ask<'_, '_>, rungs: &[&'static dyn Rung]) -> Option<Vec<Fit>> {
    let result = Hunk {
        before: ask.hunk.after.clone(),
        after: Vec::new(),
        kept: None,
        ..ask.hunk.clone()
    };
    first_places(
        rungs,
        &Ask {
            hunk: &result,
            ..*ask
        },
    )
    .map(|(_, places)| places)
}
