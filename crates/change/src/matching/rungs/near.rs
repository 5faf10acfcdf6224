//! The last rung: all lines but very few are the file's, and those few differ by a typo. Never applied
//! without a person: the report shows the difference.

use super::blank_lines::{WINDOW_STEPS, fit_solid_lines};
use super::indent::{self, indentation_pairs, reindented_edits};
use super::{MatchQuery, Rung, tab_unit};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::indentation::IndentationRule;
use crate::matching::line_index::{LineWindow, MatchLevel, letter_count};
use crate::matching::normalize::{indentation, is_blank};
use crate::matching::typo::{self, LineTypo, find_typo};
use crate::plan::HunkDifference;

pub(super) struct NearRung;

impl Rung for NearRung {
    fn name(&self) -> &'static str {
        "near"
    }

    fn description(&self) -> &'static str {
        "One letter of a long word, the wording of a comment, blanks inside a line, or the indentation of a few lines; always shown and asked about."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let wanted: Vec<&str> =
            query.hunk.before.iter().map(String::as_str).filter(|line| !is_blank(line)).collect();
        let windows = match wanted.as_slice() {
            [] => Vec::new(),
            [line] => single(query, line),
            lines => several(query, lines),
        };
        if !query.draw(windows.len() * query.hunk.before.len() * 2 * WINDOW_STEPS) {
            return Vec::new();
        }
        windows
            .into_iter()
            .map(|window| fit(query, &window, &wanted))
            .filter(|fit| rule(query, fit).is_some())
            .collect()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(query, fit, rule(query, fit))
    }
}

/// How many lines of a hunk may differ in a word.
fn misses(lines: usize) -> usize {
    match lines {
        0..=10 => 1,
        11..=30 => 2,
        _ => 3,
    }
}

/// A search for a single line gives up past this many: none of them can be meant in particular.
const SINGLE_LINES: usize = 200;

/// A single line: a letter inside a word may differ, but not its last, where it may be a plural.
fn single(query: &MatchQuery<'_, '_>, line: &str) -> Vec<Vec<usize>> {
    let wanted = letter_count(line);
    if line.len() > typo::LINE || !query.draw(query.view.solid_lines().len()) {
        return Vec::new();
    }
    let close = |other: &str| {
        query.draw(typo::steps(line, other))
            && match find_typo(line, other) {
                Some(LineTypo::Blanks) => true,
                Some(LineTypo::Letter { at_end }) => !at_end,
                Some(LineTypo::Comment) | None => false,
            }
    };
    let lines = query.view.solid_lines().iter().zip(query.view.solid_letters());
    // A character has at most four bytes, so one letter more or less is at most that.
    let near = lines
        .filter(|(number, letters)| letters.abs_diff(wanted) <= 4 && close(query.view.lines()[**number]));
    let near: Vec<Vec<usize>> = near.map(|(number, _)| vec![*number]).take(SINGLE_LINES + 1).collect();
    if near.len() > SINGLE_LINES { Vec::new() } else { near }
}

fn several(query: &MatchQuery<'_, '_>, wanted: &[&str]) -> Vec<Vec<usize>> {
    let windows = query.view.find_nearly(wanted, misses(wanted.len()));
    let close = |window: &LineWindow| {
        window.misses.iter().all(|i| find_typo(query.view.lines()[window.lines[*i]], wanted[*i]).is_some())
    };
    windows.into_iter().filter(close).map(|window| window.lines).collect()
}

fn fit(query: &MatchQuery<'_, '_>, window: &[usize], wanted: &[&str]) -> HunkFit {
    let lines = query.view.lines();
    let mut fit = fit_solid_lines(query, window);
    let reindents = indent::rule(query, &fit).or_else(|| tab_unit::rule(query, &fit)).is_some();
    let same = |file: &str, line: &str| {
        MatchLevel::Content.lines_equal(file, line) && (reindents || indentation(file) == indentation(line))
    };
    let pairs = window.iter().zip(wanted).filter(|(number, line)| !same(lines[**number], line));
    fit.differences = pairs
        .map(|(number, line)| HunkDifference {
            line: number + 1,
            file: lines[*number].to_string(),
            answer: (*line).to_string(),
        })
        .collect();
    fit.score = 0.95;
    fit
}

/// How the new lines are indented. If no rule fits all lines of a diff, they stay as written if nearly all
/// matched lines did. Old and new text without a diff's marks must agree on a rule: they do not say which
/// of the lines that the author saw differently are meant to stay.
fn rule(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    indent::rule(query, fit).or_else(|| tab_unit::rule(query, fit)).or_else(|| mostly_the_same(query, fit))
}

fn mostly_the_same(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let solid: Vec<_> =
        indentation_pairs(query, fit).into_iter().filter(|(line, _)| !is_blank(line)).collect();
    let same = solid.iter().filter(|(line, file)| indentation(line) == indentation(file)).count();
    (query.hunk.kept.is_some() && solid.len() >= 4 && same * 5 >= solid.len() * 4)
        .then_some(IndentationRule::Same)
}
