//! The outermost context lines of a diff are wrong: the model quotes `}` for `};`, or a line that is
//! elsewhere. What is left must say enough and stand exactly once. Always shown and asked about.

use super::{MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::normalize::is_blank;
use crate::plan::HunkDifference;
use crate::proposal::Hunk;

/// Forgives wrong context lines at the ends of a hunk.
pub(super) struct OuterContextRung;

/// At most so many context lines are left out at either end.
const DROPPED: usize = 2;
/// What is left must have at least so many lines that are not blank …
const LINES: usize = 3;
/// … and so many characters on them.
const CHARACTERS: usize = 40;

impl Rung for OuterContextRung {
    fn name(&self) -> &'static str {
        "outer context"
    }

    fn description(&self) -> &'static str {
        "Up to two wrong context lines at either end of a diff's hunk; always shown and asked about."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let Some((head, inner, mut places)) = inner_places(ask) else {
            return Vec::new();
        };
        for place in &mut places {
            place.differences = differences(ask, head, &inner, place);
            place.score = 0.9;
        }
        places
    }

    fn edits(&self, ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let (_, inner, _) = inner_places(ask).ok_or("the context does not fit")?;
        let ask = MatchQuery { hunk: &inner, ..*ask };
        let (rung, _) = first_matching_rung(strict_rungs(), &ask).ok_or("the context does not fit")?;
        rung.edits(&ask, fit)
    }
}

/// The hunk with as few context lines left out as make it fit: how many at the head, what is left,
/// and where it fits.
fn inner_places(ask: &MatchQuery<'_, '_>) -> Option<(usize, Hunk, Vec<HunkFit>)> {
    let kept = ask.hunk.kept.as_ref()?;
    let count = ask.hunk.before.len();
    let head = kept.iter().enumerate().take_while(|(k, pair)| **pair == (*k, *k)).count();
    let (last, last_after) = (count.checked_sub(1)?, ask.hunk.after.len().checked_sub(1)?);
    let tail =
        kept.iter().rev().enumerate().take_while(|(k, (i, j))| i + k == last && j + k == last_after).count();
    let mut ways: Vec<(usize, usize)> = (0..=head.min(DROPPED))
        .flat_map(|h| (0..=tail.min(DROPPED)).map(move |t| (h, t)))
        .filter(|way| *way != (0, 0))
        .collect();
    ways.sort_by_key(|(h, t)| h + t);
    ways.into_iter().find_map(|(h, t)| {
        let inner = without_ends(ask.hunk, h, t).filter(says_enough)?;
        let (_, places) = first_matching_rung(strict_rungs(), &MatchQuery { hunk: &inner, ..*ask })?;
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
fn differences(ask: &MatchQuery<'_, '_>, head: usize, inner: &Hunk, place: &HunkFit) -> Vec<HunkDifference> {
    let file = |line: Option<usize>| {
        line.and_then(|line| ask.view.lines().get(line)).map_or(String::new(), ToString::to_string)
    };
    let before = &ask.hunk.before;
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
