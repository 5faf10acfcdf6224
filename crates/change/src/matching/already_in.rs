//! Recognising a hunk whose result already stands in the file, so that sending an answer twice does
//! nothing the second time.

use super::fit::Fit;
use super::forms::is_blank;
use super::rungs::{Ask, first_places, strict};
use super::typo::slip;
use super::view::Level;
use crate::align::equal_runs;
use crate::proposal::Hunk;

/// The line (0-based) where the result of the hunk already stands. Asked only when the old text is
/// not in the file.
///
/// The new text must say something that the old one does not; if the hunk only takes lines away, a
/// line on either side of the gap must be there to see that it is closed.
pub(super) fn already_in(ask: &Ask<'_, '_>) -> Option<usize> {
    let hunk = ask.hunk;
    if hunk.after.iter().all(|line| is_blank(line)) {
        return None;
    }
    let brings = hunk
        .after
        .iter()
        .any(|line| !is_blank(line) && !hunk.before.contains(line));
    if !brings && !closes_a_gap(hunk) {
        return None;
    }
    let places = result_places(ask)?;
    let nearest = |fit: &&Fit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    places.iter().min_by_key(nearest).map(|fit| fit.start)
}

/// What is left around a gap must have at least so many characters to be recognised by.
const MARGIN: usize = 20;

/// Whether the hunk takes away lines only from between lines that it keeps, and those say enough to
/// be recognised.
fn closes_a_gap(hunk: &Hunk) -> bool {
    let solid = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .filter(|line| !is_blank(line))
            .map(|line| line.trim().to_string())
            .collect()
    };
    let (before, after) = (solid(&hunk.before), solid(&hunk.after));
    let kept: usize = equal_runs(&before, &after).iter().map(|run| run.len).sum();
    let characters: usize = after.iter().map(String::len).sum();
    kept == after.len()
        && before.len() > after.len()
        && after.len() >= 2
        && characters >= MARGIN
        && before.first() == after.first()
        && before.last() == after.last()
}

/// Comparing every overlay of old on new text is given up past this many pairs of lines.
const OVERLAYS: usize = 4_000_000;

/// Whether the hunk only adds around its old text: the new text has all of the old in one piece, up
/// to blank lines and slips. Such a hunk can be carried out again and again, and may be meant to.
pub(super) fn only_adds(hunk: &Hunk) -> bool {
    let solid = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .filter(|line| !is_blank(line))
            .cloned()
            .collect()
    };
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
        && result_places(ask).is_some_and(|places| {
            places
                .iter()
                .any(|place| place.start <= fit.start && fit.end <= place.end)
        })
}

/// Where the new text stands.
fn result_places(ask: &Ask<'_, '_>) -> Option<Vec<Fit>> {
    let result = Hunk {
        before: ask.hunk.after.clone(),
        after: Vec::new(),
        kept: None,
        ..ask.hunk.clone()
    };
    first_places(
        strict(),
        &Ask {
            hunk: &result,
            ..*ask
        },
    )
    .map(|(_, places)| places)
}
