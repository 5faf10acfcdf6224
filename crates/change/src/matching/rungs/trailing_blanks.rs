//! Blanks at the ends of lines differ.

use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::line_index::MatchLevel;
use crate::matching::normalize::is_blank;
use crate::proposal::Hunk;

/// Forgives blanks at the ends of lines.
pub(super) struct TrailingBlanksRung;

impl Rung for TrailingBlanksRung {
    fn name(&self) -> &'static str {
        "trailing blanks"
    }

    fn description(&self) -> &'static str {
        "Blanks at the ends of lines; lines that stay keep theirs."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let count = ask.hunk.before.len();
        ask.view
            .find(&ask.hunk.before, MatchLevel::TrailingBlanks)
            .into_iter()
            .map(|start| HunkFit::consecutive(start, count))
            .collect()
    }

    fn edits(&self, ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let file = &ask.view.lines()[fit.start..fit.end];
        let added_on_the_way =
            |(line, file): (&String, &&str)| is_blank(line) || (ends_in_blank(line) && !ends_in_blank(file));
        let spoilt = ask.hunk.before.iter().zip(file).all(added_on_the_way);
        if !spoilt || ask.hunk.after.iter().all(|line| ends_in_blank(line)) {
            return Ok(splice(ask.view, ask.hunk, fit, &ask.hunk.after));
        }
        // Blanks behind every old line and not behind the new ones are noise: they say nothing about
        // which lines stay.
        let before = file.iter().map(ToString::to_string).collect();
        let seen = Hunk { before, ..ask.hunk.clone() };
        Ok(splice(ask.view, &seen, fit, &ask.hunk.after))
    }
}

fn ends_in_blank(line: &str) -> bool {
    line.ends_with(char::is_whitespace)
}
