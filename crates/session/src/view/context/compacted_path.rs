//! Where the context of a path begins, and what of it was cut: the latest compaction that counts, and the outputs that stand as
//! one line.
//!
//! The path is read from its end, and no further back than what that compaction kept.

use std::collections::{HashMap, HashSet};

use super::ReadEntryFn;
use crate::format::compaction::ContextChange;
use crate::{EntryBody, EntryRow, EntryType, SessionEntry, SessionError};

#[derive(Default)]
pub(super) struct CompactedPath {
    pub(super) compaction: Option<SessionEntry>,
    /// The place on the path of the first entry that counts.
    pub(super) from: usize,
    /// By the entries of the results.
    pub(super) cuts: HashMap<String, String>,
    /// The place behind the latest entry that changed the context before it.
    pub(super) behind_changes: usize,
}

impl CompactedPath {
    pub(super) fn find(
        path: &[(u32, &EntryRow)],
        read: &mut ReadEntryFn<'_>,
    ) -> Result<CompactedPath, SessionError> {
        let mut found = CompactedPath::default();
        let (mut undone, mut is_settled) = (HashSet::new(), false);
        let mut at = path.len();
        while at > found.from {
            at -= 1;
            let (number, row) = path[at];
            match row.kind {
                EntryType::Custom => match ContextChange::from_body(&read(number)?.body) {
                    Some(ContextChange::CutOutputs(lines)) if !undone.contains(&*row.id) => {
                        for (id, line) in lines {
                            found.cuts.entry(id).or_insert(line);
                        }
                    }
                    Some(ContextChange::Undone(id)) => {
                        undone.insert(id);
                    }
                    _ => continue,
                },
                EntryType::Compaction if !is_settled && !undone.contains(&*row.id) => {
                    is_settled = true;
                    let entry = read(number)?;
                    // A compaction without a summary hides nothing.
                    let EntryBody::Compaction { first_kept_entry_id, .. } = &entry.body else { continue };
                    let kept = path[..at].iter().position(|(_, row)| *row.id == **first_kept_entry_id);
                    found.from = kept.unwrap_or(at);
                    found.compaction = Some(entry);
                }
                _ => continue,
            }
            found.behind_changes = found.behind_changes.max(at + 1);
        }
        Ok(found)
    }
}
