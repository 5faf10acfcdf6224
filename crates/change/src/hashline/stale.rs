//! What a model is told when an anchor does not hold: why, and what really stands there, with fresh anchors.

use std::collections::BTreeSet;

use super::anchor::{LineAnchor, format_line};
use super::shown::AnchorProblem;

/// Lines shown on each side of a place.
pub const STALE_CONTEXT: usize = 2;
/// Places of a report.
const MAX_PLACES: usize = 20;
/// Characters of a line in a report.
const MAX_CHARS: usize = 512;

/// The anchors of one file that do not hold.
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

impl StaleReport {
    pub(super) fn new(stale: &[StaleAnchor], now: &[&str]) -> StaleReport {
        let mut marked = BTreeSet::new();
        for StaleAnchor { anchor, text, .. } in stale.iter().take(MAX_PLACES) {
            marked.insert((anchor.line - 1).min(now.len().saturating_sub(1)));
            marked.extend(text.as_deref().and_then(|text| nearest_line(text, anchor.line - 1, now)));
        }
        let around =
            |line: &usize| line.saturating_sub(STALE_CONTEXT)..(line + STALE_CONTEXT + 1).min(now.len());
        let shown: BTreeSet<usize> = marked.iter().flat_map(around).collect();
        let mut text = headline(stale);
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

fn headline(stale: &[StaleAnchor]) -> String {
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
    said + " This is what stands there now; use these anchors, or read the file again:\n"
}

/// The line with this text that is nearest to `line` (from 0).
fn nearest_line(text: &str, line: usize, now: &[&str]) -> Option<usize> {
    let text = text.trim_end();
    let found = now.iter().enumerate().filter(|(_, other)| other.trim_end() == text && !text.is_empty());
    found.map(|(at, _)| at).min_by_key(|at| at.abs_diff(line))
}
