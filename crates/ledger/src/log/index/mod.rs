//! The index: one line for each record, so that the log does not have to read them all.
//!
//! It lies in the user's own directory, beside the copy of the ledger: what comes with a project has no say in it, and reading the
//! log writes nothing into the project. The records are the truth and the index is what is known of them: it is fresh if its
//! lines have the names of the records, and is built anew otherwise, in memory where the user has no such directory. A line that
//! does not match its checksum makes it stale as a whole.

mod line;
mod rebuild;
mod source;

pub(crate) use line::{IndexLine, IndexedPath, needed_blobs};

use std::ops::ControlFlow;

use relaycode_durable::{append_log, atomic};

use crate::record::{Record, RecordLocation, RecordStore};
use crate::{Ledger, LedgerError, LedgerResult, TxId};
use source::{IndexSource, NewestIndexLine};

/// The name of the file.
const NAME: &str = "index";
/// Its path beneath the root, for messages.
const PATH: &str = "~/.relaycode/ledgers/…/index";
/// What a rebuilt index is called until it is whole begins like this.
pub(crate) const SCRATCH: &str = "index-";

/// The index, fresh as of when it was opened.
pub(crate) struct LedgerIndex<'l> {
    /// The records that it is about.
    pub(crate) records: RecordStore<'l>,
    source: IndexSource<'l>,
    last: Option<IndexLine>,
}

/// Why a walk through the index stopped.
pub(crate) enum LedgerIndexError {
    /// It is not whole: it has to be built anew.
    Stale,
    /// Something that building it anew does not help.
    Other(LedgerError),
}

pub(crate) type IndexResult<T> = Result<T, LedgerIndexError>;

/// Is shown the lines, until it breaks off.
type IndexVisitor<'v> = &'v mut dyn FnMut(IndexLine) -> ControlFlow<()>;

impl From<LedgerError> for LedgerIndexError {
    fn from(error: LedgerError) -> LedgerIndexError {
        LedgerIndexError::Other(error)
    }
}

impl Ledger {
    /// Does something with a fresh index; once more with a rebuilt one if it turns out to be stale.
    pub(crate) fn with_index<T>(&self, work: impl Fn(&LedgerIndex<'_>) -> IndexResult<T>) -> LedgerResult<T> {
        match work(&LedgerIndex::open(self)?) {
            Err(LedgerIndexError::Stale) => {}
            Err(LedgerIndexError::Other(error)) => return Err(error),
            Ok(done) => return Ok(done),
        }
        match work(&LedgerIndex::rebuild_from(RecordStore::open(self)?)?) {
            Err(LedgerIndexError::Stale) => {
                let reason = "it changes while it is read".to_string();
                Err(LedgerError::Damaged { path: PATH.to_string(), reason })
            }
            Err(LedgerIndexError::Other(error)) => Err(error),
            Ok(done) => Ok(done),
        }
    }

    /// Adds the line of a record that was just committed. Whoever calls this holds the project's
    /// lock. An index that is not fresh is left as it is: the next reader builds it anew.
    pub(crate) fn append_to_index(&self, record: &Record) -> LedgerResult<()> {
        let source = IndexSource::open(self)?;
        let last = match source.newest()? {
            NewestIndexLine::None => None,
            NewestIndexLine::Line(line) => Some(line),
            NewestIndexLine::Torn => return Ok(()),
        };
        let before = last.as_ref().map(|line| line.names()).unwrap_or_default();
        let names = before.with(&RecordLocation::Own(record.uuid));
        let in_order = last.as_ref().is_none_or(|line| line.number < record.number);
        let is_fresh = self.is_known_fresh(before) || RecordStore::open(self)?.names()? == names;
        self.forget_fresh();
        if !is_fresh || !in_order {
            return Ok(());
        }
        let mut line = IndexLine::from_record(record, false, None);
        (line.at, line.sum) = (names.count, names.sum);
        line.unsealed = self.seal.is_none();
        line.entries = last.as_ref().map_or(0, |line| line.entries).saturating_add(1);
        if let Some(group) = &record.group {
            match first_of_group(&source, before.count, group) {
                Ok(None) => line.group_from = Some(names.count),
                Ok(Some(from)) => {
                    line.group_from = Some(from);
                    line.entries -= 1;
                }
                Err(LedgerIndexError::Stale) => return Ok(()),
                Err(LedgerIndexError::Other(error)) => return Err(error),
            }
        }
        source::append(self, &line)?;
        self.know_fresh(names);
        Ok(())
    }

    /// Whether the record that the index has last is there; whether the index is fresh is not asked.
    pub(crate) fn has_newest_record(&self, shelf: &RecordStore<'_>) -> LedgerResult<bool> {
        let NewestIndexLine::Line(line) = IndexSource::open(self)?.newest()? else { return Ok(false) };
        line.uuid.map_or(Ok(false), |id| Ok(shelf.locate(id)?.is_some()))
    }

    /// The number of the next record. Numbers are given when a transaction is committed, under the
    /// project's lock.
    pub fn next_number(&self) -> LedgerResult<u64> {
        let newest = self.with_index(|index| {
            let Some(line) = &index.last else { return Ok(0) };
            // What is numbered after a wrong one would be out of order for good.
            let just_built = matches!(index.source, IndexSource::Memory(_));
            if just_built || line.unsealed || has_number(&index.records, line) {
                Ok(line.number)
            } else {
                Err(LedgerIndexError::Stale)
            }
        })?;
        Ok(newest.saturating_add(1))
    }
}

/// Whether the record of a line has the number that the line says. One that cannot be read has any.
fn has_number(shelf: &RecordStore<'_>, line: &IndexLine) -> bool {
    let numbered = |place| shelf.read_number(&place).map_or(true, |number| number == Some(line.number));
    line.uuid
        .is_some_and(|id| [RecordLocation::Own(id), RecordLocation::Undone(id)].into_iter().any(numbered))
}

/// The first line of a group; `None` if it has none yet.
fn first_of_group(source: &IndexSource<'_>, last: u64, group: &str) -> IndexResult<Option<u64>> {
    let mut found = None;
    walk_lines(source, last, &mut |line| {
        if line.group.as_deref() == Some(group) {
            found = line.group_from;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Shows the lines from the newest on, each one less than the one before.
fn walk_lines(source: &IndexSource<'_>, last: u64, see: IndexVisitor<'_>) -> IndexResult<()> {
    let mut expected = last;
    let mut stale = false;
    let whole = source.read_backwards(&mut |line| {
        let line = line.filter(|line| line.at == expected && expected > 0);
        let Some(line) = line else {
            stale = true;
            return ControlFlow::Break(());
        };
        expected -= 1;
        see(line)
    });
    if whole? && !stale { Ok(()) } else { Err(LedgerIndexError::Stale) }
}

impl<'l> LedgerIndex<'l> {
    /// Opens the index, building it anew if it is not fresh.
    pub(crate) fn open(ledger: &'l Ledger) -> LedgerResult<LedgerIndex<'l>> {
        let shelf = RecordStore::open(ledger)?;
        let source = IndexSource::open(ledger)?;
        let last = match source.newest()? {
            NewestIndexLine::None => None,
            NewestIndexLine::Line(line) => Some(*line),
            NewestIndexLine::Torn => return LedgerIndex::rebuild_from(shelf),
        };
        let names = last.as_ref().map(IndexLine::names).unwrap_or_default();
        if ledger.is_known_fresh(names) || shelf.names()? == names {
            return Ok(LedgerIndex { records: shelf, source, last });
        }
        LedgerIndex::rebuild_from(shelf)
    }

    /// Builds the index from the records, and keeps it on disk if that can be.
    fn rebuild_from(shelf: RecordStore<'l>) -> LedgerResult<LedgerIndex<'l>> {
        let rebuild::RebuiltIndex { lines, is_complete: lasting } = rebuild::build(&shelf)?;
        let bytes: Vec<u8> =
            lines.iter().flat_map(|line| append_log::encode_entry(line.to_json().as_bytes())).collect();
        // One that cannot be kept is built again by the next reader.
        let ledger = shelf.ledger();
        if let Some(dir) = source::directory(ledger, true).ok().flatten().filter(|_| lasting) {
            let scratch = format!("{SCRATCH}{}", TxId::random());
            let written = atomic::write(&*ledger.fs, (&dir, &scratch), (&dir, NAME), &bytes);
            if written.is_err_and(|error| !error.is_in_place) {
                // It may be a place where nothing can be written; then nothing is left there either.
                let _ = ledger.fs.remove_file(&dir, &scratch);
            }
        }
        let last = lines.last().cloned();
        Ok(LedgerIndex { records: shelf, source: IndexSource::Memory(lines), last })
    }

    /// The newest line.
    pub(crate) fn last(&self) -> Option<&IndexLine> {
        self.last.as_ref()
    }

    /// Shows the lines from the newest on, until told to stop.
    pub(crate) fn for_each_newest_first(&self, see: IndexVisitor<'_>) -> IndexResult<()> {
        walk_lines(&self.source, self.last.as_ref().map_or(0, |line| line.at), see)
    }
}
