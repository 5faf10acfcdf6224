//! Lines between the blocks that set out to be a change and belong to none: part of a diff below prose, a
//! quoted block that is not quoted to its end, an indented diff. They are reported, because the rest of the
//! answer must not be applied without them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::header;
use super::lines::ResponseLines;
use super::{markers, quotes};
use crate::dialect::{is_hunk_header, patch_marker};
use crate::proposal::limits::PlanLimits;

/// Finds such lines in the prose of one response.
pub(super) struct StrayFinder<'a> {
    lines: &'a ResponseLines<'a>,
    limits: &'a PlanLimits,
    /// Hashes of the lines that are not quoted, each with those below it; made when they are needed.
    unquoted: Option<(RandomState, HashSet<u64>)>,
}

/// How many lines of a quote show that it repeats others.
const REPEATED_LINES: usize = 3;

impl<'a> StrayFinder<'a> {
    pub(super) fn new(lines: &'a ResponseLines<'a>, limits: &'a PlanLimits) -> StrayFinder<'a> {
        StrayFinder { lines, limits, unquoted: None }
    }

    /// The first such line (from 0), and the reason why it is not read. Quotes that are complete were looked at
    /// before, and those that repeat lines of the response are quotations.
    pub(super) fn find(&mut self, prose: Range<usize>) -> Option<(usize, &'static str)> {
        let mut at = prose.start;
        while at < prose.end {
            let run = quotes::run_at(self.lines, at, prose.end);
            let end = run.end.max(at + 1);
            if run.is_empty() || !quotes::is_complete(self.lines, run.clone(), self.limits) {
                let found = (at..end).find_map(|line| {
                    let reason = reason(self.lines, line, prose.end)?;
                    (run.is_empty() || !self.repeats(line)).then_some((line, reason))
                });
                if found.is_some() {
                    return found;
                }
            }
            at = end;
        }
        None
    }

    /// Whether a quoted line and those below it stand elsewhere without quotes.
    fn repeats(&mut self, line: usize) -> bool {
        let lines = self.lines;
        let key = |state: &RandomState, line: usize, text: &dyn Fn(usize) -> &'a str| {
            state.hash_one((line..line + REPEATED_LINES).map(|at| text(at).trim()).collect::<Vec<_>>())
        };
        let (state, unquoted) = self.unquoted.get_or_insert_with(|| {
            let state = RandomState::new();
            let plain = (lines.first()..lines.end()).filter(|at| !lines.get(*at).starts_with('>'));
            let hashes = plain.map(|at| key(&state, at, &|at| lines.get(at))).collect();
            (state, hashes)
        });
        unquoted.contains(&key(state, line, &|at| bare(lines.get(at))))
    }
}

fn reason(lines: &ResponseLines<'_>, line: usize, end: usize) -> Option<&'static str> {
    let text = lines.get(line);
    let said = bare(text);
    match said.as_bytes().first()? {
        b'*' => {
            let escaped = said.starts_with(r"*** Begin Patch\n");
            let patch = patch_marker::parse(said).is_some_and(|marker| marker.names_file());
            (escaped || patch)
                .then_some("this part of a patch stands outside of every block; it cannot be read")
        }
        b'`' | b'~' if said.len() < text.len() => {
            let info = said.trim_start_matches(['`', '~']);
            (said.len() - info.len() >= 3 && header::read(info).names_file())
                .then_some("this block is quoted, but not to its end; it cannot be read")
        }
        b'<' => markers::is_search(said)
            .then_some("this SEARCH block is quoted, but not to its end; it cannot be read"),
        b'@' | b'd' | b'-' => begins_diff(lines, line, end).then_some(
            "these lines of a diff belong to no file, or are indented; put the diff between fences",
        ),
        _ => None,
    }
}

/// Whether a hunk, or the names above one, stand here.
fn begins_diff(lines: &ResponseLines<'_>, line: usize, end: usize) -> bool {
    let said = |at: usize| if at < end { bare(lines.get(at)) } else { "" };
    if said(line).starts_with("--- ") {
        return said(line + 1).starts_with("+++ ") && said(line + 2).starts_with("@@");
    }
    let is_change = |at: &usize| said(*at).starts_with(['+', '-']);
    let header = said(line);
    header.starts_with("diff --git ")
        || (is_hunk_header(header)
            && (line + 1..end)
                .take_while(|at| !lines.is_blank(*at))
                .take(CONTEXT_LINES)
                .any(|at| is_change(&at)))
}

/// Most lines between the header of a hunk and its first change.
const CONTEXT_LINES: usize = 8;

/// Without blanks and quotes before it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['>', ' ', '\t'])
}
