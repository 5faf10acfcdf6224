//! The author indents with blanks and the file with tabs, or the other way round, or by another
//! number of blanks.

use super::indent::{filtered_places, pairs, reindented};
use super::{Ask, Rung};
use crate::matching::fit::{Fit, LineEdit};
use crate::matching::indentation::{Indentation, other_unit};

/// Forgives another unit of indentation.
pub(super) struct TabUnit;

impl Rung for TabUnit {
    fn name(&self) -> &'static str {
        "tab unit"
    }

    fn about(&self) -> &'static str {
        "Tabs for blanks, blanks for tabs, or another width; new lines are written in the file's unit."
    }

    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit> {
        filtered_places(ask, rule)
    }

    fn edits(&self, ask: &Ask<'_, '_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
        reindented(ask, fit, rule(ask, fit))
    }
}

pub(super) fn rule(ask: &Ask<'_, '_>, fit: &Fit) -> Option<Indentation> {
    let author: Vec<&str> = ask.hunk.before.iter().chain(&ask.hunk.after).map(String::as_str).collect();
    other_unit(&pairs(ask, fit), &author)
}
