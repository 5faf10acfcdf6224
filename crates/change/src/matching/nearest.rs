//! The place that looks most like what a hunk wanted: not to change it, only to show the author.

use std::collections::HashMap;

use super::line_index::{LineIndex, MatchLevel};
use super::normalize::is_blank;
use crate::plan::NearestPlace;
use crate::proposal::Hunk;

/// Lines that occur more often say nothing about where a hunk belongs.
const COMMON: usize = 50;
/// Most lines of the hunk that are compared.
const LINES: usize = 400;
/// Least part of the hunk's text that a place must share to be worth showing.
const SHARED: f64 = 0.3;

/// Most bytes of a place that are shown.
const SHOWN_BYTES: usize = 16 * 1024;
/// For each line of the hunk and each of its places.
const VOTE_STEPS: usize = 4;

/// For each line whose words are compared.
const WORD_STEPS: usize = 8;

/// `None` if no place is similar at all, or if there is too much to look through for something that is only shown.
pub(super) fn show_nearest(view: &LineIndex<'_>, hunk: &Hunk) -> Option<NearestPlace> {
    search(view, hunk, |steps| view.budget().draw_spare(steps))
}

/// `None` if no place is similar at all.
pub(super) fn find_nearest(view: &LineIndex<'_>, hunk: &Hunk) -> Option<NearestPlace> {
    search(view, hunk, |steps| view.budget().draw(steps))
}

fn search(view: &LineIndex<'_>, hunk: &Hunk, draw: impl Fn(usize) -> bool) -> Option<NearestPlace> {
    let compared = hunk.before.iter().take(LINES);
    let votes: usize = compared.map(|line| view.content_places(line).len().min(COMMON) + 1).sum();
    if !draw(votes * VOTE_STEPS) {
        return None;
    }
    let by_words =
        || draw(view.bytes() * 2 + view.len() * WORD_STEPS).then(|| by_words(view, hunk)).flatten();
    let start = by_equal_lines(view, hunk).or_else(by_words)?;
    let lines = &view.lines()[start..view.len().min(start + hunk.before.len())];
    let same = |(file, wanted): &(&&str, &String)| MatchLevel::Content.lines_equal(file, wanted);
    let pairs = || lines.iter().zip(&hunk.before);
    let first_difference = pairs().take_while(same).count().min(hunk.before.len().saturating_sub(1));
    let weight = |text: &str| text.trim().len() + 1;
    let all: usize = hunk.before.iter().map(|line| weight(line)).sum();
    let shared: usize = pairs().filter(same).map(|(file, _)| weight(file)).sum();
    // Both are far below 2^32: a file has at most some megabytes.
    let score = f64::from(u32::try_from(shared).unwrap_or(u32::MAX))
        / f64::from(u32::try_from(all.max(1)).unwrap_or(u32::MAX));
    Some(NearestPlace { line: start + 1, text: shown(lines), first_difference, score })
}

/// The first lines, as far as they are shown.
fn shown(lines: &[&str]) -> Vec<String> {
    let mut left = SHOWN_BYTES;
    let mut text = Vec::new();
    for line in lines {
        let end = (0..=left.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        text.push(line[..end].to_owned());
        left -= end;
        if left == 0 || end < line.len() {
            break;
        }
    }
    text
}

/// The start where most of the hunk's text agrees.
fn by_equal_lines(view: &LineIndex<'_>, hunk: &Hunk) -> Option<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (i, line) in hunk.before.iter().enumerate().take(LINES).filter(|(_, line)| !is_blank(line)) {
        let places = view.content_places(line);
        for start in places.iter().take(COMMON).filter_map(|place| place.checked_sub(i)) {
            *votes.entry(start).or_default() += line.trim().len();
        }
    }
    let (start, _) = votes.into_iter().max_by_key(|(start, weight)| (*weight, std::cmp::Reverse(*start)))?;
    Some(start)
}

/// The line that shares most words with the longest line of the hunk.
fn by_words(view: &LineIndex<'_>, hunk: &Hunk) -> Option<usize> {
    let (i, wanted) = hunk.before.iter().enumerate().take(LINES).max_by_key(|(_, line)| line.trim().len())?;
    let wanted = words(wanted);
    let share = |line: &str| {
        let own = words(line);
        let common = own.iter().filter(|word| wanted.contains(word)).count();
        f64::from(u32::try_from(common).unwrap_or(0))
            / f64::from(u32::try_from(own.len().max(wanted.len()).max(1)).unwrap_or(1))
    };
    let scored = view.lines().iter().enumerate().map(|(at, line)| (share(line), at));
    let (score, at) = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (score >= SHARED).then(|| at.saturating_sub(i))
}

/// The first few words of a line.
fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).take(24).collect()
}
