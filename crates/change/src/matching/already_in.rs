//! Recognises a hunk whose result is already in the file, so that sending an answer twice does nothing the
//! second time.

use std::collections::HashSet;

use super::disambiguate::scope_range;
use super::evidence::{TELLING, excludes_chance, has_words, is_telling};
use super::fit::HunkFit;
use super::line_index::MatchLevel;
use super::nearest;
use super::normalize::is_blank;
use super::rungs::{MatchQuery, Rung, exact_text_rungs, first_matching_rung, text_span};
use super::typo::{self, find_typo};
use crate::lines::align::{self, equal_runs};
use crate::proposal::Hunk;

/// Where the result of a hunk already stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExistingResult {
    /// From 0.
    pub(super) at: usize,
    /// One past its last line.
    pub(super) end: usize,
    /// This is the hunk's own place. If not, the same text may have been there before.
    pub(super) proven: bool,
    /// The hunk only adds around its old text: it may be meant to be applied again.
    pub(super) adds: bool,
}

/// Where the result of the hunk already stands on one of `rungs`. Asked only if the old text is not in the file
/// to the letter.
///
/// Finding the new text says something only if it is distinctive: a line that the old text does not have,
/// another order of its lines, or a gap that has visibly closed.
pub(super) fn find_existing_result(
    query: &MatchQuery<'_, '_>,
    rungs: &[&'static dyn Rung],
) -> Option<ExistingResult> {
    let hunk = query.hunk;
    let (before, after) = (nonblank_contents(&hunk.before), nonblank_contents(&hunk.after));
    let certain = adds_new_line(query, &before, &after)
        || reorders(&before, &after)
        || closes_a_gap(query, &before, &after);
    if after.is_empty() || !(certain || removed_lines_gone(query, &before, &after)) {
        return None;
    }
    let places = result_places(query, rungs)?;
    let nearest = |fit: &&HunkFit| hunk.claimed.map_or(0, |line| line.abs_diff(fit.start + 1));
    let place = places.iter().find(|fit| is_claimed(query, fit)).or(places.iter().min_by_key(nearest))?;
    let adds = only_adds(query) && !lost_its_blank_end(query, &places);
    // Where what is removed stood at an end, nothing shows that it went: it may have been changed instead.
    let proven = certain
        && !adds
        && !stands_outside(query, &places)
        && (is_claimed(query, place) || is_own_place(query, &places));
    Some(ExistingResult { at: place.start, end: place.end, proven, adds })
}

/// Whether the old text ends in blank lines that are gone now, and stands only inside the new text: what was added
/// has taken their place.
fn lost_its_blank_end(query: &MatchQuery<'_, '_>, results: &[HunkFit]) -> bool {
    let places = places_but_for_blank_ends(query);
    let known = !places.is_empty() && !query.view.is_cut(places.len());
    known && places.iter().all(|place| is_inside(place, results))
}

/// Whether the old text stands, but for blank lines at its ends, outside of the new text: there the edit is still to do.
fn stands_outside(query: &MatchQuery<'_, '_>, results: &[HunkFit]) -> bool {
    let places = places_but_for_blank_ends(query);
    query.view.is_cut(places.len()) || places.iter().any(|place| !is_inside(place, results))
}

fn is_inside(fit: &HunkFit, places: &[HunkFit]) -> bool {
    places.iter().any(|place| place.start <= fit.start && fit.end <= place.end)
}

/// Where the old text stands to the letter without the blank lines at its ends, if it has any.
fn places_but_for_blank_ends(query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
    let before = trim_blank_ends(&query.hunk.before);
    if before.is_empty() || before.len() == query.hunk.before.len() {
        return Vec::new();
    }
    let old = Hunk { before: before.to_vec(), span: None, ..query.hunk.clone() };
    let found = first_matching_rung(exact_text_rungs(), &MatchQuery { hunk: &old, ..*query });
    found.map_or_else(Vec::new, |(_, places)| places)
}

fn trim_blank_ends(lines: &[String]) -> &[String] {
    let Some(first) = lines.iter().position(|line| !is_blank(line)) else { return &[] };
    let last = lines.iter().rposition(|line| !is_blank(line)).unwrap_or(first);
    &lines[first..=last]
}

/// Whether the author's line number says that the result stands exactly there, now that the hunks above are in too.
fn is_claimed(query: &MatchQuery<'_, '_>, place: &HunkFit) -> bool {
    let line = place.start + 1;
    let claims = |claimed: usize| line == claimed || Some(line) == claimed.checked_add_signed(query.shift);
    is_telling(&query.hunk.after) && query.hunk.claimed.is_some_and(claims)
}

/// The result of a hunk on the line that the author named, although the old text stands elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimedResult {
    /// From 0.
    pub(super) at: usize,
    /// Its text is not one of those that are everywhere.
    pub(super) telling: bool,
    /// It has context, or so much text that it was not there before.
    pub(super) proven: bool,
}

/// Where the result stands whole on the line that the author named, although the old text stands at `places`. A part of
/// the old text itself is no result.
pub(super) fn find_claimed_result(query: &MatchQuery<'_, '_>, places: &[HunkFit]) -> Option<ClaimedResult> {
    let Hunk { before, after, claimed, .. } = query.hunk;
    if before == after || !after.iter().any(|line| has_words(line)) {
        return None;
    }
    let stands = |at: &usize| {
        let end = *at + after.len();
        let is_part =
            |fit: &HunkFit| *at < fit.end && fit.start < end && !(*at <= fit.start && fit.end <= end);
        query.view.lines().get(*at..end).is_some_and(|lines| lines.iter().eq(after))
            && !places.iter().any(is_part)
    };
    let line = claimed.and_then(|line| line.checked_sub(1))?;
    let at = [Some(line), line.checked_add_signed(query.shift)].into_iter().flatten().find(stands)?;
    let has_context = before.first() == after.first() || before.last() == after.last();
    let telling = is_telling(after);
    // What a deletion leaves may well have stood there before.
    let brings = after.iter().any(|line| has_words(line) && !before.contains(line));
    let proven = brings && ((telling && has_context) || excludes_chance(after));
    Some(ClaimedResult { at, telling, proven })
}

/// Whether the only one of `places` is the hunk's own by its scope or its text.
fn is_own_place(query: &MatchQuery<'_, '_>, places: &[HunkFit]) -> bool {
    let Hunk { before, after, scope, .. } = query.hunk;
    if let Some(scope) = scope_range(query.view, scope) {
        let mut inside = places.iter().filter(|fit| scope.contains(fit));
        let (Some(place), None) = (inside.next(), inside.next()) else { return false };
        return is_telling(after) && !old_text_is_elsewhere(query, place);
    }
    let [place] = places else { return false };
    let head = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(old, new)| old == new).count();
    let context = [&after[..head], &after[after.len() - tail..]].concat();
    excludes_chance(after)
        && stands_only_there(query, place, &context)
        && !old_text_is_elsewhere(query, place)
}

/// Whether the context of the hunk marks the place: a line of it that stands nowhere else. New text alone never does:
/// another place may have had it before.
fn stands_only_there(query: &MatchQuery<'_, '_>, place: &HunkFit, context: &[String]) -> bool {
    let inside = |line: &usize| (place.start..place.end).contains(line);
    let mut telling = context.iter().filter(|line| line.trim().len() >= TELLING);
    telling.any(|line| query.view.content_places(line).iter().all(inside))
}

/// Whether much of the old text stands at another place than the result: then that place may be meant.
fn old_text_is_elsewhere(query: &MatchQuery<'_, '_>, place: &HunkFit) -> bool {
    nearest::find_nearest(query.view, query.hunk).is_some_and(|nearest| {
        let reach = query.hunk.before.len().max(query.hunk.after.len());
        let own = place.start.saturating_sub(reach)..place.end + reach;
        nearest.score >= SAME_TEXT && !own.contains(&(nearest.line - 1))
    })
}

/// The part of the old text that makes another place a rival of the result's.
const SAME_TEXT: f64 = 0.5;

/// Where the result stands to the letter, if the hunk changes only the layout of lines. Asked only if the old text
/// does not stand to the letter: with layout forgiven it fits there too, and must not be inserted again.
pub(super) fn find_layout_result(query: &MatchQuery<'_, '_>) -> Option<ExistingResult> {
    let Hunk { before, after, .. } = query.hunk;
    let same = |(a, b): (&String, &String)| MatchLevel::Content.lines_equal(a, b);
    if before.len() != after.len() || !before.iter().zip(after).all(same) {
        return None;
    }
    let places = result_places(query, exact_text_rungs())?;
    let place = places.iter().find(|fit| is_claimed(query, fit)).or(places.first())?;
    let proven = is_claimed(query, place) || is_own_place(query, &places);
    Some(ExistingResult { at: place.start, end: place.end, proven, adds: false })
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
fn adds_new_line(query: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    let known: HashSet<&String> = before.iter().collect();
    let new: Vec<&String> = after.iter().filter(|line| !known.contains(line)).collect();
    if new.len().saturating_mul(before.len()) > PAIRS {
        return true;
    }
    let is_typo =
        |old: &String, line: &str| query.draw(typo::steps(old, line)) && find_typo(old, line).is_some();
    new.iter().any(|line| !before.iter().any(|old| is_typo(old, line)))
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

/// Whether the hunk only removes lines, and what it leaves is enough to be recognised.
fn only_takes_away(query: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    if !query.draw(align::steps(before, after)) {
        return false;
    }
    let kept: usize = equal_runs(before, after).iter().map(|run| run.len).sum();
    let characters: usize = after.iter().map(String::len).sum();
    kept == after.len() && before.len() > after.len() && after.len() > 1 && characters >= MARGIN
}

/// Whether the removed lines stood between lines that stay, so that those now visibly meet.
fn closes_a_gap(query: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    before.first() == after.first() && before.last() == after.last() && only_takes_away(query, before, after)
}

/// Whether none of the removed lines is left in the file.
fn removed_lines_gone(query: &MatchQuery<'_, '_>, before: &[String], after: &[String]) -> bool {
    let stays: HashSet<&String> = after.iter().collect();
    let mut telling = before.iter().filter(|line| line.len() >= TELLING && !stays.contains(line)).peekable();
    telling.peek().is_some()
        && telling.all(|line| query.view.content_places(line).is_empty())
        && only_takes_away(query, before, after)
}

/// Comparing every overlay of old on new text is given up past this many pairs of lines.
const OVERLAYS: usize = 4_000_000;

/// Whether the hunk only adds around its old text: the new text has all of the old in one piece, up to
/// blank lines and typos. Such a hunk can be applied again and again, and may be meant to.
fn only_adds(query: &MatchQuery<'_, '_>) -> bool {
    let hunk = query.hunk;
    let (before, after) = (nonblank_contents(&hunk.before), nonblank_contents(&hunk.after));
    if before.is_empty() || after.len() <= before.len() || before.len().saturating_mul(after.len()) > OVERLAYS
    {
        return false;
    }
    after.windows(before.len()).any(|window| {
        window.iter().zip(&before).all(|(a, b)| {
            query.draw(1) && (a == b || (query.draw(typo::steps(a, b)) && find_typo(a, b).is_some()))
        })
    })
}

/// Whether everything a hunk adds already stands around `fit`, up to layout and blank lines.
pub(super) fn result_surrounds(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> bool {
    if query.hunk.span.as_ref().is_some_and(|span| text_span::has_result(query.view, span)) {
        return true;
    }
    if !only_adds(query) {
        return false;
    }
    let solid =
        |lines: &[String]| -> Vec<String> { lines.iter().filter(|line| !is_blank(line)).cloned().collect() };
    let (before, after) = (solid(&query.hunk.before), solid(&query.hunk.after));
    let same = |a: &str, b: &str| MatchLevel::Content.lines_equal(a, b);
    let lines = query.view.lines();
    let above = || lines[..fit.start].iter().rev().filter(|line| !is_blank(line));
    let below = || lines[fit.end..].iter().filter(|line| !is_blank(line));
    (0..=after.len() - before.len()).any(|at| {
        let (head, tail) = (&after[..at], &after[at + before.len()..]);
        let stands = after[at..].iter().zip(&before).all(|(a, b)| same(a, b) || find_typo(a, b).is_some());
        stands
            && above().zip(head.iter().rev()).filter(|(a, b)| same(a, b)).count() == head.len()
            && below().zip(tail).filter(|(a, b)| same(a, b)).count() == tail.len()
    })
}

/// Where the new text stands, on the first of `rungs` that finds it.
fn result_places(query: &MatchQuery<'_, '_>, rungs: &[&'static dyn Rung]) -> Option<Vec<HunkFit>> {
    // Blank lines at its ends say nothing, and are easily one too many.
    let before = trim_blank_ends(&query.hunk.after).to_vec();
    let result = Hunk { before, after: Vec::new(), kept: None, span: None, ..query.hunk.clone() };
    let found = first_matching_rung(rungs, &MatchQuery { hunk: &result, ..*query });
    // What stands so often that not every place is listed is nobody's result in particular.
    found.map(|(_, places)| places).filter(|places| !query.view.is_cut(places.len()))
}
