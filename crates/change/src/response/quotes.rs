//! Blocks inside `>` quotes, as mail and chat programs write them: read as if they were not quoted, if all of a block is.
//! What only begins inside a quote stays as it is, and is found by [`super::stray`]. A quote that repeats a change of
//! the same text is what it looks like, a quotation: tools quote the edit that failed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::block_reader::BlockOutcome;
use super::block_walker::BlockWalker;
use super::lines::ResponseLines;
use super::marker_events::MarkerEvents;
use super::segments::{SegmentDefect, SegmentIter};
use crate::proposal::limits::PlanLimits;
use crate::proposal::{EditBody, FileAction, FileEdit};

/// Deepest quoting that is undone.
pub(super) const QUOTE_DEPTH: usize = 4;

/// The line without one `>`.
fn without_mark(line: &str) -> Option<&str> {
    line.trim_start_matches(' ').strip_prefix('>')
}

/// The lines without one `>` each, and without the blank after it if all of them have one: a program that puts none
/// there leaves the indentation of the lines as it is.
fn without_marks<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Vec<&'t str>> {
    let mut rows: Vec<&str> = lines.map(without_mark).collect::<Option<_>>()?;
    if rows.iter().all(|row| row.is_empty() || row.starts_with(' ')) {
        rows.iter_mut().for_each(|row| *row = row.strip_prefix(' ').unwrap_or(row));
    }
    Some(rows)
}

/// The text with quoted blocks unquoted; it keeps its number of lines.
pub(super) fn unquote<'a>(text: Cow<'a, str>, limits: &PlanLimits) -> Cow<'a, str> {
    if !text.contains('>') || !text.lines().any(|line| without_mark(line).is_some()) {
        return text;
    }
    let lines = ResponseLines::new(&text);
    let runs: Vec<(Range<usize>, QuotedRun)> = quoted_runs(&lines)
        .into_iter()
        .filter_map(|range| QuotedRun::read(&lines, range.clone(), limits).map(|run| (range, run)))
        .filter(|(_, run)| run.is_complete && !run.changes.is_empty())
        .collect();
    if runs.is_empty() {
        return text;
    }
    let told = BlockChanges::read(&lines, limits).changes;
    let mut clean = String::new();
    let mut copied = lines.first();
    for (range, run) in runs.into_iter().filter(|(_, run)| run.changes.is_disjoint(&told)) {
        clean.push_str(lines.slice(copied..range.start));
        clean.push_str(&run.text);
        copied = range.end;
    }
    clean.push_str(lines.slice(copied..lines.end()));
    Cow::Owned(clean)
}

/// The runs of quoted lines outside of every block.
fn quoted_runs(lines: &ResponseLines<'_>) -> Vec<Range<usize>> {
    let events = MarkerEvents::new(lines);
    let mut runs = Vec::new();
    let mut at = lines.first();
    let blocks = SegmentIter::new(lines, &events).map(|segment| segment.range);
    for block in blocks.chain(std::iter::once(lines.end()..lines.end())) {
        while at < block.start {
            let run = run_at(lines, at, block.start);
            at = run.end.max(at + 1);
            runs.extend(Some(run).filter(|run| !run.is_empty()));
        }
        at = block.end;
    }
    runs
}

/// The quoted lines from `line` on, before `end`.
pub(super) fn run_at(lines: &ResponseLines<'_>, line: usize, end: usize) -> Range<usize> {
    line..(line..end).find(|line| without_mark(lines.get(*line)).is_none()).unwrap_or(end)
}

/// Whether every block of a run ends inside of it.
pub(super) fn is_complete(lines: &ResponseLines<'_>, run: Range<usize>, limits: &PlanLimits) -> bool {
    QuotedRun::read(lines, run, limits).is_none_or(|read| read.is_complete)
}

struct QuotedRun {
    /// Without its marks.
    text: String,
    /// Every block of it ends in it.
    is_complete: bool,
    changes: HashSet<String>,
}

impl QuotedRun {
    /// `None` if nothing is quoted.
    fn read(lines: &ResponseLines<'_>, run: Range<usize>, limits: &PlanLimits) -> Option<QuotedRun> {
        let mut rows = without_marks(run.clone().map(|line| lines.get(line)))?;
        for _ in 1..QUOTE_DEPTH {
            let Some(deeper) = without_marks(rows.iter().copied()) else { break };
            rows = deeper;
        }
        if rows.is_empty() {
            return None;
        }
        let mut text = rows.join("\n");
        if lines.slice(run.clone()).ends_with('\n') {
            text.push('\n');
        }
        let BlockChanges { changes, is_complete } =
            BlockChanges::read(&ResponseLines::from_line(&text, run.start), limits);
        let is_deeper = rows.iter().all(|row| without_mark(row).is_some());
        Some(QuotedRun { is_complete: is_complete && !is_deeper, changes, text })
    }
}

/// What the blocks of a text change.
struct BlockChanges {
    changes: HashSet<String>,
    is_complete: bool,
}

impl BlockChanges {
    fn read(lines: &ResponseLines<'_>, limits: &PlanLimits) -> BlockChanges {
        let events = MarkerEvents::new(lines);
        let mut blocks = BlockWalker::new(lines, &events, limits);
        let mut read = BlockChanges { changes: HashSet::new(), is_complete: true };
        while let Ok(Some(block)) = blocks.next_block(false) {
            let ends = matches!(
                block.segment.defect,
                None | Some(SegmentDefect::Nested | SegmentDefect::UncertainEnd)
            );
            read.is_complete &= ends;
            match block.outcome {
                BlockOutcome::Operations(operations) => {
                    read.changes
                        .extend(operations.iter().flat_map(|operation| change_keys(&operation.action)));
                }
                BlockOutcome::Example(_) => {}
                // Reported where it stands, quoted or not.
                _ => drop(read.changes.insert(format!("line {}", block.segment.range.start))),
            }
        }
        read
    }
}

/// What an action does, each hunk by itself and without blanks at the ends of lines.
fn change_keys(action: &FileAction) -> Vec<String> {
    let trimmed = |lines: &[String]| lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    match action {
        FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } => {
            hunks.iter().map(|hunk| format!("{}\0{}", trimmed(&hunk.before), trimmed(&hunk.after))).collect()
        }
        FileAction::Write { path, edit: FileEdit { body: EditBody::Whole { text, .. }, .. }, .. } => {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            vec![format!("{path}\0{}", trimmed(&lines))]
        }
        other => vec![format!("{other:?}")],
    }
}
