//! Every byte is as the author wrote it.

use super::{MatchQuery, Rung};
use crate::matching::fit::HunkFit;
use crate::matching::line_index::MatchLevel;

/// Every byte is as the author wrote it.
pub(super) struct ExactRung;

impl Rung for ExactRung {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn description(&self) -> &'static str {
        "Nothing: every byte is as written."
    }

    fn places(&self, ask: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        let count = ask.hunk.before.len();
        let starts = ask.view.find(&ask.hunk.before, MatchLevel::Exact);
        // A place behind CRLF or a byte order mark is the next rung's, and so are all its twins:
        // counting only some of them here would hide an ambiguity.
        if starts.iter().any(|start| !ask.view.has_plain_endings(*start, start + count)) {
            return Vec::new();
        }
        starts.into_iter().map(|start| HunkFit::consecutive(start, count)).collect()
    }
}
