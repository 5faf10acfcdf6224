//! The author left out the middle: a line that is only `...` (perhaps as a comment) stands for lines of the
//! file. Each piece between such lines must stand exactly once, in order, and the new text must have the
//! same gaps; the lines in the gaps stay as they are.

use super::{COPY_STEPS, MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::normalize::is_blank;
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
        let Some(pieces) = query.draw(lines * COPY_STEPS).then(|| pieces(query.hunk)).flatten() else {
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
        for piece in pieces(query.hunk).unwrap_or_default() {
            let query = MatchQuery { hunk: &piece, ..*query };
            if let Some((rung, places)) = first_matching_rung(strict_rungs(), &query) {
                edits.extend(rung.edits(&query, &places[0])?);
            }
        }
        Ok(edits)
    }
}

/// The pieces between the gaps, old and new side by side. `None` if there is no gap, the sides have
/// different numbers of gaps, or an end is not anchored.
fn pieces(hunk: &Hunk) -> Option<Vec<Hunk>> {
    let before: Vec<&[String]> = hunk.before.split(|line| is_gap(line)).collect();
    let after: Vec<&[String]> = hunk.after.split(|line| is_gap(line)).collect();
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

/// Whether a line stands for lines that were left out: dots alone or as a comment, perhaps with a few words
/// such as "existing code".
fn is_gap(line: &str) -> bool {
    let text = line.trim();
    let text = ["//", "#", "--", "/*", "<!--", "{/*", ";", "%"]
        .iter()
        .find_map(|sign| text.strip_prefix(sign))
        .unwrap_or(text)
        .trim();
    let text = ["*/}", "*/", "-->"].iter().find_map(|sign| text.strip_suffix(sign)).unwrap_or(text).trim();
    let Some(rest) = text.strip_prefix("...").or_else(|| text.strip_prefix('\u{2026}')) else {
        return false;
    };
    let words = rest.trim_end_matches('.').trim_end_matches('\u{2026}').trim().to_lowercase();
    words.is_empty()
        || (words.len() <= 60
            && ["existing", "rest", "unchanged", "same", "other", "omitted"]
                .iter()
                .any(|word| words.contains(word)))
}
