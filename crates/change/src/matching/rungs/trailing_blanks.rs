//! Blanks at the ends of lines differ.

use super::{Ask, Rung};
use crate::matching::fit::Fit;
use crate::matching::view::Level;

/// Forgives blanks at the ends of lines.
pub(super) struct TrailingBlanks;

impl Rung for TrailingBlanks {
    fn name(&self) -> &'static str {
        "trailing blanks"
    }

    fn about(&self) -> &'static str {
        "Blanks at the ends of lines; lines that stay keep theirs."
    }

    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit> {
        let count = ask.hunk.before.len();
        ask.view
            .find(&ask.hunk.before, Level::TrailingBlanks)
            .into_iter()
            .map(|start| Fit::straight(start, count))
            .collect()
    }
}
