//! The author indents with blanks and the file with tabs, or the other way round, or by a different number
//! of blanks.

use super::indent::{indentation_pairs, places_with_rule, reindented_edits};
use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::indentation::{IndentationRule, unit_rule};

pub(super) struct TabUnitRung;

impl Rung for TabUnitRung {
    fn name(&self) -> &'static str {
        "tab unit"
    }

    fn description(&self) -> &'static str {
        "Tabs for blanks, blanks for tabs, or another width; new lines are written in the file's unit."
    }

    fn needs_much_text(&self) -> bool {
        true
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        places_with_rule(query, rule)
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(query, fit, rule(query, fit))
    }
}

pub(super) fn rule(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let author: Vec<&str> = query.hunk.before.iter().chain(&query.hunk.after).map(String::as_str).collect();
    unit_rule(&indentation_pairs(query, fit), &author)
}
