//! Blocks inside `>` quotes, as mail and chat programs write them: read as if they were not quoted, if all of
//! a block is. What only begins inside a quote stays as it is, and is found by [`super::stray`].

use std::borrow::Cow;
use std::ops::Range;

use super::block_reader::BlockOutcome;
use super::block_walker::BlockWalker;
use super::lines::ResponseLines;
use super::marker_events::MarkerEvents;
use super::segments::{SegmentDefect, SegmentIter};
use crate::proposal::limits::PlanLimits;

/// Deepest quoting that is undone.
pub(super) const QUOTE_DEPTH: usize = 4;

/// The line without one `>` and one blank after it.
pub(super) fn without_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The text with quoted blocks unquoted; it keeps its number of lines.
pub(super) fn unquote<'a>(text: Cow<'a, str>, limits: &PlanLimits) -> Cow<'a, str> {
    let is_quoted = |line: &str| without_mark(line).is_some();
    if !text.contains('>') || !text.lines().any(is_quoted) {
        return text;
    }
    let lines = ResponseLines::new(&text);
    let mut clean = String::new();
    let mut copied = 0;
    for run in quoted_runs(&lines) {
        let Some(unquoted) = unquoted_run(&lines, run.clone(), limits) else { continue };
        clean.push_str(lines.slice(copied..run.start));
        clean.push_str(&unquoted);
        copied = run.end;
    }
    if copied == 0 {
        return text;
    }
    clean.push_str(lines.slice(copied..lines.end()));
    Cow::Owned(clean)
}

/// The runs of quoted lines outside of every block.
fn quoted_runs(lines: &ResponseLines<'_>) -> Vec<Range<usize>> {
    let events = MarkerEvents::new(lines);
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = lines.first();
    let blocks = SegmentIter::new(lines, &events).map(|segment| segment.range);
    for block in blocks.chain(std::iter::once(lines.end()..lines.end())) {
        for line in at..block.start {
            if without_mark(lines.get(line)).is_none() {
                continue;
            }
            match runs.last_mut().filter(|run| run.end == line) {
                Some(run) => run.end += 1,
                None => runs.push(line..line + 1),
            }
        }
        at = block.end;
    }
    runs
}

/// The text of a run without its marks, if it holds a change and every block of it ends in it.
fn unquoted_run(lines: &ResponseLines<'_>, run: Range<usize>, limits: &PlanLimits) -> Option<String> {
    let mut rows: Vec<&str> = run.clone().map(|line| lines.get(line)).collect();
    for depth in 0..QUOTE_DEPTH {
        let inner: Option<Vec<&str>> = rows.iter().map(|row| without_mark(row)).collect();
        match inner {
            Some(inner) => rows = inner,
            None if depth == 0 => return None,
            None => break,
        }
    }
    let mut text = rows.join("\n");
    if lines.slice(run.clone()).ends_with('\n') {
        text.push('\n');
    }
    let part = ResponseLines::from_line(&text, run.start);
    let events = MarkerEvents::new(&part);
    let mut blocks = BlockWalker::new(&part, &events, limits);
    let mut changes = false;
    while let Ok(Some(block)) = blocks.next_block(false) {
        if !matches!(block.segment.defect, None | Some(SegmentDefect::Nested | SegmentDefect::UncertainEnd)) {
            return None;
        }
        changes |= !matches!(block.outcome, BlockOutcome::Example(_));
    }
    changes.then_some(text)
}
