//! The whole block is indented deeper or less deep than in the file, by one fixed prefix; or the
//! first line alone lost its indentation; or the context lines of a diff lack the marker's column.

use super::punctuation::plain_after;
use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::indentation::{IndentationPair, IndentationRule, uniform_rule};
use crate::matching::line_index::MatchLevel;
use crate::matching::normalize;

/// Forgives a uniform shift.
pub(super) struct IndentRung;

impl Rung for IndentRung {
    fn name(&self) -> &'static str {
        "indent"
    }

    fn description(&self) -> &'static str {
        "A uniform shift of the whole block; new lines are shifted with it."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        places_with_rule(ask, rule)
    }

    fn edits(&self, ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(ask, fit, rule(ask, fit))
    }
}

/// Past so many places no rule is tried on each of them; they are all the same doubt.
const PLACES: usize = 200;

/// Every place where the contents of the lines agree and there is a rule for the indentation. A hunk
/// of blank lines alone has none.
pub(super) fn places_with_rule(
    ask: &MatchQuery<'_, '_>,
    rule: impl Fn(&MatchQuery<'_, '_>, &HunkFit) -> Option<IndentationRule>,
) -> Vec<HunkFit> {
    if ask.hunk.before.iter().all(|line| normalize::is_blank(line)) {
        return Vec::new();
    }
    let count = ask.hunk.before.len();
    let starts = ask.view.find(&ask.hunk.before, MatchLevel::Content);
    let tried = starts.len() <= PLACES;
    let fits = starts.into_iter().map(|start| HunkFit::consecutive(start, count));
    fits.filter(|fit| !tried || rule(ask, fit).is_some()).collect()
}

/// The lines that matched, as the author sees them and as the file has them.
pub(super) fn indentation_pairs<'a>(ask: &MatchQuery<'a, '_>, fit: &HunkFit) -> Vec<IndentationPair<'a>> {
    let before = ask.hunk.before.iter().enumerate();
    before.filter_map(|(i, line)| Some((line.as_str(), ask.view.lines()[fit.file_line(i)?]))).collect()
}

pub(super) fn rule(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    uniform_rule(&indentation_pairs(ask, fit)).or_else(|| marker_column(ask, fit))
}

/// A diff whose context lines were written without the blank that marks them: reading them took
/// away a blank of their indentation.
fn marker_column(ask: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let kept = ask.hunk.kept.as_ref()?;
    let mut context = vec![false; ask.hunk.before.len()];
    for (before, _) in kept {
        context[*before] = true;
    }
    let rule = IndentationRule::MarkerColumn;
    let fits = ask.hunk.before.iter().enumerate().all(|(i, line)| {
        let Some(file) = fit.file_line(i).map(|line| ask.view.lines()[line]) else {
            return false;
        };
        normalize::is_blank(line)
            || rule
                .translate(line, false, context[i])
                .is_some_and(|line| MatchLevel::Punctuation.lines_equal(&line, file))
    });
    fits.then_some(rule)
}

/// The edits with the new text translated by `rule`.
pub(super) fn reindented_edits(
    ask: &MatchQuery<'_, '_>,
    fit: &HunkFit,
    rule: Option<IndentationRule>,
) -> Result<Vec<LineEdit>, String> {
    let refusal =
        "the new text cannot be indented the way the file is; send it with the file's own indentation";
    let rule = rule.ok_or(refusal)?;
    let mut context = vec![false; ask.hunk.after.len()];
    for (_, after) in ask.hunk.kept.iter().flatten() {
        context[*after] = true;
    }
    let after: Option<Vec<String>> = plain_after(ask, fit)
        .iter()
        .enumerate()
        .map(|(j, line)| rule.translate(line, j == 0, context[j]))
        .collect();
    Ok(splice(ask.view, ask.hunk, fit, &after.ok_or(refusal)?))
}
