//! The last rung: all lines but very few are the file's, and those few differ by a slip. Never
//! applied without a person: the report says what differs.

use super::blank_lines::fit_solid_lines;
use super::indent::{self, indentation_pairs, reindented_edits};
use super::{MatchQuery, Rung, tab_unit};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::indentation::IndentationRule;
use crate::matching::line_index::{LineWindow, MatchLevel};
use crate::matching::normalize::{indentation, is_blank};
use crate::matching::typo::{LineTypo, find_typo};
use crate::plan::HunkDifference;

/// Forgives a slip of the pen.
pub(super) struct NearRung;

impl Rung for NearRung {
    fn name(&self) -> &'static str {
        "near"
    }

    fn description(&self) -> &'static str {
        "One letter of a long word, the wording of a comment, blanks inside a line, or the indentation of a few lines; always shown and asked about."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let wanted: Vec<&str> =
            ask.hunk.before.iter().map(String::as_str).filter(|line| !is_blank(line)).collect();
        let windows = match wanted.as_slice() {
            [] => Vec::new(),
            [line] => single(ask, line),
            lines => several(ask, lines),
        };
        windows
            .into_iter()
            .map(|window| fit(ask, &window, &wanted))
            .filter(|fit| rule(ask, fit).is_some())
            .collect()
    }

    fn edits(&self, ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(ask, fit, rule(ask, fit))
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

/// One line alone: a letter inside a word, but not its last, where it may be a plural.
fn single(ask: &MatchQuery<'_, '_>, line: &str) -> Vec<Vec<usize>> {
    let letters = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    let wanted = letters(line);
    // No character has more than four bytes, so one letter more or less is at most that.
    let similar = |other: &str| letters(other).abs_diff(wanted) <= 4;
    let close = |other: &str| match find_typo(line, other) {
        Some(LineTypo::Blanks) => true,
        Some(LineTypo::Letter { at_end }) => !at_end,
        Some(LineTypo::Comment) | None => false,
    };
    let lines = ask.view.solid_lines().iter();
    let near =
        lines.filter(|number| similar(ask.view.lines()[**number]) && close(ask.view.lines()[**number]));
    near.map(|number| vec![*number]).collect()
}

fn several(ask: &MatchQuery<'_, '_>, wanted: &[&str]) -> Vec<Vec<usize>> {
    let windows = ask.view.find_nearly(wanted, misses(wanted.len()));
    let close = |window: &LineWindow| {
        window.misses.iter().all(|i| find_typo(ask.view.lines()[window.lines[*i]], wanted[*i]).is_some())
    };
    windows.into_iter().filter(close).map(|window| window.lines).collect()
}

fn fit(ask: &MatchQuery<'_, '_>, window: &[usize], wanted: &[&str]) -> HunkFit {
    let lines = ask.view.lines();
    let mut fit = fit_solid_lines(ask, window);
    let reindents = indent::rule(ask, &fit).or_else(|| tab_unit::rule(ask, &fit)).is_some();
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

/// How the new lines are indented. Where no rule fits all lines of a diff, they stay as written if
/// nearly all matched lines did. Old and new text without a diff's marks must agree on a rule: which
/// of the lines that the author saw otherwise are meant to stay is not said there.
fn rule(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    indent::rule(ask, fit).or_else(|| tab_unit::rule(ask, fit)).or_else(|| mostly_the_same(ask, fit))
}

fn mostly_the_same(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let solid: Vec<_> = indentation_pairs(ask, fit).into_iter().filter(|(line, _)| !is_blank(line)).collect();
    let same = solid.iter().filter(|(line, file)| indentation(line) == indentation(file)).count();
    (ask.hunk.kept.is_some() && solid.len() >= 4 && same * 5 >= solid.len() * 4)
        .then_some(IndentationRule::Same)
}
