//! Where the hunks of one file belong.
//!
//! The rule is *unique or refused*: at the first rung of the ladder on which a hunk fits anywhere, all
//! places are counted; several are settled by what the author said, or not at all. A hunk whose result is
//! already in the file does nothing.
//!
//! All hunks are first placed in the file as it is, because that is the file that the author saw. Only if
//! one of them fits nowhere there, or two of them meet, are they tried one after the other, each on the
//! result of those before it.

mod already_in;
#[cfg(test)]
mod certainty_tests;
mod disambiguate;
mod draft;
pub(crate) mod evidence;
mod fit;
mod indentation;
mod line_index;
mod nearest;
mod normalize;
#[cfg(test)]
mod order_tests;
pub mod rungs;
#[cfg(test)]
mod span_tests;
#[cfg(test)]
mod tests;
mod typo;

use std::collections::{HashMap, HashSet};

use disambiguate::HunkCandidates;
use draft::FileDraft;
use fit::{HunkFit, LineEdit};
use indentation::IndentationKind;
use line_index::{LineIndex, MatchLevel};
use rungs::text_span::{self, TextSpanRung};
use rungs::{
    MatchQuery, Rung, exact_text_rungs, first_matching_rung, layout_rungs, loose_rungs, strict_rungs,
};

use crate::lines::text_file::{FileLineEnding, TextFile, TextFilePiece};
use crate::plan::{HunkDoubt, HunkReport, HunkState, NearestPlace, PLACES_LISTED, RunnerUpPlace};
use crate::proposal::Hunk;
use crate::proposal::work_budget::WorkBudget;

#[derive(Debug)]
pub struct FileMatch {
    /// One per hunk; none if the budget is spent.
    pub outcomes: Vec<HunkOutcome>,
    /// The new file, if every hunk has its place.
    pub pieces: Option<Vec<TextFilePiece>>,
}

#[derive(Debug)]
pub enum HunkOutcome {
    /// It has its place, or is already in.
    Fits(HunkReport),
    NotFound(Option<NearestPlace>),
    Ambiguous {
        /// The first ones, from 1.
        places: Vec<usize>,
        count: usize,
        rung: &'static str,
    },
    /// It cannot be applied; the text says why.
    Failed(String),
}

/// For each line that is split, and put together again.
const LINE_STEPS: usize = 13;
/// For each line, when hunks are tried one after the other.
const SEQUENTIAL_STEPS: usize = 12;

/// `seen` are texts that the author is known to have had. If `budget` is spent, what comes out means nothing.
pub fn match_hunks(source: &TextFile, hunks: &[Hunk], seen: &[String], budget: &WorkBudget) -> FileMatch {
    budget.draw(source.line_count() * LINE_STEPS);
    let lines: Vec<&str> = source.lines().collect();
    let odd = (0..lines.len())
        .map(|line| !matches!(source.line_ending(line), FileLineEnding::Lf | FileLineEnding::None));
    let view = LineIndex::new(lines, budget).with_odd_endings(odd).for_hunks(hunks.len());
    let mut places = place_all(&view, hunks, seen);
    if !budget.is_spent() {
        drop_repeats(&view, hunks, &mut places);
    }
    if budget.is_spent() {
        return FileMatch { outcomes: Vec::new(), pieces: None };
    }
    let chosen: Vec<Option<ChosenStart>> = places.iter().map(HunkPlacement::start).collect();
    let mut outcomes = Vec::with_capacity(hunks.len());
    let mut edits: Vec<(usize, LineEdit)> = Vec::new();
    for (at, (placed, hunk)) in places.into_iter().zip(hunks).enumerate() {
        let (outcome, own) = placed.into_edits(&MatchQuery { view: &view, hunk, seen, shift: 0 });
        outcomes.push(outcome);
        edits.extend(own.into_iter().map(|edit| (at, edit)));
    }
    drop_equal_insertions(hunks, &mut outcomes, &mut edits);
    doubt_versions(hunks, &chosen, &mut outcomes);
    if let Some(at) = numbered_below_moves(hunks) {
        let text = "it inserts below a line number, but an edit before it moves lines, so the number can mean two \
                    places; send it with some lines of context";
        outcomes[at] = HunkOutcome::Failed(text.to_owned());
        return FileMatch { outcomes, pieces: None };
    }
    let all_fit = outcomes.iter().all(|outcome| matches!(outcome, HunkOutcome::Fits(_)));
    edits.sort_by_key(|(_, edit)| (edit.range.start, edit.range.end));
    let meeting = edits.windows(2).find(|pair| pair[1].1.range.start < pair[0].1.range.end);
    let meeting = meeting.map(|pair| (pair[0].0.min(pair[1].0), pair[0].0.max(pair[1].0)));
    if all_fit && meeting.is_none() {
        let edits: Vec<LineEdit> = edits.into_iter().map(|(_, edit)| edit).collect();
        let mut draft = FileDraft::new(source.lines());
        draft.apply(&edits);
        return FileMatch { outcomes, pieces: Some(draft.into_pieces()) };
    }
    let steps = hunks.len().saturating_mul(view.len()).saturating_mul(SEQUENTIAL_STEPS);
    let worth_it = hunks.len() > 1 && budget.can_spare(steps);
    if worth_it && let Some(matched) = match_sequentially(source, hunks, seen, &chosen, budget) {
        return matched;
    }
    if let Some((first, second)) = meeting.filter(|_| all_fit) {
        let text = format!("it changes the same lines as edit {} of this file", first + 1);
        outcomes[second] = HunkOutcome::Failed(text);
    }
    FileMatch { outcomes, pieces: None }
}

/// Where a hunk begins in the old file (from 0), settled with all hunks in view.
#[derive(Debug, Clone, Copy)]
struct ChosenStart {
    line: usize,
    /// What decided among several.
    chosen_by: Option<&'static str>,
}

/// What the ladder found for a hunk.
enum HunkPlacement {
    /// It has a place on a rung.
    At {
        rung: &'static dyn Rung,
        fit: HunkFit,
        chosen_by: Option<&'static str>,
        runner_up: Option<RunnerUpPlace>,
        doubt: Option<HunkDoubt>,
    },
    /// Lines are inserted at a place that the author named without old text.
    Insert { at: usize, doubt: Option<HunkDoubt> },
    /// Its result is there (from 0).
    AlreadyIn { at: usize, doubt: Option<HunkDoubt> },
    /// It has no place; the outcome says why.
    Unplaced(HunkOutcome),
}

/// The result of a hunk's own search, before neighbours are considered.
enum HunkSearchResult {
    /// Where it fits on a rung, and what is uncertain about all of these places.
    Candidates(&'static dyn Rung, Vec<HunkFit>, Option<HunkDoubt>),
    Decided(HunkPlacement),
}

fn place_all(view: &LineIndex<'_>, hunks: &[Hunk], seen: &[String]) -> Vec<HunkPlacement> {
    let mut others = Vec::with_capacity(hunks.len());
    let mut candidates = Vec::with_capacity(hunks.len());
    let mut shift = 0;
    for hunk in hunks {
        let (other, fits) = match climb_ladder(&MatchQuery { view, hunk, seen, shift }) {
            HunkSearchResult::Candidates(rung, fits, doubt) => (Err((rung, doubt)), fits),
            HunkSearchResult::Decided(placed) => (Ok(placed), Vec::new()),
        };
        let mut candidate = HunkCandidates::new(hunk, fits);
        if let Ok(HunkPlacement::AlreadyIn { at, .. }) = &other {
            candidate.result_lines = Some((*at, at + hunk.after.len()));
        }
        others.push(other);
        candidates.push(candidate);
        shift += added_lines(hunk);
    }
    disambiguate::choose_places(view, &mut candidates);
    let out_of_order: Vec<bool> =
        (0..hunks.len()).map(|at| disambiguate::is_out_of_order(&candidates, at)).collect();
    let is_sent_again = candidates.iter().any(|candidate| candidate.result_lines.is_some());
    let may_be_in: Vec<bool> =
        (0..hunks.len()).map(|at| is_sent_again || disambiguate::is_misplaced(&candidates, at)).collect();
    let settled = others.into_iter().zip(candidates).zip(out_of_order.into_iter().zip(may_be_in));
    settled
        .map(|((other, candidates), (out_of_order, may_be_in))| {
            other.unwrap_or_else(|(rung, doubt)| {
                let doubt = doubt.or(out_of_order.then_some(HunkDoubt::ByOrder));
                let query = MatchQuery { view, hunk: candidates.hunk, seen, shift: 0 };
                let doubt = doubt.or_else(|| may_be_in.then(|| standing_result(&query)).flatten());
                choose_place(view, rung, candidates, doubt)
            })
        })
        .collect()
}

/// The doubt about a hunk whose old text is in the file although its result is, too, in an answer of which another edit
/// has been made, or whose order it breaks: this one may have been made, and the old text may be that of another place.
fn standing_result(query: &MatchQuery<'_, '_>) -> Option<HunkDoubt> {
    let result = already_in::find_existing_result(query, exact_text_rungs())?;
    let claimed = query.hunk.claimed.is_some_and(|line| line == result.at + 1);
    (!result.adds && (claimed || evidence::is_telling(&query.hunk.after)))
        .then_some(HunkDoubt::ResultStandsAt(result.at + 1))
}

/// How many lines the hunk adds, less those that it removes.
fn added_lines(hunk: &Hunk) -> isize {
    hunk.after.len().cast_signed() - hunk.before.len().cast_signed()
}

/// The place chosen among `candidates`, if any.
fn choose_place(
    view: &LineIndex<'_>,
    rung: &'static dyn Rung,
    candidates: HunkCandidates<'_>,
    doubt: Option<HunkDoubt>,
) -> HunkPlacement {
    let HunkCandidates { hunk, mut fits, chosen, .. } = candidates;
    if let Some((at, chosen_by)) = chosen {
        let fit = fits.swap_remove(at);
        let nearest = fits.iter().min_by_key(|other| other.start.abs_diff(fit.start));
        let runner_up = nearest.map(|other| RunnerUpPlace { line: other.start + 1, score: other.score });
        let query = MatchQuery { view, hunk, seen: &[], shift: 0 };
        let doubt = match doubt {
            // Whoever names a place says where, but not that the text there has moved to another depth.
            Some(HunkDoubt::LittleText) if disambiguate::is_named(view, hunk, &fit) => {
                is_at_another_depth(&query, &fit).then_some(HunkDoubt::OtherDepth)
            }
            doubt => doubt,
        };
        let doubt = doubt.or(choice_doubt(view, hunk, &fit, chosen_by));
        return HunkPlacement::At { rung, fit, chosen_by, runner_up, doubt };
    }
    if have_same_result(view, rung, &fits, hunk) {
        let fit = fits.swap_remove(0);
        return HunkPlacement::At { rung, fit, chosen_by: Some("same result"), runner_up: None, doubt };
    }
    let places = fits.iter().take(PLACES_LISTED).map(|fit| fit.start + 1).collect();
    HunkPlacement::Unplaced(HunkOutcome::Ambiguous { places, count: fits.len(), rung: rung.name() })
}

/// What is uncertain about a place that was chosen by this among several.
fn choice_doubt(
    view: &LineIndex<'_>,
    hunk: &Hunk,
    fit: &HunkFit,
    chosen_by: Option<&str>,
) -> Option<HunkDoubt> {
    match chosen_by {
        Some(disambiguate::NEAREST_LINE) => Some(HunkDoubt::NearestLine),
        // Only the hunks of a diff are known to be in the order of the file, and a number that misses says otherwise.
        Some(disambiguate::ORDER) if hunk.kept.is_none() || hunk.claimed.is_some() => {
            Some(HunkDoubt::ByOrder)
        }
        Some(disambiguate::ORDER) if !hunk.scope.is_empty() => {
            let is_inside =
                disambiguate::scope_range(view, &hunk.scope).is_some_and(|scope| scope.contains(fit));
            (!is_inside).then_some(HunkDoubt::OutsideScope)
        }
        _ => None,
    }
}

/// Most places compared by their result.
const COMPARED: usize = 8;

/// Whether it does not matter which of the places is meant, as with one of two blank lines.
fn have_same_result(view: &LineIndex<'_>, rung: &'static dyn Rung, fits: &[HunkFit], hunk: &Hunk) -> bool {
    if fits.len() > COMPARED {
        return false;
    }
    let query = MatchQuery { view, hunk, seen: &[], shift: 0 };
    let result = |fit: &HunkFit| {
        let mut draft = FileDraft::new(view.lines().iter().copied());
        draft.apply(&rung.edits(&query, fit).ok()?);
        Some(draft.texts().join("\n"))
    };
    let first = result(&fits[0]);
    first.is_some() && fits[1..].iter().all(|fit| result(fit) == first)
}

/// Among hunks that are already in, one that only adds lines which are already there is in too. Alone it
/// may be meant: then it is applied, and reported so that somebody looks.
fn drop_repeats(view: &LineIndex<'_>, hunks: &[Hunk], places: &mut [HunkPlacement]) {
    // As certain as the least certain of those that are in.
    let certainty = places.iter().filter_map(|placed| match placed {
        HunkPlacement::AlreadyIn { doubt, .. } => Some(*doubt),
        _ => None,
    });
    let Some(doubt) = certainty.reduce(|one, other| one.or(other)) else { return };
    for (placed, hunk) in places.iter_mut().zip(hunks) {
        let query = MatchQuery { view, hunk, seen: &[], shift: 0 };
        if let HunkPlacement::At { fit, .. } = placed
            && already_in::result_surrounds(&query, fit)
        {
            *placed = HunkPlacement::AlreadyIn { at: fit.start, doubt };
        }
    }
}

/// Most different insertions at one place that are told apart; somebody is asked about the others.
const INSERTIONS: usize = 64;

/// The same lines inserted twice at one place: a hunk that was sent twice counts once; of two hunks that differ
/// somebody must say whether both are meant, also where one only adds to what the other inserts.
fn drop_equal_insertions(hunks: &[Hunk], outcomes: &mut [HunkOutcome], edits: &mut Vec<(usize, LineEdit)>) {
    let mut inserted: HashMap<usize, Vec<(usize, HashSet<&str>)>> = HashMap::new();
    let mut repeats = Vec::new();
    for (at, edit) in edits.iter().filter(|(_, edit)| edit.range.is_empty()) {
        let words: HashSet<&str> =
            edit.new.iter().map(|line| line.trim()).filter(|line| evidence::has_words(line)).collect();
        let others = inserted.entry(edit.range.start).or_default();
        let same = others.iter().find(|(_, other)| words.is_subset(other) || other.is_subset(&words));
        match same {
            Some((first, _)) => repeats.push((*first, *at)),
            None if others.len() == INSERTIONS => repeats.push((others[0].0, *at)),
            None => others.push((*at, words)),
        }
    }
    let replacing: HashSet<usize> =
        edits.iter().filter(|(_, edit)| !edit.range.is_empty()).map(|(at, _)| *at).collect();
    let mut dropped = HashSet::new();
    for (first, at) in repeats {
        let HunkOutcome::Fits(report) = &mut outcomes[at] else { continue };
        let (one, other) = (&hunks[first], &hunks[at]);
        let same = one.before == other.before && one.after == other.after;
        if same && !replacing.contains(&at) {
            report.state = HunkState::AlreadyIn;
            dropped.insert(at);
        } else {
            report.doubt = Some(HunkDoubt::Repeats);
        }
    }
    edits.retain(|(at, _)| !dropped.contains(at));
}

/// Two edits in separate blocks that make something different of the same old text at one place: the second may be meant
/// in place of the first.
fn doubt_versions(hunks: &[Hunk], chosen: &[Option<ChosenStart>], outcomes: &mut [HunkOutcome]) {
    let mut first: HashMap<(usize, &[String]), usize> = HashMap::new();
    for (at, (hunk, start)) in hunks.iter().zip(chosen).enumerate() {
        let Some(start) = start.filter(|_| !hunk.before.is_empty()) else { continue };
        let version = *first.entry((start.line, &hunk.before)).or_insert(at);
        let is_apart = hunks[version + 1..=at].iter().any(|hunk| hunk.begins_block);
        if is_apart
            && hunks[version].after != hunk.after
            && let HunkOutcome::Fits(report) = &mut outcomes[at]
            && report.state != HunkState::AlreadyIn
        {
            report.doubt.get_or_insert(HunkDoubt::Repeats);
        }
    }
}

/// Where the hunk fits, on the first rung where it does. A result that certainly stands in the file comes before
/// every rung that forgives something, and one that perhaps does makes their places doubtful.
fn climb_ladder(query: &MatchQuery<'_, '_>) -> HunkSearchResult {
    if query.view.budget().is_spent() {
        let outcome = HunkOutcome::NotFound(None);
        return HunkSearchResult::Decided(HunkPlacement::Unplaced(outcome));
    }
    if query.hunk.before.is_empty() {
        return HunkSearchResult::Decided(place_insertion(query));
    }
    if let Some(span) = &query.hunk.span {
        let places = TextSpanRung.places(query);
        match places.len() {
            0 if span.is_lines() => {}
            0 => return not_found(query),
            1 => {
                let doubt = text_span::occurrence_doubt(query.view, span, places[0].start);
                let doubt = doubt.or_else(|| if span.is_lines() { blank_twin(query, &places) } else { None });
                return HunkSearchResult::Candidates(&TextSpanRung, places, doubt);
            }
            several => {
                let count = text_span::count(query.view, span).max(several);
                let places = places.iter().take(PLACES_LISTED).map(|fit| fit.start + 1).collect();
                let rung = TextSpanRung.name();
                let outcome = HunkOutcome::Ambiguous { places, count, rung };
                return HunkSearchResult::Decided(HunkPlacement::Unplaced(outcome));
            }
        }
    }
    if let Some((rung, places)) = first_matching_rung(exact_text_rungs(), query) {
        return exact_places(query, rung, places);
    }
    let already_in = |at, doubt| HunkSearchResult::Decided(HunkPlacement::AlreadyIn { at, doubt });
    let exact_result = already_in::find_existing_result(query, exact_text_rungs());
    if let Some(result) = exact_result.filter(|result| result.proven) {
        return already_in(result.at, None);
    }
    if let Some((rung, places)) = first_matching_rung(layout_rungs(), query) {
        if let Some(result) = already_in::find_layout_result(query) {
            return already_in(result.at, (!result.proven).then_some(HunkDoubt::PerhapsIn));
        }
        return forgiven(query, rung, places, exact_result);
    }
    let result = exact_result.or_else(|| already_in::find_existing_result(query, strict_rungs()));
    if let Some(result) = result.filter(|result| result.proven) {
        return already_in(result.at, None);
    }
    if let Some((rung, places)) = first_matching_rung(loose_rungs(), query) {
        return forgiven(query, rung, places, result);
    }
    match result {
        Some(result) => already_in(result.at, Some(HunkDoubt::PerhapsIn)),
        None => not_found(query),
    }
}

fn not_found(query: &MatchQuery<'_, '_>) -> HunkSearchResult {
    let nearest = nearest::show_nearest(query.view, query.hunk);
    HunkSearchResult::Decided(HunkPlacement::Unplaced(HunkOutcome::NotFound(nearest)))
}

/// The first insertion that only names a line although an edit before it moves lines: the number may be that of the old
/// file or of the new one.
fn numbered_below_moves(hunks: &[Hunk]) -> Option<usize> {
    let breaks = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let moves = |hunk: &Hunk| match &hunk.span {
        Some(span) if !hunk.before.is_empty() => breaks(&span.old) != breaks(&span.new),
        _ => added_lines(hunk) != 0,
    };
    let first = hunks.iter().position(moves)?;
    let numbered = |hunk: &Hunk| hunk.before.is_empty() && hunk.span.is_some();
    (first + 1..hunks.len()).find(|at| numbered(&hunks[*at]))
}

/// Places that have the old text to the letter. If the author named another one, the edit may have been made there
/// already, and these are only like it.
fn exact_places(
    query: &MatchQuery<'_, '_>,
    rung: &'static dyn Rung,
    places: Vec<HunkFit>,
) -> HunkSearchResult {
    let (view, hunk) = (query.view, query.hunk);
    if places.iter().any(|fit| hunk.claimed == Some(fit.start + 1)) {
        return HunkSearchResult::Candidates(rung, places, None);
    }
    if let Some(result) = already_in::find_claimed_result(query, &places) {
        let doubt = (!result.proven).then_some(HunkDoubt::OldTextElsewhere);
        if result.proven || result.telling {
            return HunkSearchResult::Decided(HunkPlacement::AlreadyIn { at: result.at, doubt });
        }
        let doubt = HunkDoubt::ResultStandsAt(result.at + 1);
        return HunkSearchResult::Candidates(rung, places, Some(doubt));
    }
    // A deletion without context leaves nothing behind by which it could be recognised the second time.
    let leaves_nothing = hunk.after.iter().all(|line| normalize::is_blank(line));
    if leaves_nothing && hunk.claimed.is_some() && !evidence::excludes_chance(&hunk.before) {
        return HunkSearchResult::Candidates(rung, places, Some(HunkDoubt::OutsideScope));
    }
    let numbered = hunk.claimed.is_some();
    let outside = !(numbered && evidence::excludes_chance(&hunk.before))
        && disambiguate::scope_range(view, &hunk.scope).is_some_and(|scope| {
            // Above a numbered hunk stands the line that the tool found, which may be the head of what is before the
            // place, but never one below it.
            let excludes =
                |fit: &HunkFit| if numbered { fit.end <= scope.head() } else { scope.excludes(fit) };
            places.iter().all(excludes)
        });
    let doubt = if outside { Some(HunkDoubt::OutsideScope) } else { blank_twin(query, &places) };
    HunkSearchResult::Candidates(rung, places, doubt)
}

/// The doubt about places that have the old text to the letter, if another has it but for blanks at the ends of lines
/// and the author names none of them.
fn blank_twin(query: &MatchQuery<'_, '_>, places: &[HunkFit]) -> Option<HunkDoubt> {
    let (view, hunk) = (query.view, query.hunk);
    let alike = view.find(&hunk.before, MatchLevel::TrailingBlanks, hunk.claimed);
    let is_known = |start: &usize| places.binary_search_by_key(start, |fit| fit.start).is_ok();
    // Of too many places some are not listed.
    let twin = alike.iter().find(|start| !is_known(start)).filter(|_| !view.is_cut(alike.len()))?;
    let named = places.iter().any(|fit| disambiguate::is_named(view, hunk, fit));
    (!named).then_some(HunkDoubt::AlsoFits(twin + 1))
}

/// Whether the lines at `fit` are indented more or less than the author's. A text may lose its indentation on the way,
/// but nobody can tell that from the same text at another depth.
fn is_at_another_depth(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> bool {
    let solid = query.hunk.before.iter().enumerate().filter(|(_, line)| !normalize::is_blank(line));
    let pairs = solid.filter_map(|(i, line)| Some((line, *query.view.lines().get(fit.file_line(i)?)?)));
    let width = |line: &str| normalize::indentation(line).len();
    let tabs = |line: &str| normalize::indentation(line).contains('\t');
    // Lines are compared only where the outcome hangs on it: there may be very many.
    let mut least: Option<(&String, &str)> = None;
    for (line, file) in pairs {
        let is_less = least.is_none_or(|(known, _)| width(line) < width(known));
        if is_less && MatchLevel::Content.lines_equal(line, file) {
            least = Some((line, file));
        }
    }
    least.is_some_and(|(line, file)| {
        let (wanted, found) = (width(line), width(file));
        wanted != found && (tabs(line) == tabs(file) || wanted == 0 || found == 0)
    })
}

/// Places that a forgiving rung found, with what makes them doubtful: the result stands in the file already, or the
/// text is so short that another place may be meant.
fn forgiven(
    query: &MatchQuery<'_, '_>,
    rung: &'static dyn Rung,
    places: Vec<HunkFit>,
    result: Option<already_in::ExistingResult>,
) -> HunkSearchResult {
    if let Some(result) = result.filter(|result| !result.adds) {
        if places.iter().any(|fit| result.at <= fit.start && fit.end <= result.end) {
            let doubt = Some(HunkDoubt::PerhapsIn);
            return HunkSearchResult::Decided(HunkPlacement::AlreadyIn { at: result.at, doubt });
        }
        return HunkSearchResult::Candidates(rung, places, Some(HunkDoubt::ResultStandsAt(result.at + 1)));
    }
    let short = rung.needs_much_text() && !evidence::excludes_chance(&query.hunk.before);
    // Every line of every place is looked at.
    let is_affordable = query.draw(places.len() * query.hunk.before.len() * 4);
    let is_moved = || is_affordable && places.iter().any(|fit| is_at_another_depth(query, fit));
    let moved = || is_moved().then_some(HunkDoubt::OtherDepth);
    let doubt = result_overlaps(query, &places).then_some(HunkDoubt::PerhapsIn);
    let doubt = doubt.or_else(|| if short { Some(HunkDoubt::LittleText) } else { moved() });
    let doubt = doubt.or(begins_at_its_number(query, &places).then_some(HunkDoubt::OutsideScope));
    HunkSearchResult::Candidates(rung, places, doubt)
}

/// Whether the new text stands to the letter where the old one fits only if blank lines are forgiven.
fn result_overlaps(query: &MatchQuery<'_, '_>, places: &[HunkFit]) -> bool {
    let (lines, after) = (query.view.lines(), &query.hunk.after);
    let is_wordless = !after.iter().any(|line| evidence::has_words(line));
    // Every line of the new text may be looked at from every line around every place.
    let steps = places.iter().map(|fit| fit.end - fit.start + after.len()).sum::<usize>();
    if is_wordless || !after.iter().any(|line| normalize::is_blank(line)) || !query.draw(steps * 2) {
        return false;
    }
    places.iter().any(|fit| {
        let from = (fit.start + 1).saturating_sub(after.len());
        (from..fit.end).any(|at| lines.get(at..at + after.len()).is_some_and(|there| there.iter().eq(after)))
    })
}

/// Whether the first line of the hunk stands on the line that the author named, and none of `places` does: the text
/// that is meant may have changed since.
fn begins_at_its_number(query: &MatchQuery<'_, '_>, places: &[HunkFit]) -> bool {
    let Some(line) = query.hunk.claimed.and_then(|line| line.checked_sub(1)) else { return false };
    let (first, there) = (query.hunk.before.first(), query.view.lines().get(line));
    places.iter().all(|fit| fit.start != line)
        && first.is_some_and(|first| evidence::has_words(first) && there == Some(&first.as_str()))
}

/// A hunk without old text has a place only where the author says so, or in an empty file.
fn place_insertion(query: &MatchQuery<'_, '_>) -> HunkPlacement {
    let (view, hunk) = (query.view, query.hunk);
    let is_diff = hunk.kept.is_some();
    let numbered = !is_diff && hunk.claimed.is_some_and(|line| line > 0);
    if hunk.after.is_empty() || (!numbered && view.lines().iter().eq(&hunk.after)) {
        return HunkPlacement::AlreadyIn { at: 0, doubt: None };
    }
    let at = match hunk.claimed {
        _ if view.is_empty() => Some(0),
        Some(0) if is_diff => Some(0),
        _ if hunk.at_end => Some(view.len()),
        Some(line) if !is_diff && line > 0 && line <= view.len() + 1 => Some(line - 1),
        None if is_diff => below_scope(query),
        _ => None,
    };
    let stands = |at: usize| {
        view.lines()[at..].get(..hunk.after.len()).is_some_and(|lines| lines.iter().eq(&hunk.after))
    };
    match at {
        Some(at) if stands(at) => found_at_insertion(query, at),
        // What is to be appended may be there from the last time.
        Some(at) if hunk.at_end && at >= hunk.after.len() && stands(at - hunk.after.len()) => {
            HunkPlacement::AlreadyIn { at: at - hunk.after.len(), doubt: Some(HunkDoubt::PerhapsIn) }
        }
        Some(at) => {
            let scoped = is_diff && hunk.claimed.is_none() && !hunk.at_end && !view.is_empty();
            // A diff from nothing on top of a file that has its lines was made for another file, or for none.
            let is_new_text = is_diff && hunk.claimed == Some(0) && !view.is_empty();
            let doubtful = scoped || (is_new_text && has_telling_line(query));
            HunkPlacement::Insert { at, doubt: doubtful.then_some(HunkDoubt::OnlyAdds) }
        }
        None => {
            let text = "it adds lines without naming any line of the file to put them next to; \
                        send it with a few lines of context";
            HunkPlacement::Unplaced(HunkOutcome::Failed(text.to_string()))
        }
    }
}

/// Whether the file has a line of the new text that says something.
fn has_telling_line(query: &MatchQuery<'_, '_>) -> bool {
    let telling = query.hunk.after.iter().filter(|line| line.trim().len() >= evidence::TELLING);
    query.draw(query.hunk.after.len());
    telling.into_iter().any(|line| !query.view.content_places(line).is_empty())
}

/// Lines that are to be inserted stand there: from the last time, or because the next ones are the same.
fn found_at_insertion(query: &MatchQuery<'_, '_>, at: usize) -> HunkPlacement {
    let (view, after) = (query.view, &query.hunk.after);
    let is_only_one = || view.find(after, MatchLevel::Exact, query.hunk.claimed).len() == 1;
    if evidence::excludes_chance(after) && is_only_one() {
        return HunkPlacement::AlreadyIn { at, doubt: None };
    }
    if evidence::is_telling(after) {
        return HunkPlacement::AlreadyIn { at, doubt: Some(HunkDoubt::PerhapsIn) };
    }
    HunkPlacement::Insert { at, doubt: Some(HunkDoubt::Repeats) }
}

/// Below the line that the hunk names, if that line is quoted in full, stands there once and says that it is complete.
fn below_scope(query: &MatchQuery<'_, '_>) -> Option<usize> {
    let line = disambiguate::scope_range(query.view, &query.hunk.scope)?.head();
    let (name, text) = (query.hunk.scope.last()?.trim(), query.view.lines()[line].trim());
    (name == text && !text.ends_with(['(', ',', '\\'])).then_some(line + 1)
}

/// The doubt about new lines that are indented with blanks in a file that uses tabs, or the other way round.
fn mixed_indentation(view: &LineIndex<'_>, edits: &[LineEdit]) -> Option<HunkDoubt> {
    let kinds = || edits.iter().flat_map(|edit| &edit.new).filter_map(|line| IndentationKind::of(line));
    kinds().next()?;
    let of_file = view.indentation_kind()?;
    kinds().any(|kind| kind != of_file).then_some(HunkDoubt::MixedIndentation)
}

impl HunkPlacement {
    /// Its first line in the file, if it has a place.
    fn start(&self) -> Option<ChosenStart> {
        let (line, chosen_by) = match self {
            HunkPlacement::At { fit, chosen_by, .. } => (fit.start, *chosen_by),
            HunkPlacement::Insert { at, .. } | HunkPlacement::AlreadyIn { at, .. } => (*at, None),
            HunkPlacement::Unplaced(_) => return None,
        };
        Some(ChosenStart { line, chosen_by })
    }

    /// The outcome for the hunk, and what it changes.
    fn into_edits(self, query: &MatchQuery<'_, '_>) -> (HunkOutcome, Vec<LineEdit>) {
        let report = |state, rung, used: usize| HunkReport {
            line: query.hunk.line,
            state,
            rung,
            chosen_by: None,
            claimed: query.hunk.claimed,
            used: used + 1,
            doubt: None,
            runner_up: None,
            differences: Vec::new(),
        };
        match self {
            HunkPlacement::Unplaced(outcome) => (outcome, Vec::new()),
            HunkPlacement::AlreadyIn { at, doubt } => {
                let report = report(HunkState::AlreadyIn, "already in", at);
                (HunkOutcome::Fits(HunkReport { doubt, ..report }), Vec::new())
            }
            HunkPlacement::Insert { at, doubt } => {
                let own = vec![LineEdit { range: at..at, new: query.hunk.after.clone() }];
                let doubt = doubt.or_else(|| mixed_indentation(query.view, &own));
                let report = report(HunkState::Applied, "exact", at);
                (HunkOutcome::Fits(HunkReport { doubt, ..report }), own)
            }
            HunkPlacement::At { rung, fit, chosen_by, runner_up, doubt } => {
                let own = match rung.edits(query, &fit) {
                    Ok(own) => own,
                    Err(text) => return (HunkOutcome::Failed(text), Vec::new()),
                };
                let state = if own.is_empty() { HunkState::AlreadyIn } else { HunkState::Applied };
                let repeats = already_in::result_surrounds(query, &fit).then_some(HunkDoubt::Repeats);
                let doubt = repeats.or(doubt).or_else(|| mixed_indentation(query.view, &own));
                let differences = fit.differences;
                let report = report(state, rung.name(), fit.start);
                (HunkOutcome::Fits(HunkReport { chosen_by, doubt, runner_up, differences, ..report }), own)
            }
        }
    }
}

/// Applies the hunks one after the other, each on the result of those before it. `chosen` are the places
/// that were settled before.
fn match_sequentially(
    source: &TextFile,
    hunks: &[Hunk],
    seen: &[String],
    chosen: &[Option<ChosenStart>],
    budget: &WorkBudget,
) -> Option<FileMatch> {
    let mut draft = FileDraft::new(source.lines());
    let mut outcomes = Vec::with_capacity(hunks.len());
    let mut shift = 0;
    for (hunk, chosen) in hunks.iter().zip(chosen) {
        let view = LineIndex::new(draft.texts(), budget).for_hunks(hunks.len());
        let query = MatchQuery { view: &view, hunk, seen, shift };
        shift += added_lines(hunk);
        let placed = match climb_ladder(&query) {
            HunkSearchResult::Decided(placed) => placed,
            HunkSearchResult::Candidates(rung, fits, doubt) => {
                let (fit, chosen_by) = choose_untouched_place(&view, &draft, fits, *chosen)?;
                let doubt = doubt.or(choice_doubt(&view, hunk, &fit, chosen_by));
                HunkPlacement::At { rung, fit, chosen_by, runner_up: None, doubt }
            }
        };
        let (HunkOutcome::Fits(mut report), edits) = placed.into_edits(&query) else { return None };
        report.used = draft.origin(report.used - 1) + 1;
        drop(view);
        draft.apply(&edits);
        outcomes.push(HunkOutcome::Fits(report));
    }
    Some(FileMatch { outcomes, pieces: Some(draft.into_pieces()) })
}

/// The only place, or the one settled before, or the one in lines that no hunk has touched.
fn choose_untouched_place(
    view: &LineIndex<'_>,
    now: &FileDraft<'_>,
    fits: Vec<HunkFit>,
    chosen: Option<ChosenStart>,
) -> Option<(HunkFit, Option<&'static str>)> {
    let settled_by = chosen.and_then(|chosen| chosen.chosen_by);
    if fits.len() == 1 {
        return fits.into_iter().next().map(|fit| (fit, settled_by));
    }
    let cut = view.is_cut(fits.len());
    let untouched: Vec<HunkFit> =
        fits.into_iter().filter(|fit| now.is_untouched(fit.start, fit.end)).collect();
    match chosen {
        Some(chosen) => {
            let fit = untouched.into_iter().find(|fit| now.origin(fit.start) == chosen.line)?;
            Some((fit, settled_by.or(Some(disambiguate::ORIGINAL_FILE))))
        }
        // Of too many places some are not listed.
        None if untouched.len() == 1 && !cut => {
            untouched.into_iter().next().map(|fit| (fit, Some(disambiguate::ORDER)))
        }
        None => None,
    }
}
