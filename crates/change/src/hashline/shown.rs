//! What a model was shown of a file, and which line that is today.
//!
//! The file's text is kept as it was when it was last shown or edited; of older states only which lines were shown, and how the
//! edits since moved them. That is exact, because relay made those edits itself. A change by somebody else is found by comparing
//! the texts, and followed only where no other place could be meant.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::anchor::{LineAnchor, LineHash};
use crate::lines::align::{EqualRun, equal_runs};

/// So many states of a file are remembered.
pub const MAX_GENERATIONS: usize = 64;
/// So many lines around an edge have to stand only once in a file that somebody else changed.
const EDGE_LINES: usize = 3;

/// What was shown of one file.
#[derive(Debug, Clone)]
pub struct ShownFile {
    bytes: Vec<u8>,
    lines: Vec<String>,
    /// Oldest first; never empty.
    generations: VecDeque<ShownGeneration>,
}

/// A state of the file.
#[derive(Debug, Clone, Default)]
struct ShownGeneration {
    /// From 0, under which hashes.
    lines: BTreeMap<usize, LineHash>,
    /// How the next state differs, in order.
    splices: Vec<SpliceShape>,
}

#[derive(Debug, Clone)]
struct SpliceShape {
    range: Range<usize>,
    new_lines: usize,
}

/// Lines of a file and what replaces them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSplice {
    /// From 0; empty: an insertion before its line.
    pub range: Range<usize>,
    pub lines: Vec<String>,
}

/// Why an anchor stands for no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchorProblem {
    /// No line was shown under this number.
    NotShown,
    /// The line that was shown has other text, or this is not its hash.
    Changed,
}

impl ShownFile {
    /// A file of which nothing was shown yet.
    pub fn new(bytes: &[u8], lines: Vec<String>) -> ShownFile {
        let generations = VecDeque::from([ShownGeneration::default()]);
        ShownFile { bytes: bytes.to_vec(), lines, generations }
    }

    /// Whether the file is as it was.
    pub fn is(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes
    }

    /// Bytes that this keeps in memory.
    pub fn weight(&self) -> usize {
        self.bytes.len() + self.lines.iter().map(|line| line.len() + size_of::<String>()).sum::<usize>()
    }

    /// These lines (from 0) were shown, of the file as it is.
    pub fn show(&mut self, lines: impl IntoIterator<Item = usize>) {
        let text = &self.lines;
        let hashes =
            lines.into_iter().filter_map(|line| Some((line, LineHash::of(line + 1, text.get(line)?))));
        if let Some(now) = self.generations.back_mut() {
            now.lines.extend(hashes);
        }
    }

    /// An edit of relay's own was made: `splices`, in order, of the present lines.
    pub fn advance(&mut self, splices: &[LineSplice], bytes: &[u8], lines: Vec<String>) {
        if let Some(now) = self.generations.back_mut() {
            let shape = |splice: &LineSplice| SpliceShape {
                range: splice.range.clone(),
                new_lines: splice.lines.len(),
            };
            now.splices = splices.iter().map(shape).collect();
        }
        self.generations.push_back(ShownGeneration::default());
        if self.generations.len() > MAX_GENERATIONS {
            self.generations.pop_front();
        }
        self.bytes = bytes.to_vec();
        self.lines = lines;
    }

    /// The line (from 0) of the text as it was last known that was shown under an anchor.
    pub(super) fn find(&self, anchor: LineAnchor) -> Result<usize, AnchorProblem> {
        let shown_as = anchor.line - 1;
        let mut problem = AnchorProblem::NotShown;
        for (at, generation) in self.generations.iter().enumerate().rev() {
            match generation.lines.get(&shown_as) {
                None => continue,
                // Last it was shown under this anchor: an older line of the same name is not meant, even if this one is gone.
                Some(hash) if *hash == anchor.hash => {
                    let mut later = self.generations.iter().skip(at);
                    let line = later.try_fold(shown_as, |line, state| moved(line, &state.splices));
                    return line.filter(|line| *line < self.lines.len()).ok_or(AnchorProblem::Changed);
                }
                Some(_) => problem = AnchorProblem::Changed,
            }
        }
        Err(problem)
    }

    /// Which of these lines (from 0) of the text as it was last known their author never saw: they were neither shown nor written
    /// by an edit of relay's own.
    pub(super) fn unseen(&self, lines: Range<usize>) -> Vec<usize> {
        lines.filter(|line| !self.was_seen(*line)).collect()
    }

    fn was_seen(&self, mut line: usize) -> bool {
        for (at, generation) in self.generations.iter().enumerate().rev() {
            if generation.lines.contains_key(&line) {
                return true;
            }
            let Some(earlier) = at.checked_sub(1).and_then(|at| self.generations.get(at)) else { break };
            match line_before(line, &earlier.splices) {
                Some(before) => line = before,
                // That edit wrote it.
                None => return true,
            }
        }
        false
    }

    /// The text of a line (from 0), as it was last known.
    pub(super) fn line(&self, line: usize) -> Option<&str> {
        self.lines.get(line).map(String::as_str)
    }

    /// Follows lines into a text that somebody else made of the file.
    pub(super) fn follow<'a>(&'a self, now: &'a [&'a str]) -> LineFollower<'a> {
        let old: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let runs = equal_runs(&old, now);
        let from_end = runs_from_end(&old, now);
        LineFollower { old, now, runs, from_end }
    }
}

/// The runs that a comparison from the end finds: where lines repeat, a change can be taken to stand higher or lower, and the
/// two comparisons differ.
fn runs_from_end(old: &[&str], now: &[&str]) -> Vec<EqualRun> {
    let reversed = |lines: &[&str]| lines.iter().rev().map(ToString::to_string).collect::<Vec<_>>();
    let runs = equal_runs(&reversed(old), &reversed(now)).into_iter();
    runs.map(|run| EqualRun {
        old: old.len() - run.old - run.len,
        new: now.len() - run.new - run.len,
        len: run.len,
    })
    .collect()
}

/// Where a line is after `splices`; `None` if it was replaced.
fn moved(line: usize, splices: &[SpliceShape]) -> Option<usize> {
    let (mut gone, mut added) = (0, 0);
    for SpliceShape { range, new_lines } in splices {
        if range.contains(&line) {
            return None;
        }
        if range.end > line || (range.is_empty() && range.start > line) {
            break;
        }
        gone += range.len();
        added += new_lines;
    }
    Some(line + added - gone)
}

/// Where a line was before `splices`; `None` if one of them wrote it.
fn line_before(line: usize, splices: &[SpliceShape]) -> Option<usize> {
    let (mut gone, mut added) = (0, 0);
    for SpliceShape { range, new_lines } in splices {
        let begins = range.start + added - gone;
        if line < begins {
            break;
        }
        if line < begins + new_lines {
            return None;
        }
        gone += range.len();
        added += new_lines;
    }
    Some(line + gone - added)
}

/// The lines of a text in another version of it.
pub(super) struct LineFollower<'a> {
    old: Vec<&'a str>,
    now: &'a [&'a str],
    runs: Vec<EqualRun>,
    /// The same, compared from the end.
    from_end: Vec<EqualRun>,
}

impl LineFollower<'_> {
    /// Where `range` (from 0; empty: the place before a line) is, if it and its neighbours are unchanged and could be nowhere
    /// else.
    pub(super) fn range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let old_end = self.old.len();
        let holds = |run: &&EqualRun| {
            let ends = run.old + run.len;
            let first = if range.start == 0 { run.new == 0 } else { run.old < range.start };
            let last =
                if range.end == old_end { run.new + run.len == self.now.len() } else { ends > range.end };
            run.len > 0 && run.old <= range.start && ends >= range.end && first && last
        };
        let run = self.runs.iter().find(holds)?;
        let same = |other: &&EqualRun| holds(other) && other.new + run.old == run.new + other.old;
        self.from_end.iter().find(same)?;
        let to_now = |line: usize| line - run.old + run.new;
        let certain = [range.start, range.end].into_iter().all(|edge| {
            let from = edge.saturating_sub(EDGE_LINES).max(run.old);
            let to = (edge + EDGE_LINES).min(run.old + run.len);
            self.is_unique(to_now(from)..to_now(to))
        });
        certain.then(|| to_now(range.start)..to_now(range.end))
    }

    /// Whether these lines stand only once in the new text.
    fn is_unique(&self, lines: Range<usize>) -> bool {
        let wanted = &self.now[lines];
        self.now.windows(wanted.len().max(1)).filter(|window| *window == wanted).take(2).count() == 1
    }
}
