//! Chooses among several places. Only three things may decide: a line that the author named, a scope that
//! the author named, and the order of neighbouring hunks. If they leave a doubt, nothing is chosen.

use std::collections::HashMap;
use std::ops::Range;

use super::evidence::excludes_chance;
use super::fit::HunkFit;
use super::line_index::LineIndex;
use super::normalize::{indentation, is_blank};
use crate::proposal::Hunk;

/// For each place and each hunk that a choice looks at, and for each line in which a scope is looked for.
const CHOICE_STEPS: usize = 1;
const SCOPE_STEPS: usize = 2;

/// Chose one of several places that are all not on the line that the author named.
pub(super) const NEAREST_LINE: &str = "nearest line";
/// Chose the place by those of the neighbouring hunks.
pub(super) const ORDER: &str = "order";
/// Before other hunks were applied, it was the only place.
pub(super) const ORIGINAL_FILE: &str = "original file";
/// The same edit was sent as often as its old text stands in the file.
const EVERY_PLACE: &str = "every place";

/// A hunk while the places of all hunks of a file are being settled.
pub(super) struct HunkCandidates<'a> {
    pub hunk: &'a Hunk,
    /// All its places, in the order of the file; empty if there is nothing to settle.
    pub fits: Vec<HunkFit>,
    /// The chosen place, and by what (`None`: it is the only one).
    pub chosen: Option<(usize, Option<&'static str>)>,
    /// The lines where its result stands already, if there is nothing to settle for that reason.
    pub result_lines: Option<(usize, usize)>,
}

impl<'a> HunkCandidates<'a> {
    /// A single place is chosen at once.
    pub(super) fn new(hunk: &'a Hunk, fits: Vec<HunkFit>) -> HunkCandidates<'a> {
        let chosen = (fits.len() == 1).then_some((0, None));
        HunkCandidates { hunk, fits, chosen, result_lines: None }
    }

    fn chosen_fit(&self) -> Option<&HunkFit> {
        self.chosen.map(|(at, _)| &self.fits[at])
    }

    /// The first line of its place and one past the last, if it is settled.
    fn settled_lines(&self) -> Option<(usize, usize)> {
        self.chosen_fit().map(|fit| (fit.start, fit.end)).or(self.result_lines)
    }
}

/// Whether the chosen place contradicts the order of the hunks around it. In a diff it lies above one that comes before
/// it, or below one that comes after; elsewhere order says something only if the edits around it have been made.
pub(super) fn is_out_of_order(all: &[HunkCandidates<'_>], at: usize) -> bool {
    let Some(fit) = all[at].chosen_fit() else { return false };
    let hunk = all[at].hunk;
    if hunk.claimed == Some(fit.start + 1) {
        return false;
    }
    let block = block_of(all, at);
    let is_diff = hunk.kept.is_some();
    let around = if is_diff { &all[block] } else { &all[at.saturating_sub(1)..all.len().min(at + 2)] };
    let is_sent_again = around.iter().any(|other| other.result_lines.is_some());
    let is_certain = !is_sent_again && (!is_diff || excludes_chance(&hunk.before));
    !is_certain && neighbour_bounds(all, at).is_some_and(|(from, to)| fit.start < from || fit.end > to)
}

/// Whether the chosen place lies below that of the next hunk, or above that of the one before: most answers go through a
/// file from its beginning to its end.
pub(super) fn is_misplaced(all: &[HunkCandidates<'_>], at: usize) -> bool {
    let Some(fit) = all[at].chosen_fit() else { return false };
    let above = at.checked_sub(1).and_then(|above| all[above].settled_lines());
    let below = all.get(at + 1).and_then(HunkCandidates::settled_lines);
    above.is_some_and(|(start, _)| start > fit.start) || below.is_some_and(|(start, _)| start < fit.start)
}

/// Settles what can be settled. A choice for one hunk may settle its neighbours, so this repeats until
/// nothing changes.
pub(super) fn choose_places(view: &LineIndex<'_>, all: &mut [HunkCandidates<'_>]) {
    assign_repeats(view, all);
    loop {
        let mut changed = false;
        for at in 0..all.len() {
            if all[at].chosen.is_some() || all[at].fits.is_empty() {
                continue;
            }
            all[at].chosen = choose(view, all, at);
            changed |= all[at].chosen.is_some();
        }
        if !changed {
            return;
        }
    }
}

fn choose(
    view: &LineIndex<'_>,
    all: &[HunkCandidates<'_>],
    at: usize,
) -> Option<(usize, Option<&'static str>)> {
    let HunkCandidates { hunk, fits, .. } = &all[at];
    if !view.budget().draw((fits.len() + all.len()) * CHOICE_STEPS) {
        return None;
    }
    let number = place_by_number(all, at);
    if let NumberedPlace::Certain(fit) = number {
        // The line above a hunk is one before its place, never one below it.
        let contradicted = scope_range(view, &hunk.scope).is_some_and(|scope| {
            fits[fit].end <= scope.head() && fits.iter().any(|other| scope.contains(other))
        });
        return Some((fit, Some(if contradicted { NEAREST_LINE } else { "line hint" })));
    }
    if let NumberedPlace::Doubtful(fit) = number {
        return Some((fit, Some(NEAREST_LINE)));
    }
    let mut left: Vec<usize> = (0..fits.len()).collect();
    // Of so many places some are not listed: nothing but the very line can tell.
    if view.is_cut(fits.len()) {
        return None;
    }
    let mut by = None;
    let mut narrow = |kept: Vec<usize>, left: &mut Vec<usize>, why: &'static str| {
        if !kept.is_empty() && kept.len() < left.len() {
            *left = kept;
            by = Some(why);
        }
    };
    if hunk.at_end {
        let to_the_end = |i: &usize| fits[*i].end == view.len();
        let but_for_blanks = |i: &usize| view.lines()[fits[*i].end..].iter().all(|line| is_blank(line));
        narrow(left.iter().copied().filter(but_for_blanks).collect(), &mut left, "end of file");
        narrow(left.iter().copied().filter(to_the_end).collect(), &mut left, "end of file");
    }
    if let (Some(first), Some(last)) = (hunk.claimed, hunk.claimed_end) {
        let inside = |i: &usize| fits[*i].start + 1 >= first && fits[*i].end <= last;
        narrow(left.iter().copied().filter(inside).collect(), &mut left, "line hint");
    }
    if let Some(scope) = scope_range(view, &hunk.scope) {
        let inside = |i: &usize| scope.contains(&fits[*i]);
        narrow(left.iter().copied().filter(inside).collect(), &mut left, "scope");
        let below = |i: &usize| fits[*i].start > scope.head();
        narrow(left.iter().copied().filter(below).collect(), &mut left, "scope");
    }
    if let Some((from, to)) = neighbour_bounds(all, at) {
        let inside = |i: &usize| fits[*i].start >= from && fits[*i].end <= to;
        narrow(left.iter().copied().filter(inside).collect(), &mut left, ORDER);
    }
    if let [only] = left.as_slice() {
        return Some((*only, by));
    }
    let ((first, fit), (second, _)) = nearest_to_claim(all, at, &left)?;
    (second >= 2 * first + 2).then_some((fit, Some(NEAREST_LINE)))
}

/// What the author's line number says about the places of a hunk.
enum NumberedPlace {
    /// One of them is there, and the numbers of the other hunks say nothing else.
    Certain(usize),
    /// One of them is there, but if the other numbers are right, this one is not.
    Doubtful(usize),
    /// None is there, or there is no number.
    Missed,
}

fn place_by_number(all: &[HunkCandidates<'_>], at: usize) -> NumberedPlace {
    let HunkCandidates { hunk, fits, .. } = &all[at];
    let Some(claimed) = hunk.claimed.filter(|line| *line > 0) else { return NumberedPlace::Missed };
    let place = |line: isize| fits.iter().position(|fit| signed(fit.start + 1) == line);
    let expected = signed(claimed) + drift_at(all, at);
    match (place(signed(claimed)), place(expected)) {
        (Some(exact), Some(shifted)) if exact == shifted => NumberedPlace::Certain(exact),
        (None, Some(shifted)) => NumberedPlace::Certain(shifted),
        (_, Some(place)) | (Some(place), None) => NumberedPlace::Doubtful(place),
        (None, None) => NumberedPlace::Missed,
    }
}

/// By how many lines the nearest settled hunk with a number is off.
fn drift_at(all: &[HunkCandidates<'_>], at: usize) -> isize {
    let drift_of = |other: &HunkCandidates<'_>| {
        Some(signed(other.chosen_fit()?.start + 1) - signed(other.hunk.claimed.filter(|line| *line > 0)?))
    };
    let above = all[..at].iter().rev().find_map(drift_of);
    above.or_else(|| all[at + 1..].iter().find_map(drift_of)).unwrap_or(0)
}

/// Whether the author named the place, by its line or by a scope around it.
pub(super) fn is_named(view: &LineIndex<'_>, hunk: &Hunk, fit: &HunkFit) -> bool {
    let scope = || scope_range(view, &hunk.scope).is_some_and(|scope| scope.contains(fit));
    hunk.claimed == Some(fit.start + 1) || scope()
}

/// The lines of the innermost scope that the author named.
pub(super) struct ScopeRange {
    /// The named line itself.
    from: usize,
    to: usize,
    /// Its end is known: lines that are indented deeper follow it.
    is_block: bool,
}

impl ScopeRange {
    /// The named line.
    pub(super) fn head(&self) -> usize {
        self.from
    }

    pub(super) fn contains(&self, fit: &HunkFit) -> bool {
        fit.start >= self.from && fit.end <= self.to
    }

    /// Whether `fit` certainly lies outside. Under the heading of a text that is not indented anything may follow.
    pub(super) fn excludes(&self, fit: &HunkFit) -> bool {
        fit.end <= self.from || (self.is_block && fit.start >= self.to)
    }
}

/// The lines of the scope: from the innermost named one to the next line that is not indented deeper. `None` if a
/// named line is missing or appears more than once.
pub(super) fn scope_range(view: &LineIndex<'_>, names: &[String]) -> Option<ScopeRange> {
    if names.is_empty() || !view.budget().draw(view.len() * names.len() * SCOPE_STEPS) {
        return None;
    }
    let mut scope = ScopeRange { from: 0, to: view.len(), is_block: false };
    let mut named = false;
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let line = only_line(view, name, &scope)?;
        let depth = indentation(view.lines()[line]).len();
        let width = |text: &str| indentation(text).len();
        let mut solid = (line + 1..scope.to).filter(|i| !is_blank(view.lines()[*i]));
        let is_block = solid.clone().next().is_some_and(|i| {
            let text = view.lines()[i];
            width(text) > depth || text.trim() == "{"
        });
        let closes = |i: &usize| {
            let text = view.lines()[*i];
            width(text) <= depth && !continues_head(text)
        };
        // The line that closes the block (a brace) still belongs to it.
        let to = solid.find(closes).map_or(scope.to, |end| end + 1);
        scope = ScopeRange { from: line, to, is_block };
        named = true;
    }
    named.then_some(scope)
}

/// The only line in `scope` that is `name`, or else that begins with it.
fn only_line(view: &LineIndex<'_>, name: &str, scope: &ScopeRange) -> Option<usize> {
    let inside = |line: &usize| (scope.from..scope.to).contains(line);
    let mut whole = view.content_places(name).iter().copied().filter(inside);
    match (whole.next(), whole.next()) {
        (Some(line), None) => Some(line),
        (Some(_), Some(_)) => None,
        (None, _) => {
            let begins = |line: &usize| view.lines()[*line].trim_start().starts_with(name);
            let mut found = (scope.from..scope.to).filter(begins);
            found.next().filter(|_| found.next().is_none())
        }
    }
}

/// Whether a line at the depth of a head belongs to it: the end of its parameters, or the brace that opens its body.
fn continues_head(line: &str) -> bool {
    let line = line.trim();
    line == "{" || (line.starts_with([')', ']']) && line.ends_with(['{', ':']))
}

/// The hunks of the block that this one stands in.
fn block_of(all: &[HunkCandidates<'_>], at: usize) -> Range<usize> {
    let first = (0..=at).rev().find(|i| all[*i].hunk.begins_block).unwrap_or(0);
    let end = (at + 1..all.len()).find(|i| all[*i].hunk.begins_block).unwrap_or(all.len());
    first..end
}

/// The lines between which the neighbours leave room. The hunks of a diff are in the order of the file, so
/// the nearest settled one on either side counts; elsewhere only two direct neighbours that stand in the
/// order in which they were sent. Contexts may overlap, so a neighbour's own first and last lines are no
/// limit.
fn neighbour_bounds(all: &[HunkCandidates<'_>], at: usize) -> Option<(usize, usize)> {
    let room = |above: Option<(usize, usize)>, below: Option<(usize, usize)>| {
        (above.map_or(0, |lines| lines.0 + 1), below.map_or(usize::MAX, |lines| lines.1.saturating_sub(1)))
    };
    if all[at].hunk.kept.is_some() {
        let block = block_of(all, at);
        let above = all[block.start..at].iter().rev().find_map(HunkCandidates::settled_lines);
        let below = all[at + 1..block.end].iter().find_map(HunkCandidates::settled_lines);
        return Some(room(above, below));
    }
    let above = at.checked_sub(1).and_then(|above| all[above].settled_lines())?;
    let below = all.get(at + 1)?.settled_lines()?;
    (above.1 <= below.0).then(|| room(Some(above), Some(below)))
}

/// The two places that are nearest to the line that the author named, shifted by as much as the nearest
/// settled neighbour was; each with its distance.
fn nearest_to_claim(
    all: &[HunkCandidates<'_>],
    at: usize,
    left: &[usize],
) -> Option<((usize, usize), (usize, usize))> {
    let HunkCandidates { hunk, fits, .. } = &all[at];
    let claimed = hunk.claimed.filter(|line| *line > 0)?;
    let expected = signed(claimed) + drift_at(all, at);
    let mut distances: Vec<(usize, usize)> =
        left.iter().map(|i| (signed(fits[*i].start + 1).abs_diff(expected), *i)).collect();
    distances.sort_unstable();
    let [first, second, ..] = distances.as_slice() else { return None };
    Some((*first, *second))
}

/// The same old text sent as often as it stands in the file: first for first, second for second.
fn assign_repeats(view: &LineIndex<'_>, all: &mut [HunkCandidates<'_>]) {
    let mut groups: HashMap<&[String], Vec<usize>> = HashMap::new();
    for (at, candidates) in all.iter().enumerate() {
        groups.entry(&candidates.hunk.before).or_default().push(at);
    }
    for at in 0..all.len() {
        let Some(group) = groups.get(all[at].hunk.before.as_slice()) else { continue };
        let settled = all[at].chosen.is_some() || all[at].fits.len() < 2 || all[at].hunk.claimed.is_some();
        if settled || view.is_cut(all[at].fits.len()) || !view.budget().draw(group.len()) {
            continue;
        }
        // One that is decided otherwise, by its span or because it is in, has no places to be given.
        let is_same = |other: &usize| *other >= at && all[*other].fits.len() == all[at].fits.len();
        let same: Vec<usize> = group.iter().copied().filter(is_same).collect();
        let apart = all[at].fits.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if same.len() == all[at].fits.len() && apart {
            let are_equal = same.iter().all(|other| all[*other].hunk.after == all[at].hunk.after);
            let by = if are_equal { EVERY_PLACE } else { ORDER };
            for (place, other) in same.into_iter().enumerate() {
                all[other].chosen = Some((place, Some(by)));
            }
        }
    }
}

/// Line numbers are bounded far below `isize::MAX`.
fn signed(line: usize) -> isize {
    isize::try_from(line).unwrap_or(isize::MAX)
}
