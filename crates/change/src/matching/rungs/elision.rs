//! The author left out the middle: a line that is only `...` (perhaps as a comment) stands for lines of the
//! file. Each piece between such lines must stand exactly once, in order, and the new text must have the
//! same gaps; the lines in the gaps stay as they are.

use super::{COPY_STEPS, MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::normalize::is_blank;
use crate::plan::findings::is_gap;
use crate::proposal::Hunk;

pub(super) struct ElisionRung;

impl Rung for ElisionRung {
    fn name(&self) -> &'static str {
        "elision"
    }

    fn description(&self) -> &'static str {
        "A middle left out as `...` in the old and the new text, if both ends stand exactly once."
    }

    fn needs_much_text(&self) -> bool {
        true
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let lines = query.hunk.before.len() + query.hunk.after.len();
        let Some(pieces) = query.draw(lines * COPY_STEPS).then(|| pieces(query)).flatten() else {
            return Vec::new();
        };
        let mut found: Vec<HunkFit> = Vec::new();
        for piece in &pieces {
            match first_matching_rung(strict_rungs(), &MatchQuery { hunk: piece, ..*query }) {
                Some((_, places))
                    if places.len() == 1 && found.last().is_none_or(|last| last.end <= places[0].start) =>
                {
                    found.extend(places);
                }
                _ => return Vec::new(),
            }
        }
        let (Some(first), Some(last)) = (found.first(), found.last()) else {
            return Vec::new();
        };
        vec![HunkFit { end: last.end, ..first.clone() }]
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, _fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let mut edits = Vec::new();
        for piece in pieces(query).unwrap_or_default() {
            let query = MatchQuery { hunk: &piece, ..*query };
            if let Some((rung, places)) = first_matching_rung(strict_rungs(), &query) {
                edits.extend(rung.edits(&query, &places[0])?);
            }
        }
        Ok(edits)
    }
}

/// The pieces between the gaps, old and new side by side. `None` if there is no gap, the sides have
/// different numbers of gaps, or an end is not anchored. A line that the file has is content.
fn pieces(query: &MatchQuery<'_, '_>) -> Option<Vec<Hunk>> {
    let hunk = query.hunk;
    let is_gap = |line: &String| is_gap(line) && query.view.content_places(line).is_empty();
    let before: Vec<&[String]> = hunk.before.split(is_gap).collect();
    let after: Vec<&[String]> = hunk.after.split(is_gap).collect();
    let anchored = |piece: &&[String]| piece.iter().any(|line| !is_blank(line));
    if before.len() < 2 || before.len() != after.len() || !before.iter().all(anchored) {
        return None;
    }
    let piece = |(before, after): (&[String], &[String])| Hunk {
        line: hunk.line,
        before: before.to_vec(),
        after: after.to_vec(),
        ..Hunk::default()
    };
    Some(before.into_iter().zip(after).map(piece).collect())
}
