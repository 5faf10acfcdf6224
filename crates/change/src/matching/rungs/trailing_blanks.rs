//! Blanks at the ends of lines differ.

use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::line_index::MatchLevel;
use crate::matching::normalize::is_blank;
use crate::proposal::Hunk;

pub(super) struct TrailingBlanksRung;

impl Rung for TrailingBlanksRung {
    fn name(&self) -> &'static str {
        "trailing blanks"
    }

    fn description(&self) -> &'static str {
        "Blanks at the ends of lines; lines that stay keep theirs."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let count = query.hunk.before.len();
        query
            .find(&query.hunk.before, MatchLevel::TrailingBlanks)
            .into_iter()
            .map(|start| HunkFit::consecutive(start, count))
            .collect()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let file = &query.view.lines()[fit.start..fit.end];
        let added_on_the_way =
            |(line, file): (&String, &&str)| is_blank(line) || (ends_in_blank(line) && !ends_in_blank(file));
        let spoilt = query.hunk.before.iter().zip(file).all(added_on_the_way);
        if !spoilt || query.hunk.after.iter().all(|line| ends_in_blank(line)) {
            return Ok(splice(query.view, query.hunk, fit, &query.hunk.after));
        }
        // Blanks after every old line and not after the new ones are noise: they say nothing about which
        // lines stay.
        let before = file.iter().map(ToString::to_string).collect();
        let seen = Hunk { before, ..query.hunk.clone() };
        Ok(splice(query.view, &seen, fit, &query.hunk.after))
    }
}

fn ends_in_blank(line: &str) -> bool {
    line.ends_with(char::is_whitespace)
}
