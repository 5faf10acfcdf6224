//! The outermost context lines of a diff are wrong: the model quotes `}` for `};`, or a line from
//! elsewhere. The rest must be distinctive and stand exactly once. Always shown and asked about.

use super::{COPY_STEPS, MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::normalize::is_blank;
use crate::plan::HunkDifference;
use crate::proposal::Hunk;

pub(super) struct OuterContextRung;

/// Most context lines left out at either end.
const DROPPED: usize = 2;
/// The rest must have at least this many non-blank lines …
const LINES: usize = 3;
const CHARACTERS: usize = 40;

impl Rung for OuterContextRung {
    fn name(&self) -> &'static str {
        "outer context"
    }

    fn description(&self) -> &'static str {
        "Up to two wrong context lines at either end of a diff's hunk; always shown and asked about."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let Some((head, inner, mut places)) = inner_places(query) else {
            return Vec::new();
        };
        for place in &mut places {
            place.differences = differences(query, head, &inner, place);
            place.score = 0.9;
        }
        places
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let (_, inner, _) = inner_places(query).ok_or("the context does not fit")?;
        let query = MatchQuery { hunk: &inner, ..*query };
        let (rung, _) = first_matching_rung(strict_rungs(), &query).ok_or("the context does not fit")?;
        rung.edits(&query, fit)
    }
}

/// The hunk with as few context lines left out as make it fit: how many at the head, the rest, and where it
/// fits.
fn inner_places(query: &MatchQuery<'_, '_>) -> Option<(usize, Hunk, Vec<HunkFit>)> {
    let kept = query.hunk.kept.as_ref()?;
    let count = query.hunk.before.len();
    let head = kept.iter().enumerate().take_while(|(k, pair)| **pair == (*k, *k)).count();
    let (last, last_after) = (count.checked_sub(1)?, query.hunk.after.len().checked_sub(1)?);
    let tail =
        kept.iter().rev().enumerate().take_while(|(k, (i, j))| i + k == last && j + k == last_after).count();
    let mut ways: Vec<(usize, usize)> = (0..=head.min(DROPPED))
        .flat_map(|h| (0..=tail.min(DROPPED)).map(move |t| (h, t)))
        .filter(|way| *way != (0, 0))
        .collect();
    ways.sort_by_key(|(h, t)| h + t);
    ways.into_iter().find_map(|(h, t)| {
        if !query.draw((count + query.hunk.after.len()) * COPY_STEPS) {
            return None;
        }
        let inner = without_ends(query.hunk, h, t).filter(says_enough)?;
        let (_, places) = first_matching_rung(strict_rungs(), &MatchQuery { hunk: &inner, ..*query })?;
        Some((h, inner, places))
    })
}

fn without_ends(hunk: &Hunk, head: usize, tail: usize) -> Option<Hunk> {
    let before = hunk.before.get(head..hunk.before.len().checked_sub(tail)?)?.to_vec();
    let after = hunk.after.get(head..hunk.after.len().checked_sub(tail)?)?.to_vec();
    let inside = |(i, j): &(usize, usize)| {
        let (i, j) = (i.checked_sub(head)?, j.checked_sub(head)?);
        (i < before.len() && j < after.len()).then_some((i, j))
    };
    let kept = hunk.kept.as_ref()?.iter().filter_map(inside).collect();
    let claimed = hunk.claimed.map(|line| line + head);
    Some(Hunk { before, after, kept: Some(kept), claimed, ..hunk.clone() })
}

fn says_enough(hunk: &Hunk) -> bool {
    let solid = || hunk.before.iter().filter(|line| !is_blank(line));
    solid().count() >= LINES && solid().map(|line| line.trim().len()).sum::<usize>() >= CHARACTERS
}

/// The lines that were left out, beside what the file has there.
fn differences(
    query: &MatchQuery<'_, '_>,
    head: usize,
    inner: &Hunk,
    place: &HunkFit,
) -> Vec<HunkDifference> {
    let file = |line: Option<usize>| {
        line.and_then(|line| query.view.lines().get(line)).map_or(String::new(), ToString::to_string)
    };
    let before = &query.hunk.before;
    let above = (0..head).map(|k| (place.start.checked_sub(head - k), &before[k]));
    let below =
        (head + inner.before.len()..before.len()).enumerate().map(|(k, i)| (Some(place.end + k), &before[i]));
    let all = above.chain(below).map(|(line, answer)| HunkDifference {
        line: line.unwrap_or(0) + 1,
        file: file(line),
        answer: answer.clone(),
    });
    all.filter(|difference| difference.file != difference.answer).collect()
}
