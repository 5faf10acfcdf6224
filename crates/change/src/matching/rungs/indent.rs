//! The whole block is indented deeper or less deep than in the file, by one fixed prefix; or the
//! first line alone lost its indentation; or the context lines of a diff lack the marker's column.

use super::punctuation::plain_after;
use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::indentation::{IndentationPair, IndentationRule, uniform_rule};
use crate::matching::line_index::MatchLevel;
use crate::matching::normalize;

pub(super) struct IndentRung;

impl Rung for IndentRung {
    fn name(&self) -> &'static str {
        "indent"
    }

    fn description(&self) -> &'static str {
        "A uniform shift of the whole block; new lines are shifted with it."
    }

    fn needs_much_text(&self) -> bool {
        true
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        places_with_rule(query, rule)
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        reindented_edits(query, fit, rule(query, fit))
    }
}

/// For each line of a place on which a rule is tried.
const RULE_STEPS: usize = 16;

/// With more places no rule is tried on each of them; they are all the same doubt.
const PLACES: usize = 200;

/// Every place where the contents of the lines agree and there is a rule for the indentation. A hunk of
/// only blank lines has none.
pub(super) fn places_with_rule(
    query: &MatchQuery<'_, '_>,
    rule: impl Fn(&MatchQuery<'_, '_>, &HunkFit) -> Option<IndentationRule>,
) -> Vec<HunkFit> {
    if query.hunk.before.iter().all(|line| normalize::is_blank(line)) {
        return Vec::new();
    }
    let count = query.hunk.before.len();
    let starts = query.find(&query.hunk.before, MatchLevel::Content);
    let tried = starts.len() <= PLACES;
    if tried && !query.draw(starts.len() * (count + query.hunk.after.len()) * RULE_STEPS) {
        return Vec::new();
    }
    let fits = starts.into_iter().map(|start| HunkFit::consecutive(start, count));
    fits.filter(|fit| !tried || rule(query, fit).is_some()).collect()
}

/// The matched lines, as the author sees them and as the file has them.
pub(super) fn indentation_pairs<'a>(query: &MatchQuery<'a, '_>, fit: &HunkFit) -> Vec<IndentationPair<'a>> {
    let before = query.hunk.before.iter().enumerate();
    before.filter_map(|(i, line)| Some((line.as_str(), query.view.lines()[fit.file_line(i)?]))).collect()
}

pub(super) fn rule(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let uniform = || uniform_rule(&indentation_pairs(query, fit));
    let only_context = query.hunk.kept.as_ref().is_some_and(|kept| kept.len() == query.hunk.before.len());
    // Context alone that lacks one blank looks like a shift, but then the added lines have all of theirs.
    if only_context {
        return marker_column(query, fit).or_else(uniform);
    }
    uniform().or_else(|| marker_column(query, fit))
}

/// A diff whose context lines were written without the blank that marks them: reading them removed a blank
/// of their indentation.
fn marker_column(query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Option<IndentationRule> {
    let kept = query.hunk.kept.as_ref()?;
    let mut context = vec![false; query.hunk.before.len()];
    for (before, _) in kept {
        context[*before] = true;
    }
    let rule = IndentationRule::MarkerColumn;
    let fits = query.hunk.before.iter().enumerate().all(|(i, line)| {
        let Some(file) = fit.file_line(i).map(|line| query.view.lines()[line]) else {
            return false;
        };
        normalize::is_blank(line)
            || rule
                .translate(line, false, context[i])
                .is_some_and(|line| MatchLevel::Punctuation.lines_equal(&line, file))
    });
    fits.then_some(rule)
}

/// With the new text translated by `rule`.
pub(super) fn reindented_edits(
    query: &MatchQuery<'_, '_>,
    fit: &HunkFit,
    rule: Option<IndentationRule>,
) -> Result<Vec<LineEdit>, String> {
    let refusal =
        "the new text cannot be indented the way the file is; send it with the file's own indentation";
    let rule = rule.ok_or(refusal)?;
    let mut context = vec![false; query.hunk.after.len()];
    for (_, after) in query.hunk.kept.iter().flatten() {
        context[*after] = true;
    }
    let after: Option<Vec<String>> = plain_after(query, fit)
        .iter()
        .enumerate()
        .map(|(j, line)| rule.translate(line, j == 0, context[j]))
        .collect();
    Ok(splice(query.view, query.hunk, fit, &after.ok_or(refusal)?))
}
