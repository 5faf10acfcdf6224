//! Blanks at the ends of lines differ.

use super::{Ask, Rung};
use crate::matching::fit::{Fit, LineEdit, splice};
use crate::matching::forms::is_blank;
use crate::matching::view::Level;
use crate::proposal::Hunk;

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

    fn edits(&self, ask: &Ask<'_, '_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
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
