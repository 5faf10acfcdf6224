//! Every byte is as the author wrote it.

use super::{MatchQuery, Rung};
use crate::matching::fit::HunkFit;
use crate::matching::line_index::MatchLevel;

pub(super) struct ExactRung;

impl Rung for ExactRung {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn description(&self) -> &'static str {
        "Nothing: every byte is as written."
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let count = query.hunk.before.len();
        let starts = query.find(&query.hunk.before, MatchLevel::Exact);
        // A place with CRLF or a byte order mark is the next rung's, and so are all its twins: counting
        // only some of them here would hide an ambiguity.
        if starts.iter().any(|start| !query.view.has_plain_endings(*start, start + count)) {
            return Vec::new();
        }
        starts.into_iter().map(|start| HunkFit::consecutive(start, count)).collect()
    }
}
