//! Stands in for what the ledger is still to offer.
#![allow(dead_code, unused_variables, reason = "temporary")]
use relaycode_change::path::RelPath;
use relaycode_ledger::change::FileChange;
use relaycode_ledger::error::Unfinished;
use relaycode_ledger::record::{FileRecord, Record};
use relaycode_ledger::{About, Ledger, LedgerError, TxId};

pub(crate) enum Recovery {
    Automatic,
    Keep,
    Restore,
}
pub(crate) struct Recovered {
    pub(crate) id: TxId,
    pub(crate) outcome: Outcome,
}
pub(crate) enum Outcome {
    Committed,
    PutBack { restored: Vec<String>, kept: Option<String> },
    NeedsYou(Unfinished),
    Kept { kept: String },
    Original,
}
pub(crate) struct Open<'a>(&'a Ledger);
pub(crate) struct Committed {
    pub(crate) record: Record,
    pub(crate) doubt: Option<String>,
}
pub(crate) enum Target {
    One(TxId),
    Group { id: String, members: Vec<TxId> },
}
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    pub(crate) total: usize,
}
pub(crate) struct Entry {
    pub(crate) group: Option<String>,
    pub(crate) members: Vec<Item>,
}
pub(crate) struct Item {
    pub(crate) id: Option<TxId>,
    pub(crate) number: u64,
    pub(crate) created_at: String,
    pub(crate) origin: String,
    pub(crate) summary: String,
    pub(crate) files: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) revert_of: Vec<TxId>,
    pub(crate) undone: bool,
    pub(crate) revertible: bool,
    pub(crate) damage: Option<String>,
}
#[derive(Default)]
pub(crate) struct RevertOptions {
    pub(crate) file: Option<RelPath>,
    pub(crate) markers: bool,
}
pub(crate) struct Reversal {
    pub(crate) changes: Vec<FileChange>,
    pub(crate) of: Vec<TxId>,
    pub(crate) made_directories_to_remove: Vec<String>,
    pub(crate) kept: Vec<KeptEdits>,
    pub(crate) conflicted: Vec<String>,
    pub(crate) already: Vec<String>,
    pub(crate) notes: Vec<String>,
}
pub(crate) struct KeptEdits {
    pub(crate) path: String,
    pub(crate) edits: usize,
}
impl Open<'_> {
    pub(crate) fn commit(self, _: Option<String>, _: Option<String>) -> Result<Committed, LedgerError> {
        Err(LedgerError::Busy)
    }
}
pub(crate) trait Face {
    fn me(&self) -> &Ledger;
    fn recover(&self, _: Recovery) -> Result<Vec<Recovered>, LedgerError> {
        Ok(Vec::new())
    }
    fn begin(&self, _: &[FileChange], _: About, _: &dyn Fn() -> bool) -> Result<Open<'_>, LedgerError> {
        Ok(Open(self.me()))
    }
    fn page(&self, _: usize, _: usize) -> Result<Page, LedgerError> {
        Err(LedgerError::Busy)
    }
    fn find(&self, _: &str) -> Result<Target, LedgerError> {
        Err(LedgerError::Busy)
    }
    fn record(&self, _: TxId) -> Result<Record, LedgerError> {
        Err(LedgerError::Busy)
    }
    fn before_bytes(&self, _: &Record, _: &FileRecord) -> Result<Option<Vec<u8>>, LedgerError> {
        Err(LedgerError::Busy)
    }
    fn after_bytes(&self, _: &Record, _: &FileRecord) -> Result<Option<Vec<u8>>, LedgerError> {
        Err(LedgerError::Busy)
    }
    fn plan_revert(&self, _: &Target, _: &RevertOptions) -> Result<Reversal, LedgerError> {
        Err(LedgerError::Busy)
    }
}
impl Face for Ledger {
    fn me(&self) -> &Ledger {
        self
    }
}
