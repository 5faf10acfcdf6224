//! The text is as written; the file has other line endings or begins with a byte order mark.

use std::borrow::Cow;

use super::{MatchQuery, Rung};
use crate::matching::fit::{HunkFit, LineEdit, splice};
use crate::matching::line_index::MatchLevel;

pub(super) struct LineEndingsRung;

/// Without anything that belongs to a line ending or a byte order mark.
fn bare(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim_end_matches('\r')
}

fn bare_lines(lines: &[String]) -> Cow<'_, [String]> {
    if lines.iter().all(|line| bare(line).len() == line.len()) {
        return Cow::Borrowed(lines);
    }
    Cow::Owned(lines.iter().map(|line| bare(line).to_string()).collect())
}

impl Rung for LineEndingsRung {
    fn name(&self) -> &'static str {
        "line endings"
    }

    fn description(&self) -> &'static str {
        "Line endings and byte order marks; new lines take the file's own."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let before = bare_lines(&query.hunk.before);
        query
            .find(&before, MatchLevel::Exact)
            .into_iter()
            .map(|start| HunkFit::consecutive(start, before.len()))
            .collect()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        Ok(splice(query.view, query.hunk, fit, &bare_lines(&query.hunk.after)))
    }
}
