//! The author indents with blanks and the file with tabs, or the other way round, or by another
//! number of blanks.

use super::indent::{indentation_pairs, places_with_rule, reindented_edits};
use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::indentation::{IndentationRule, unit_rule};

/// Forgives another unit of indentation.
pub(super) struct TabUnitRung;

impl Rung for TabUnitRung {
    fn name(&self) -> &'static str {
        "tab unit"
    }

    fn description(&self) -> &'static str {
        "Tabs for blanks, blanks for tabs, or another width; new lines are written in the file's unit."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        places_with_rule(ask, rule)
    }

    fn edits(&self, ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(ask, fit, rule(ask, fit))
    }
}

pub(super) fn rule(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let author: Vec<&str> = ask.hunk.before.iter().chain(&ask.hunk.after).map(String::as_str).collect();
    unit_rule(&indentation_pairs(ask, fit), &author)
}
