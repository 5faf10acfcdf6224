//! The last rung: all lines but very few are the file's, and those few differ by a slip. Never
//! applied without a person: the report says what differs.

use super::blank_lines::fit_around;
use super::indent::{self, reindented};
use super::{Ask, Rung, tab_unit};
use crate::matching::fit::{Fit, LineEdit};
use crate::matching::forms::is_blank;
use crate::matching::typo::{Slip, slip};
use crate::matching::view::Level;
use crate::plan::Difference;

/// Forgives a slip of the pen.
pub(in crate::matching) struct Near;

impl Rung for Near {
    fn name(&self) -> &'static str {
        "near"
    }

    fn about(&self) -> &'static str {
        "One letter of a long word, or blanks inside a line, in very few lines; always shown and asked about."
    }

    fn places(&self, ask: &Ask<'_>) -> Vec<Fit> {
        let wanted: Vec<&str> = ask
            .hunk
            .before
            .iter()
            .map(String::as_str)
            .filter(|line| !is_blank(line))
            .collect();
        let places = match wanted.as_slice() {
            [] => Vec::new(),
            [line] => single(ask, line),
            lines => several(ask, lines),
        };
        places
            .into_iter()
            .filter(|fit| {
                indent::rule(ask, fit)
                    .or_else(|| tab_unit::rule(ask, fit))
                    .is_some()
            })
            .collect()
    }

    fn edits(&self, ask: &Ask<'_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
        reindented(
            ask,
            fit,
            indent::rule(ask, fit).or_else(|| tab_unit::rule(ask, fit)),
        )
    }
}

/// How many lines of a hunk may differ.
fn misses(lines: usize) -> usize {
    match lines {
        0..=10 => 1,
        11..=30 => 2,
        _ => 3,
    }
}

/// One line alone: a letter inside a word, but not its last, where it may be a plural.
fn single(ask: &Ask<'_>, line: &str) -> Vec<Fit> {
    let close = |other: &str| match slip(line, other) {
        Some(Slip::Blanks) => true,
        Some(Slip::Letter { at_end }) => !at_end,
        None => false,
    };
    let lines = ask.view.solid_lines().iter();
    lines
        .filter(|number| close(ask.view.lines()[**number]))
        .map(|number| fit(ask, &[*number], &[line]))
        .collect()
}

fn several(ask: &Ask<'_>, wanted: &[&str]) -> Vec<Fit> {
    let solid = ask.view.solid_lines();
    let starts = ask.view.find_almost(wanted, misses(wanted.len()));
    let windows = starts
        .into_iter()
        .map(|start| &solid[start..start + wanted.len()]);
    let close = |window: &&[usize]| {
        let mut pairs = window.iter().zip(wanted);
        pairs.all(|(number, line)| {
            Level::Content.same(ask.view.lines()[*number], line)
                || slip(ask.view.lines()[*number], line).is_some()
        })
    };
    windows
        .filter(close)
        .map(|window| fit(ask, window, wanted))
        .collect()
}

fn fit(ask: &Ask<'_>, window: &[usize], wanted: &[&str]) -> Fit {
    let lines = ask.view.lines();
    let pairs = window
        .iter()
        .zip(wanted)
        .filter(|(number, line)| !Level::Content.same(lines[**number], line));
    let differences: Vec<Difference> = pairs
        .map(|(number, line)| Difference {
            line: number + 1,
            file: lines[*number].to_string(),
            answer: (*line).to_string(),
        })
        .collect();
    let letters: usize = wanted.iter().map(|line| line.trim().len()).sum();
    // Counted in hundredths of the text, which is all that a reader makes of it.
    let share = |part: usize| {
        u32::try_from(part * 100 / letters.max(1))
            .map_or(1.0, |hundredths| f64::from(hundredths) / 100.0)
    };
    let score = (1.0 - share(differences.len())).clamp(0.9, 0.99);
    Fit {
        differences,
        score,
        ..fit_around(ask, window)
    }
}
