//! What a model is told when an anchor does not hold, or when lines between two anchors were never shown: why, and what really
//! stands there, with fresh anchors.

use std::collections::BTreeSet;

use relaycode_text::plural::pluralize;

use super::anchor::{LineAnchor, format_line};
use super::shown::AnchorProblem;

/// Lines shown on each side of a place.
pub const STALE_CONTEXT: usize = 2;
/// Places of a report.
const MAX_PLACES: usize = 20;
/// Lines of a report that were never shown before. Of more the model reads the file.
const MAX_UNSEEN: usize = 100;
/// Characters of a line in a report.
const MAX_CHARS: usize = 512;

/// The anchors of one file that do not hold, and lines that no edit may replace unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleReport {
    /// For the model.
    pub text: String,
    /// The lines (from 0) that the text shows.
    pub shown: Vec<usize>,
}

/// One anchor that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StaleAnchor {
    pub anchor: LineAnchor,
    pub problem: AnchorProblem,
    /// What stood there when it was shown, if that is known.
    pub text: Option<String>,
}

/// Lines that an edit would replace although they were never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnseenLines {
    pub first: LineAnchor,
    pub last: LineAnchor,
    /// Of the present text, from 0.
    pub lines: Vec<usize>,
}

impl StaleReport {
    pub(super) fn new(stale: &[StaleAnchor], unseen: &[UnseenLines], now: &[&str]) -> StaleReport {
        let mut marked = BTreeSet::new();
        marked.extend(unseen.iter().flat_map(|unseen| &unseen.lines).take(MAX_UNSEEN));
        for StaleAnchor { anchor, text, .. } in stale.iter().take(MAX_PLACES) {
            marked.insert((anchor.line - 1).min(now.len().saturating_sub(1)));
            marked.extend(text.as_deref().and_then(|text| nearest_line(text, anchor.line - 1, now)));
        }
        let around =
            |line: &usize| line.saturating_sub(STALE_CONTEXT)..(line + STALE_CONTEXT + 1).min(now.len());
        let shown: BTreeSet<usize> = marked.iter().flat_map(around).collect();
        let mut text = headline(stale, unseen);
        let mut last = None;
        for line in &shown {
            if last.is_some_and(|last| last + 1 != *line) {
                text.push_str("...\n");
            }
            last = Some(*line);
            let sign = if marked.contains(line) { '*' } else { ' ' };
            let content: String = now[*line].chars().take(MAX_CHARS).collect();
            // The anchor is the whole line's, even where only its beginning is shown.
            let anchor = LineAnchor::of(line + 1, now[*line]);
            let shown = if content.len() == now[*line].len() {
                format_line(line + 1, &content)
            } else {
                format!("{anchor}|{content}…")
            };
            text.push_str(&format!("{sign}{shown}\n"));
        }
        StaleReport { text, shown: shown.into_iter().collect() }
    }
}

fn headline(stale: &[StaleAnchor], unseen: &[UnseenLines]) -> String {
    let listed = |problem: AnchorProblem| {
        let anchors = stale.iter().filter(|stale| stale.problem == problem).take(MAX_PLACES);
        anchors.map(|stale| stale.anchor.to_string()).collect::<Vec<_>>().join(", ")
    };
    let (changed, not_shown) = (listed(AnchorProblem::Changed), listed(AnchorProblem::NotShown));
    let mut said = String::from("Nothing was edited.");
    if !changed.is_empty() {
        said.push_str(&format!(
            " The file has changed since {changed} was shown, or the hash is not that line's."
        ));
    }
    if !not_shown.is_empty() {
        said.push_str(&format!(" No line was shown as {not_shown}."));
    }
    for UnseenLines { first, last, lines } in unseen.iter().take(MAX_PLACES) {
        let count = pluralize(lines.len(), "line");
        said.push_str(&format!(" Of {first}..{last} you were never shown {count}."));
    }
    said + " This is what stands there now; use these anchors, or read the file again:\n"
}

/// The line with this text that is nearest to `line` (from 0).
fn nearest_line(text: &str, line: usize, now: &[&str]) -> Option<usize> {
    let text = text.trim_end();
    let found = now.iter().enumerate().filter(|(_, other)| other.trim_end() == text && !text.is_empty());
    found.map(|(at, _)| at).min_by_key(|at| at.abs_diff(line))
}
