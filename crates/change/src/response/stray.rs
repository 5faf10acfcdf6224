//! Lines between the blocks that set out to be a change and belong to none: part of a diff below prose, a
//! quoted block that is not quoted to its end, an indented diff. They are reported, because the rest of the
//! answer must not be applied without them.

use std::ops::Range;

use super::header;
use super::lines::ResponseLines;
use super::{markers, quotes};
use crate::dialect::{is_hunk_header, patch_marker};
use crate::proposal::limits::PlanLimits;

/// The first such line (from 0), and the reason why it is not read. Quotations that are complete were looked at before.
pub(super) fn find(
    lines: &ResponseLines<'_>,
    prose: Range<usize>,
    limits: &PlanLimits,
) -> Option<(usize, &'static str)> {
    let mut at = prose.start;
    while at < prose.end {
        let quoted = quotes::complete_end(lines, at, prose.end, limits);
        let (Ok(end) | Err(end)) = quoted;
        let end = end.max(at + 1);
        let found = match quoted {
            Ok(skipped) if skipped > at => None,
            _ => (at..end).find_map(|line| Some((line, reason(lines, line, prose.end)?))),
        };
        if found.is_some() {
            return found;
        }
        at = end;
    }
    None
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
