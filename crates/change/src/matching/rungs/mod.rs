//! The ladder: ways in which a hunk can fit a file, the strictest first. One file per rung, one
//! trait, one list. The first rung that finds any place decides, and *all* its places count: more
//! than one is for [`super::settle`] or a refusal, never for a weaker rung.

mod blank_lines;
mod elision;
mod escapes;
mod exact;
mod indent;
mod line_endings;
mod near;
mod outer_context;
mod punctuation;
mod tab_unit;
mod three_way;
mod trailing_blanks;

use super::fit::{Fit, LineEdit, splice};
use super::view::View;
use crate::proposal::Hunk;

/// What a rung is asked: where does this hunk fit in this file?
pub struct Ask<'a, 'f> {
    /// The file.
    pub view: &'a View<'f>,
    /// The hunk. `before` is not empty.
    pub hunk: &'a Hunk,
    /// Texts of the file that the author is known to have seen.
    pub seen: &'a [String],
}

/// One step of the ladder.
pub trait Rung: Sync {
    /// The name that reports show.
    fn name(&self) -> &'static str;

    /// One sentence for the documentation: what this rung forgives.
    fn about(&self) -> &'static str;

    /// Every place where the hunk fits on this rung.
    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit>;

    /// What putting the hunk at `fit` (one of [`Rung::places`]) changes.
    ///
    /// # Errors
    /// A sentence that says why the new text cannot be carried over to this place.
    fn edits(&self, ask: &Ask<'_, '_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
        Ok(splice(ask.view, ask.hunk, fit, &ask.hunk.after))
    }
}

/// Rungs on which the author's text is the file's text but for layout.
pub fn strict() -> &'static [&'static dyn Rung] {
    &[
        &exact::Exact,
        &line_endings::LineEndings,
        &trailing_blanks::TrailingBlanks,
        &punctuation::Punctuation,
        &indent::Indent,
        &tab_unit::TabUnit,
    ]
}

/// The strict rungs on which not even layout is forgiven.
pub(super) fn to_the_letter() -> &'static [&'static dyn Rung] {
    &[&exact::Exact, &line_endings::LineEndings]
}

/// Rungs that are tried only when the result of the hunk is not already in the file.
pub fn loose() -> &'static [&'static dyn Rung] {
    &[
        &blank_lines::BlankLines,
        &escapes::Escapes,
        &elision::Elision,
        &three_way::ThreeWay,
        &outer_context::OuterContext,
        &near::Near,
    ]
}

/// The whole ladder, for documentation and tests.
pub fn all() -> Vec<&'static dyn Rung> {
    strict().iter().chain(loose()).copied().collect()
}

/// The places on the first of `rungs` that has any.
pub fn first_places(rungs: &[&'static dyn Rung], ask: &Ask<'_, '_>) -> Option<(&'static dyn Rung, Vec<Fit>)> {
    rungs.iter().find_map(|rung| {
        let places = rung.places(ask);
        (!places.is_empty()).then_some((*rung, places))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rung_has_its_own_name_and_says_what_it_forgives() {
        let mut names = HashSet::new();
        for rung in all() {
            assert!(names.insert(rung.name()), "{} twice", rung.name());
            assert!(rung.about().ends_with('.'), "{}", rung.name());
        }
    }
}
