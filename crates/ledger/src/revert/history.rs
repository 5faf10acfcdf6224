//! Undo and redo as one walk through the log, from the newest entry on.
//!
//! Undo takes back the newest change that is still in. A revert by name is a change like any other; setting a project up
//! is none. Redo brings back what the newest undo took out that was not brought back already, unless a change came after
//! that undo: then there is nothing to go forward to, as in every editor. What is in is told by `revertOf` alone; an
//! origin only says which reverts are steps of this walk.

use crate::log::{LogEntry, LogTransaction};
use crate::{Ledger, LedgerResult};

const UNDO_ORIGIN: &str = "undo";
const REDO_ORIGIN: &str = "redo";
const REVERT_ORIGIN: &str = "revert";
/// The origin of what relay takes out of a command's work, or brings back, by itself. It stands in the command's group, is no
/// step of the walk, and only its own name takes it back.
pub const SET_ASIDE_ORIGIN: &str = "set-aside";
/// The origin of what sets a project up.
const SETUP_ORIGIN: &str = "init";

/// How something is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevertStep {
    /// One step back.
    Undo,
    /// One step forward again.
    Redo,
    /// One change by its name, wherever it stands: a change of its own.
    Revert,
}

impl RevertStep {
    /// The command's name, which is the origin of what it records.
    pub fn name(self) -> &'static str {
        match self {
            RevertStep::Undo => UNDO_ORIGIN,
            RevertStep::Redo => REDO_ORIGIN,
            RevertStep::Revert => REVERT_ORIGIN,
        }
    }
}

/// What an entry of the log is to undo and redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryKind {
    Change,
    /// It sets the project up, which is nothing to undo.
    Setup,
    Undo,
    Redo,
    /// Its record cannot be read.
    Unknown,
}

/// What redo would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedoTarget {
    /// Take this undo back.
    Undo(Box<LogEntry>),
    /// Nothing, because a change came after the undo.
    Superseded { undo: Box<LogEntry>, by: Box<LogEntry> },
    /// Nothing, because nothing was undone that is not in again.
    Nothing,
}

impl LogEntry {
    /// What it is to undo and redo.
    pub fn history_kind(&self) -> HistoryKind {
        let Some(newest) = self.members.first() else { return HistoryKind::Unknown };
        if self.members.iter().any(|item| item.damage.is_some()) {
            return HistoryKind::Unknown;
        }
        match newest.origin.as_str() {
            UNDO_ORIGIN if !newest.revert_of.is_empty() => HistoryKind::Undo,
            REDO_ORIGIN if !newest.revert_of.is_empty() => HistoryKind::Redo,
            SETUP_ORIGIN => HistoryKind::Setup,
            _ => HistoryKind::Change,
        }
    }

    /// Whether something of it is still in.
    pub fn is_in(&self) -> bool {
        self.members.iter().any(|item: &LogTransaction| !item.undone && item.origin != SET_ASIDE_ORIGIN)
    }
}

/// The entry that undo takes back, of the log's newest entries.
pub fn find_undo(entries: &[LogEntry]) -> Option<&LogEntry> {
    entries.iter().find(|entry| entry.history_kind() == HistoryKind::Change && entry.is_in())
}

/// What redo does, judged by the log's newest entries.
pub fn find_redo(entries: &[LogEntry]) -> RedoTarget {
    let mut newer_change = None;
    for entry in entries {
        match (entry.history_kind(), newer_change) {
            (HistoryKind::Change, None) => newer_change = Some(entry),
            (HistoryKind::Undo, by) if entry.is_in() => {
                let undo = Box::new(entry.clone());
                return match by {
                    None => RedoTarget::Undo(undo),
                    Some(by) => RedoTarget::Superseded { undo, by: Box::new(by.clone()) },
                };
            }
            _ => {}
        }
    }
    RedoTarget::Nothing
}

/// Entries that are looked at together.
const PAGE: usize = 64;

impl Ledger {
    /// The entry that undo takes back; `None` if there is none.
    ///
    /// # Errors
    /// The system's.
    pub fn undo_target(&self) -> LedgerResult<Option<LogEntry>> {
        for skip in (0..).step_by(PAGE) {
            let page = self.log_page(skip, PAGE)?.entries;
            let found = find_undo(&page);
            if found.is_some() || page.len() < PAGE {
                return Ok(found.cloned());
            }
        }
        Ok(None)
    }

    /// What redo does.
    ///
    /// # Errors
    /// The system's.
    pub fn redo_target(&self) -> LedgerResult<RedoTarget> {
        let mut entries = Vec::new();
        loop {
            let page = self.log_page(entries.len(), PAGE)?.entries;
            let last = page.len() < PAGE;
            // Behind a change nothing can be redone; how far back an undo is looked for to be named is a matter of
            // taste.
            let decided = page.iter().any(|entry| entry.history_kind() == HistoryKind::Change);
            entries.extend(page);
            let found = find_redo(&entries);
            if last || decided || found != RedoTarget::Nothing {
                return Ok(found);
            }
        }
    }
}
