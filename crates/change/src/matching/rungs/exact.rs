//! Every byte is as the author wrote it.

use super::{Ask, Rung};
use crate::matching::fit::Fit;
use crate::matching::view::Level;

/// Every byte is as the author wrote it.
pub(super) struct Exact;

impl Rung for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn about(&self) -> &'static str {
        "Nothing: every byte is as written."
    }

    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit> {
        let count = ask.hunk.before.len();
        let starts = ask.view.find(&ask.hunk.before, Level::Exact);
        // A place behind CRLF or a byte order mark is the next rung's, and so are all its twins:
        // counting only some of them here would hide an ambiguity.
        if starts.iter().any(|start| !ask.view.is_plain(*start, start + count)) {
            return Vec::new();
        }
        starts.into_iter().map(|start| Fit::straight(start, count)).collect()
    }
}
