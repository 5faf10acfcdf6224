//! `.relaycode/index`: one line for each record, so that the log does not have to read them all.
//!
//! The records are the truth and the index is what is known of them: it is fresh if it has as many
//! lines as there are records, counted by their names, and is built anew otherwise, in memory where
//! nothing may be written. A line that does not match its checksum makes it stale as a whole.

mod line;
mod rebuild;
mod source;

pub(crate) use line::{Line, Name, needed_blobs};

use std::ops::ControlFlow;

use relaycode_durable::{atomic, log};

use crate::error::LedgerError;
use crate::id::TxId;
use crate::ledger::Ledger;
use crate::record::Record;
use crate::record::shelf::{Place, Shelf};
use source::{Newest, Source};

/// The name of the file.
const NAME: &str = "index";
/// Its path beneath the root, for messages.
const PATH: &str = ".relaycode/index";
/// What a rebuilt index is called until it is whole begins like this.
pub(crate) const SCRATCH: &str = "index-";

/// The index, fresh as of when it was opened.
pub(crate) struct Index<'l> {
    /// The records that it is about.
    pub(crate) shelf: Shelf<'l>,
    source: Source<'l>,
    last: Option<Line>,
}

/// Why a walk through the index stopped.
pub(crate) enum Trouble {
    /// It is not whole: it has to be built anew.
    Stale,
    /// Something that building it anew does not help.
    Other(LedgerError),
}

impl From<LedgerError> for Trouble {
    fn from(error: LedgerError) -> Trouble {
        Trouble::Other(error)
    }
}

impl Ledger {
    /// Does something with a fresh index; once more with a rebuilt one if it turns out to be stale.
    pub(crate) fn with_index<T>(
        &self,
        work: impl Fn(&Index<'_>) -> Result<T, Trouble>,
    ) -> Result<T, LedgerError> {
        match work(&Index::open(self)?) {
            Err(Trouble::Stale) => {}
            Err(Trouble::Other(error)) => return Err(error),
            Ok(done) => return Ok(done),
        }
        match work(&Index::rebuilt(Shelf::open(self)?)?) {
            Err(Trouble::Stale) => {
                let reason = "it changes while it is read".to_string();
                Err(LedgerError::Damaged { path: PATH.to_string(), reason })
            }
            Err(Trouble::Other(error)) => Err(error),
            Ok(done) => Ok(done),
        }
    }

    /// Adds the line of a record that was just committed. Whoever calls this holds the project's
    /// lock. An index that is not fresh is left as it is: the next reader builds it anew.
    pub(crate) fn note_in_index(&self, record: &Record) -> Result<(), LedgerError> {
        let shelf = Shelf::open(self)?;
        let Some(state) = shelf.state() else { return Ok(()) };
        let count = shelf.count()?;
        let source = Source::of(self)?;
        let last = match source.newest()? {
            Newest::None => None,
            Newest::Line(line) => Some(line),
            Newest::Torn => return Ok(()),
        };
        let before = last.as_ref().map_or(0, |line| line.at);
        let in_order = last.as_ref().is_none_or(|line| line.number < record.number);
        if before.checked_add(1) != Some(count) || !in_order {
            return Ok(());
        }
        let mut line = Line::of(record, false, None);
        line.at = count;
        line.entries = last.as_ref().map_or(0, |line| line.entries).saturating_add(1);
        if let Some(group) = &record.group {
            match first_of_group(&source, before, group) {
                Ok(None) => line.group_from = Some(count),
                Ok(Some(from)) => {
                    line.group_from = Some(from);
                    line.entries -= 1;
                }
                Err(Trouble::Stale) => return Ok(()),
                Err(Trouble::Other(error)) => return Err(error),
            }
        }
        source::append(state, &line)
    }

    /// Whether the record that the index has last is there; whether the index is fresh is not asked.
    pub(crate) fn newest_is_there(&self, shelf: &Shelf<'_>) -> Result<bool, LedgerError> {
        match Source::of(self)?.newest()? {
            Newest::Line(line) => match line.uuid {
                Some(id) => Ok(shelf.place(id)?.is_some()),
                None => Ok(false),
            },
            Newest::None | Newest::Torn => Ok(false),
        }
    }

    /// The number of the next record. Numbers are given when a transaction is committed, under the
    /// project's lock.
    ///
    /// # Errors
    /// The system's.
    pub fn next_number(&self) -> Result<u64, LedgerError> {
        let newest = self.with_index(|index| {
            let Some(line) = &index.last else { return Ok(0) };
            // The index may be anybody's; what is numbered after it would be out of order for good.
            let just_built = matches!(index.source, Source::Memory(_));
            if just_built || is_numbered(&index.shelf, line) { Ok(line.number) } else { Err(Trouble::Stale) }
        })?;
        Ok(newest.saturating_add(1))
    }
}

/// Whether the record of a line has the number that the line says. One that cannot be read has any.
fn is_numbered(shelf: &Shelf<'_>, line: &Line) -> bool {
    let numbered = |place| shelf.number(&place).map_or(true, |number| number == Some(line.number));
    line.uuid.is_some_and(|id| [Place::Own(id), Place::Undone(id)].into_iter().any(numbered))
}

/// The first line of a group; `None` if it has none yet.
fn first_of_group(source: &Source<'_>, last: u64, group: &str) -> Result<Option<u64>, Trouble> {
    let mut found = None;
    walk(source, last, &mut |line| {
        if line.group.as_deref() == Some(group) {
            found = line.group_from;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Shows the lines from the newest on, each one less than the one before.
fn walk(source: &Source<'_>, last: u64, see: &mut dyn FnMut(Line) -> ControlFlow<()>) -> Result<(), Trouble> {
    let mut expected = last;
    let mut stale = false;
    let whole = source.backwards(&mut |line| {
        let line = line.filter(|line| line.at == expected && expected > 0);
        let Some(line) = line else {
            stale = true;
            return ControlFlow::Break(());
        };
        expected -= 1;
        see(line)
    });
    if whole? && !stale { Ok(()) } else { Err(Trouble::Stale) }
}

impl<'l> Index<'l> {
    /// Opens the index, building it anew if it is not fresh.
    pub(crate) fn open(ledger: &'l Ledger) -> Result<Index<'l>, LedgerError> {
        let shelf = Shelf::open(ledger)?;
        let count = shelf.count()?;
        let source = Source::of(ledger)?;
        match source.newest()? {
            Newest::None if count == 0 => Ok(Index { shelf, source, last: None }),
            Newest::Line(line) if line.at == count => Ok(Index { shelf, source, last: Some(*line) }),
            _ => Index::rebuilt(shelf),
        }
    }

    /// Builds the index from the records, and keeps it on disk if that can be.
    fn rebuilt(shelf: Shelf<'l>) -> Result<Index<'l>, LedgerError> {
        let rebuild::Built { lines, lasting } = rebuild::build(&shelf)?;
        let bytes: Vec<u8> = lines.iter().flat_map(|line| log::entry(line.json().as_bytes())).collect();
        if let Some(state) = shelf.state().filter(|_| lasting) {
            let scratch = format!("{SCRATCH}{}", TxId::random());
            let written = atomic::write(state.fs(), (state.dir(), &scratch), (state.dir(), NAME), &bytes);
            if written.is_err_and(|error| !error.moved) {
                // It may be a place where nothing can be written; then nothing is left there either.
                let _ = state.fs().remove_file(state.dir(), &scratch);
            }
        }
        let last = lines.last().cloned();
        Ok(Index { shelf, source: Source::Memory(lines), last })
    }

    /// The newest line.
    pub(crate) fn last(&self) -> Option<&Line> {
        self.last.as_ref()
    }

    /// Shows the lines from the newest on, until told to stop.
    pub(crate) fn newest_first(&self, see: &mut dyn FnMut(Line) -> ControlFlow<()>) -> Result<(), Trouble> {
        walk(&self.source, self.last.as_ref().map_or(0, |line| line.at), see)
    }
}
