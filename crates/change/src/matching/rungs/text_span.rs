//! The characters of a tool call are as written, also where they begin or end inside of a line.

use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, leave_equal_ends};
use crate::matching::line_index::LineIndex;
use crate::plan::{HunkDoubt, PLACES_LISTED};
use crate::proposal::TextSpan;

pub(crate) struct TextSpanRung;

/// A step finds so many bytes of text.
const FOUND_BYTES: usize = 8;
/// For each occurrence that is found, and that is replaced.
const FOUND_STEPS: usize = 10;
const REPLACED_STEPS: usize = 100;
/// What is kept about each line that is replaced, beside its text.
const EDIT_BYTES: usize = 60;

/// Replacing every occurrence may write at most this many bytes.
const WRITTEN_BYTES: usize = 16 * 1024 * 1024;

impl Rung for TextSpanRung {
    fn name(&self) -> &'static str {
        "exact text"
    }

    fn description(&self) -> &'static str {
        "Nothing: the text of a tool call is as written; it may begin and end inside of a line."
    }

    /// Of an ambiguous text only the first places; all occurrences that are to be replaced are one place.
    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let Some(span) = &query.hunk.span else { return Vec::new() };
        let found = occurrences(query, span);
        let fit = |first: usize, last: usize| {
            let start = line_of(query.view, first);
            let end = (line_of(query.view, last + span.old.len()) + 1).min(query.view.len());
            HunkFit::consecutive(start, end - start)
        };
        match (found.first(), found.last()) {
            (Some(first), Some(last)) if span.every => Vec::from([fit(*first, *last)]),
            _ => found.iter().map(|at| fit(*at, *at)).collect(),
        }
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, _fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let Some(span) = &query.hunk.span else { return Ok(Vec::new()) };
        let found = occurrences(query, span);
        if found.len().saturating_mul(span.new.len()) > WRITTEN_BYTES {
            return Err(format!("replacing every occurrence would write more than {WRITTEN_BYTES} bytes"));
        }
        let kept = found.len() * (EDIT_BYTES + span.new.len());
        // One that is spent makes the plan refused.
        if !query.draw(found.len() * REPLACED_STEPS) || !query.view.budget().keep(kept) {
            return Ok(Vec::new());
        }
        let mut edits = line_edits(query.view, span, &found);
        edits.retain_mut(|edit| leave_equal_ends(query.view, edit));
        Ok(edits)
    }
}

/// Where the old text begins: everywhere it is to be replaced, or, overlapping ones included, as often as is worth
/// telling. None if the budget is spent.
fn occurrences(query: &MatchQuery<'_, '_>, span: &TextSpan) -> Vec<usize> {
    let text = query.view.text().0.as_bytes();
    let finder = memchr::memmem::Finder::new(&span.old);
    if span.old.is_empty() || !query.draw(text.len() / FOUND_BYTES) {
        return Vec::new();
    }
    if span.every {
        return finder.find_iter(text).take_while(|_| query.draw(FOUND_STEPS)).collect();
    }
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() <= PLACES_LISTED
        && let Some(at) = finder.find(&text[from..])
    {
        found.push(from + at);
        from += at + 1;
    }
    found
}

/// How often the old text stands there.
pub(crate) fn count(view: &LineIndex<'_>, span: &TextSpan) -> usize {
    memchr::memmem::find_iter(view.text().0.as_bytes(), &span.old).count()
}

/// Whether an occurrence of the old text is already part of the new text.
pub(crate) fn has_result(view: &LineIndex<'_>, span: &TextSpan) -> bool {
    let TextSpan { old, new, .. } = span;
    !old.is_empty()
        && old != new
        && memchr::memmem::find(new.as_bytes(), old.as_bytes()).is_some()
        && memchr::memmem::find(view.text().0.as_bytes(), new.as_bytes()).is_some()
}

/// What is uncertain about the only occurrence of a text, which begins on line `line`.
pub(crate) fn occurrence_doubt(view: &LineIndex<'_>, span: &TextSpan, line: usize) -> Option<HunkDoubt> {
    let TextSpan { old, new, every } = span;
    let (text, starts) = view.text();
    let there = &text[starts[line]..];
    let at = there.find(old).filter(|_| !every)?;
    let (head, tail) = (&there[..at], &there[at + old.len()..]);
    // A text that begins with its indentation is not meant to begin inside of a deeper one.
    if old.starts_with([' ', '\t']) && !head.is_empty() && head.trim().is_empty() {
        return Some(HunkDoubt::OtherDepth);
    }
    // An edit that takes a blank line away fits the end of the line above when it is sent again.
    let joins_above = old.starts_with('\n') && !new.starts_with('\n') && !head.is_empty();
    let ends_line = tail.is_empty() || tail.starts_with('\n');
    let joins_below = old.ends_with('\n') && !new.ends_with('\n') && !ends_line;
    (!new.is_empty() && (joins_above || joins_below)).then_some(HunkDoubt::JoinsLines)
}

/// The line (from 0) of an offset; the text's end is one past the last.
fn line_of(view: &LineIndex<'_>, offset: usize) -> usize {
    view.text().1.partition_point(|start| *start <= offset) - 1
}

/// The lines around each occurrence, with the new text in them.
fn line_edits(view: &LineIndex<'_>, span: &TextSpan, found: &[usize]) -> Vec<LineEdit> {
    let (text, starts) = view.text();
    let mut edits = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let first = line_of(view, found[at]);
        let mut cursor = starts[first];
        let mut region = String::new();
        let mut last;
        // Further occurrences on the same lines belong to the same edit.
        loop {
            region.push_str(&text[cursor..found[at]]);
            region.push_str(&span.new);
            cursor = found[at] + span.old.len();
            last = line_of(view, cursor);
            at += 1;
            if found.get(at).is_none_or(|next| line_of(view, *next) > last) {
                break;
            }
        }
        let end = (last + 1).min(view.len());
        region.push_str(&text[cursor..starts[end].max(cursor)]);
        let lines = region.strip_suffix('\n').unwrap_or(&region);
        // Without room for more: there may be as many as the file has lines.
        let mut new = Vec::with_capacity(memchr::memchr_iter(b'\n', lines.as_bytes()).count() + 1);
        if !region.is_empty() {
            new.extend(lines.split('\n').map(str::to_owned));
        }
        edits.push(LineEdit { range: first..end, new });
    }
    edits
}
