//! Blank lines are missing or too many.

use super::indent::{self, reindented_edits};
use super::tab_unit;
use super::{MatchQuery, Rung};
use crate::matching::fit::{FitPairs, HunkFit, LineEdit};
use crate::matching::indentation::IndentationRule;
use crate::matching::normalize::is_blank;
use crate::proposal::Hunk;

pub(super) struct BlankLinesRung;

/// For each line of a window that is laid beside the hunk.
pub(super) const WINDOW_STEPS: usize = 16;

impl Rung for BlankLinesRung {
    fn name(&self) -> &'static str {
        "blank lines"
    }

    fn description(&self) -> &'static str {
        "Blank lines that are missing or too many; the file's own stay where the author changes nothing around them."
    }

    fn needs_much_text(&self) -> bool {
        true
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let solid: Vec<&str> =
            query.hunk.before.iter().map(String::as_str).filter(|line| !is_blank(line)).collect();
        let found = query.view.find_solid(&solid);
        if !query.draw(found.len() * query.hunk.before.len() * WINDOW_STEPS) {
            return Vec::new();
        }
        let found = found.into_iter();
        found.map(|lines| fit_solid_lines(query, &lines)).filter(|fit| rule(query, fit).is_some()).collect()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let (hunk, fit) = without_lost_ends(query.hunk, fit);
        let query = MatchQuery { hunk: &hunk, ..*query };
        reindented_edits(&query, &fit, rule(&query, &fit))
    }
}

/// Without the blank lines at the ends that the file does not have: they are the frame of the text, of the old one
/// and of the new one where it has them too.
fn without_lost_ends(hunk: &Hunk, fit: &HunkFit) -> (Hunk, HunkFit) {
    let lost = |i: &usize| fit.file_line(*i).is_none() && is_blank(&hunk.before[*i]);
    let count = hunk.before.len();
    let head = (0..count).take_while(lost).count();
    let tail = (head..count).rev().take_while(lost).count();
    // The new text keeps as many blank lines at its ends as the old one has in the file.
    let blanks = |lines: &mut dyn Iterator<Item = &String>| lines.take_while(|line| is_blank(line)).count();
    let spare = |old: usize, new: usize, lost: usize| new.saturating_sub(old - lost).min(lost);
    let after_head = spare(blanks(&mut hunk.before.iter()), blanks(&mut hunk.after.iter()), head);
    let after = &hunk.after[after_head..];
    let after_tail = spare(blanks(&mut hunk.before.iter().rev()), blanks(&mut after.iter().rev()), tail);
    let before = hunk.before[head..count - tail].to_vec();
    let after = after[..after.len() - after_tail].to_vec();
    let inside = |(i, j): &(usize, usize)| {
        let pair = (i.checked_sub(head)?, j.checked_sub(after_head)?);
        (pair.0 < before.len() && pair.1 < after.len()).then_some(pair)
    };
    let kept = hunk.kept.as_ref().map(|kept| kept.iter().filter_map(inside).collect());
    let pairs = FitPairs::Listed((head..count - tail).map(|i| fit.file_line(i)).collect());
    (Hunk { before, after, kept, ..hunk.clone() }, HunkFit { pairs, ..fit.clone() })
}

fn rule(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    indent::rule(query, fit).or_else(|| tab_unit::rule(query, fit))
}

/// The fit whose non-blank lines are `solid`: the blank lines between two of them are paired one by one as
/// long as both sides have some, and those at either end where the file has them.
pub(super) fn fit_solid_lines(query: &MatchQuery<'_, '_>, solid: &[usize]) -> HunkFit {
    let lines = query.view.lines();
    let before = &query.hunk.before;
    let mut pairs = vec![None; before.len()];
    let numbers: Vec<usize> = (0..before.len()).filter(|i| !is_blank(&before[*i])).collect();
    for (i, line) in numbers.iter().zip(solid) {
        pairs[*i] = Some(*line);
    }
    let blank_at = |line: usize| lines.get(line).is_some_and(|text| is_blank(text));
    for i in 0..before.len() {
        let above = if i == 0 { None } else { pairs[i - 1] };
        if pairs[i].is_none()
            && let Some(line) = above
            && blank_at(line + 1)
        {
            pairs[i] = Some(line + 1);
        }
    }
    // Blank lines in front of the first solid one, from the bottom up.
    for i in (0..numbers.first().copied().unwrap_or(0)).rev() {
        if let Some(line) = pairs[i + 1].and_then(|line: usize| line.checked_sub(1))
            && blank_at(line)
        {
            pairs[i] = Some(line);
        }
    }
    let paired = || pairs.iter().flatten().copied();
    let (start, end) = (paired().min().unwrap_or(0), paired().max().map_or(0, |line| line + 1));
    HunkFit { start, end, pairs: FitPairs::Listed(pairs), differences: Vec::new(), score: 1.0 }
}
