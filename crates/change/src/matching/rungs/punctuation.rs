//! Quotes, dashes and blanks came through a chat window: `”` for `"`, `–` for `-`, no-break blanks.

use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::line_index::MatchLevel;
use crate::matching::normalize;

pub(super) struct PunctuationRung;

impl Rung for PunctuationRung {
    fn name(&self) -> &'static str {
        "punctuation"
    }

    fn description(&self) -> &'static str {
        "Typographic quotes, dashes and blanks, and composed characters; new lines are written with the plain ones where the file has them."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let count = query.hunk.before.len();
        query
            .find(&query.hunk.before, MatchLevel::Punctuation)
            .into_iter()
            .map(|start| HunkFit::consecutive(start, count))
            .collect()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        Ok(splice(query.view, query.hunk, fit, &plain_after(query, fit)))
    }
}

/// The new text without the typography that the author's *old* text has and the file has not.
pub(super) fn plain_after(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Vec<String> {
    let mut foreign: Vec<char> = Vec::new();
    for (i, line) in query.hunk.before.iter().enumerate() {
        let Some(file) = fit.file_line(i).map(|i| query.view.lines()[i]) else {
            continue;
        };
        // Looked for once each: a line may have a million of them.
        let mut looked_for = foreign.clone();
        for c in line.chars().filter(|c| normalize::plain_character(*c).is_some()) {
            if !looked_for.contains(&c) {
                looked_for.push(c);
                foreign.extend((!file.contains(c)).then_some(c));
            }
        }
    }
    if foreign.is_empty() {
        return query.hunk.after.clone();
    }
    query.hunk.after.iter().map(|line| normalize::replace_typography(line, &foreign)).collect()
}
