//! Recognising a hunk whose result already stands in the file, so that sending an answer twice does
//! nothing the second time.

use super::fit::Fit;
use super::forms::is_blank;
use super::rungs::{Ask, first_places, strict};
use super::view::{Level, View};
use crate::proposal::Hunk;

/// The line (0-based) where the result of the hunk already stands. Asked only when the old text is
/// not in the file.
///
/// The new text must say something that the old one does not; if the hunk only takes lines away, a
/// line on either side of the gap must be there to see that it is closed.
pub(super) fn already_in(ask: &Ask<'_>) -> Option<usize> {
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
    let result = Hunk {
        before: hunk.after.clone(),
        after: Vec::new(),
        kept: None,
        ..hunk.clone()
    };
    let (_, places) = first_places(
        strict(),
        &Ask {
            hunk: &result,
            ..*ask
        },
    )?;
    let nearest = |fit: &&Fit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    places.iter().min_by_key(nearest).map(|fit| fit.start)
}

/// Whether the hunk takes away lines from between two that it keeps, each with something on it.
fn closes_a_gap(hunk: &Hunk) -> bool {
    let solid = |lines: &[String]| {
        lines
            .iter()
            .filter(|line| !is_blank(line))
            .cloned()
            .collect::<Vec<_>>()
    };
    let (before, after) = (solid(&hunk.before), solid(&hunk.after));
    let head = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    head > 0
        && tail > 0
        && head + tail >= after.len()
        && after.len() >= 2
        && before.len() > after.len()
}

/// At most so many ways of laying the new text over the old are tried.
const OVERLAYS: usize = 16;

/// Whether the hunk only adds around `before`, and all that it adds already stands around `fit`.
pub(super) fn stands_around(ask: &Ask<'_>, fit: &Fit) -> bool {
    let Hunk { before, after, .. } = ask.hunk;
    if after.len() <= before.len() || fit.end - fit.start != before.len() {
        return false;
    }
    let lines = ask.view.lines();
    let unshifted = before
        .iter()
        .zip(&lines[fit.start..])
        .all(|(line, file)| Level::TrailingBlanks.same(line, file));
    let level = if unshifted {
        Level::TrailingBlanks
    } else {
        Level::Content
    };
    let offsets = View::new(after.iter().map(String::as_str).collect()).find(before, Level::Exact);
    offsets.into_iter().take(OVERLAYS).any(|offset| {
        let place = fit
            .start
            .checked_sub(offset)
            .and_then(|start| lines.get(start..start + after.len()));
        place.is_some_and(|place| {
            place
                .iter()
                .zip(after)
                .all(|(file, line)| level.same(file, line))
        })
    })
}
