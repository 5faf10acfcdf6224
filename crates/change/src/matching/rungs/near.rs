//! The last rung: all lines but very few are the file's, and those few differ by a slip. Never
//! applied without a person: the report says what differs.

use super::blank_lines::fit_around;
use super::indent::{self, pairs, reindented};
use super::{Ask, Rung, tab_unit};
use crate::matching::fit::{Fit, LineEdit};
use crate::matching::forms::{indentation, is_blank};
use crate::matching::indentation::Indentation;
use crate::matching::typo::{Slip, slip};
use crate::matching::view::{Level, Window};
use crate::plan::Difference;

/// Forgives a slip of the pen.
pub(super) struct Near;

impl Rung for Near {
    fn name(&self) -> &'static str {
        "near"
    }

    fn about(&self) -> &'static str {
        "One letter of a long word, the wording of a comment, blanks inside a line, or the indentation of a few lines; always shown and asked about."
    }

    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit> {
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

    fn edits(&self, ask: &Ask<'_, '_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
        reindented(ask, fit, rule(ask, fit))
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
fn single(ask: &Ask<'_, '_>, line: &str) -> Vec<Vec<usize>> {
    let letters = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    let wanted = letters(line);
    // No character has more than four bytes, so one letter more or less is at most that.
    let similar = |other: &str| letters(other).abs_diff(wanted) <= 4;
    let close = |other: &str| match slip(line, other) {
        Some(Slip::Blanks) => true,
        Some(Slip::Letter { at_end }) => !at_end,
        Some(Slip::Comment) | None => false,
    };
    let lines = ask.view.solid_lines().iter();
    let near =
        lines.filter(|number| similar(ask.view.lines()[**number]) && close(ask.view.lines()[**number]));
    near.map(|number| vec![*number]).collect()
}

fn several(ask: &Ask<'_, '_>, wanted: &[&str]) -> Vec<Vec<usize>> {
    let windows = ask.view.find_almost(wanted, misses(wanted.len()));
    let close = |window: &Window| {
        window.misses.iter().all(|i| slip(ask.view.lines()[window.lines[*i]], wanted[*i]).is_some())
    };
    windows.into_iter().filter(close).map(|window| window.lines).collect()
}

fn fit(ask: &Ask<'_, '_>, window: &[usize], wanted: &[&str]) -> Fit {
    let lines = ask.view.lines();
    let mut fit = fit_around(ask, window);
    let reindents = indent::rule(ask, &fit).or_else(|| tab_unit::rule(ask, &fit)).is_some();
    let same = |file: &str, line: &str| {
        Level::Content.same(file, line) && (reindents || indentation(file) == indentation(line))
    };
    let pairs = window.iter().zip(wanted).filter(|(number, line)| !same(lines[**number], line));
    fit.differences = pairs
        .map(|(number, line)| Difference {
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
fn rule(ask: &Ask<'_, '_>, fit: &Fit) -> Option<Indentation> {
    indent::rule(ask, fit).or_else(|| tab_unit::rule(ask, fit)).or_else(|| mostly_the_same(ask, fit))
}

fn mostly_the_same(ask: &Ask<'_, '_>, fit: &Fit) -> Option<Indentation> {
    let solid: Vec<_> = pairs(ask, fit).into_iter().filter(|(line, _)| !is_blank(line)).collect();
    let same = solid.iter().filter(|(line, file)| indentation(line) == indentation(file)).count();
    (ask.hunk.kept.is_some() && solid.len() >= 4 && same * 5 >= solid.len() * 4).then_some(Indentation::Same)
}
