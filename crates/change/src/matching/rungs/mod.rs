//! The ladder: ways in which a hunk can fit a file, the strictest first. One file per rung, one trait, one
//! list. The first rung that finds any place decides, and *all* its places count: more than one is for
//! `disambiguate` or a refusal, never for a weaker rung.

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
pub(super) mod text_span;
mod three_way;
mod trailing_blanks;

use super::fit::{HunkFit, LineEdit, splice};
use super::line_index::{LineIndex, MatchLevel};
use crate::proposal::Hunk;

/// For each line of a hunk that is copied and changed before it is looked for.
const COPY_STEPS: usize = 20;

/// Where does this hunk fit in this file?
pub struct MatchQuery<'a, 'f> {
    pub view: &'a LineIndex<'f>,
    /// Its `before` is not empty.
    pub hunk: &'a Hunk,
    /// Texts of the file that the author is known to have seen.
    pub seen: &'a [String],
    /// How many lines the hunks above it add, less those that they remove.
    pub shift: isize,
}

impl MatchQuery<'_, '_> {
    /// The lines where `needle` begins, if there are too many the ones nearest to the line that the author named.
    fn find(&self, needle: &[String], level: MatchLevel) -> Vec<usize> {
        self.view.find(needle, level, self.hunk.claimed)
    }

    /// Whether so many more steps may be taken.
    pub(super) fn draw(&self, steps: usize) -> bool {
        self.view.budget().draw(steps)
    }
}

pub trait Rung: Sync {
    /// Shown in reports.
    fn name(&self) -> &'static str;

    /// One sentence for the documentation: what this rung forgives.
    fn description(&self) -> &'static str;

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit>;

    /// Whether it takes lines at another depth or with other lines between them for the author's: a short text
    /// then has such a place by chance, and somebody must look.
    fn needs_much_text(&self) -> bool {
        false
    }

    /// The effect of applying the hunk at `fit` (one of [`Rung::places`]).
    ///
    /// # Errors
    /// A sentence that says why the new text cannot be applied at this place.
    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        Ok(splice(query.view, query.hunk, fit, &query.hunk.after))
    }
}

/// The author's text is the file's text except for layout.
pub fn strict_rungs() -> &'static [&'static dyn Rung] {
    &[
        &text_span::TextSpanRung,
        &exact::ExactRung,
        &line_endings::LineEndingsRung,
        &trailing_blanks::TrailingBlanksRung,
        &punctuation::PunctuationRung,
        &indent::IndentRung,
        &tab_unit::TabUnitRung,
    ]
}

/// Not even layout is forgiven.
pub(super) fn exact_text_rungs() -> &'static [&'static dyn Rung] {
    &strict_rungs()[1..3]
}

/// Layout is forgiven, and nothing else.
pub(super) fn layout_rungs() -> &'static [&'static dyn Rung] {
    &strict_rungs()[3..]
}

/// Tried only if the result of the hunk is not already in the file.
pub fn loose_rungs() -> &'static [&'static dyn Rung] {
    &[
        &blank_lines::BlankLinesRung,
        &escapes::EscapesRung,
        &elision::ElisionRung,
        &three_way::ThreeWayRung,
        &outer_context::OuterContextRung,
        &near::NearRung,
    ]
}

/// The whole ladder, for documentation and tests.
pub fn all() -> Vec<&'static dyn Rung> {
    strict_rungs().iter().chain(loose_rungs()).copied().collect()
}

/// The places on the first of `rungs` that has any.
pub fn first_matching_rung(
    rungs: &[&'static dyn Rung],
    query: &MatchQuery<'_, '_>,
) -> Option<(&'static dyn Rung, Vec<HunkFit>)> {
    rungs.iter().find_map(|rung| {
        let places = rung.places(query);
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
            assert!(rung.description().ends_with('.'), "{}", rung.name());
        }
    }
}
