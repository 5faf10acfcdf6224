//! Where the files of records are: `.relaycode/`, `.relaycode/undone/`, and `.relay/transactions/`
//! of the original tool. Files are told apart by their names alone; what is in them is looked at
//! only when it is asked for.

use std::io;

use relaycode_durable::fs::is_link;
use relaycode_durable::{Fs, FsDir, FsKind};

use super::original::{self, OriginalRecord};
use super::{RECORD_BYTES, Record, file};
use crate::disk::state_dir;
use crate::disk::state_dir::{StateDir, StateSubdir};
use crate::error::{LedgerError, io_error};
use crate::id::TxId;
use crate::ledger::Ledger;

/// The directory of the original tool's second layout.
const FOREIGN: &str = ".relay/transactions";
/// So many bytes of a long record are read together.
pub(crate) const PIECE: usize = 256 * 1024;

/// The file of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordLocation {
    /// `.relaycode/{uuid}.yml`.
    Own(TxId),
    /// `.relaycode/undone/{uuid}.yml`.
    Undone(TxId),
    /// A file in `.relay/transactions/`.
    Foreign(String),
}

/// What is in the file of a record.
#[derive(Debug)]
pub(crate) enum LoadedRecord {
    /// A record.
    Record {
        /// It.
        record: Box<Record>,
        /// The original tool took it back.
        undone: bool,
    },
    /// A transaction of the original tool that was never decided on.
    Pending,
}

/// The open directories with records.
pub(crate) struct RecordStore<'l> {
    fs: &'l dyn Fs,
    state: Option<StateDir>,
    undone: Option<FsDir>,
    foreign: Option<FsDir>,
}

impl RecordLocation {
    /// The path beneath the root.
    pub(crate) fn path(&self) -> String {
        match self {
            RecordLocation::Own(id) => format!("{}/{id}.yml", state_dir::STATE_DIR_NAME),
            RecordLocation::Undone(id) => {
                format!("{}/{}/{id}.yml", state_dir::STATE_DIR_NAME, StateSubdir::Undone.name())
            }
            RecordLocation::Foreign(name) => format!("{FOREIGN}/{name}"),
        }
    }

    /// The transaction, where the name says it.
    pub(crate) fn id(&self) -> Option<TxId> {
        match self {
            RecordLocation::Own(id) | RecordLocation::Undone(id) => Some(*id),
            RecordLocation::Foreign(name) => state_dir::record_id(name),
        }
    }
}

impl<'l> RecordStore<'l> {
    /// Opens what there is.
    pub(crate) fn open(ledger: &'l Ledger) -> Result<RecordStore<'l>, LedgerError> {
        let fs = &*ledger.fs;
        let state = ledger.state()?;
        let undone = match &state {
            Some(state) => {
                state.open_subdir(StateSubdir::Undone).map_err(cannot_open(".relaycode/undone"))?
            }
            None => None,
        };
        let foreign = match fs.open_dir(ledger.root.dir(), FOREIGN) {
            Ok(dir) => Some(dir),
            // Whatever else is called `.relay` is none of ours.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory || is_link(&error) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot_open(FOREIGN)(error)),
        };
        Ok(RecordStore { fs, state, undone, foreign })
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Option<&StateDir> {
        self.state.as_ref()
    }

    /// Shows the place of every record, in no order and without keeping any.
    pub(crate) fn for_each_location(&self, see: &mut dyn FnMut(RecordLocation)) -> Result<(), LedgerError> {
        if let Some(state) = &self.state {
            let own = &mut |name: &str, kind| {
                if let Some(id) = state_dir::record_id(name).filter(|_| kind == FsKind::File) {
                    see(RecordLocation::Own(id));
                }
            };
            self.fs.for_each_name(state.dir(), own).map_err(cannot_list(state_dir::STATE_DIR_NAME))?;
        }
        if let Some(undone) = &self.undone {
            let taken_back = &mut |name: &str, kind| {
                if let Some(id) = state_dir::record_id(name).filter(|_| kind == FsKind::File) {
                    see(RecordLocation::Undone(id));
                }
            };
            self.fs.for_each_name(undone, taken_back).map_err(cannot_list(".relaycode/undone"))?;
        }
        if let Some(foreign) = &self.foreign {
            let theirs = &mut |name: &str, kind| {
                if kind == FsKind::File && is_foreign(name) {
                    see(RecordLocation::Foreign(name.to_string()));
                }
            };
            self.fs.for_each_name(foreign, theirs).map_err(cannot_list(FOREIGN))?;
        }
        Ok(())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> Result<u64, LedgerError> {
        let mut count = 0;
        self.for_each_location(&mut |_| count += 1)?;
        Ok(count)
    }

    /// Where the record of a transaction is, if it is in `.relaycode/`.
    pub(crate) fn locate(&self, id: TxId) -> Result<Option<RecordLocation>, LedgerError> {
        for place in [RecordLocation::Own(id), RecordLocation::Undone(id)] {
            let Some((dir, name)) = self.file_of(&place) else { continue };
            match self.fs.stat(dir, &name) {
                Ok(_) => return Ok(Some(place)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot_read(&place)(error)),
            }
        }
        Ok(None)
    }

    /// Where a record's file is, or would be.
    pub(crate) fn file_of(&self, place: &RecordLocation) -> Option<(&FsDir, String)> {
        match place {
            RecordLocation::Own(id) => Some((self.state.as_ref()?.dir(), state_dir::record_name(*id))),
            RecordLocation::Undone(id) => Some((self.undone.as_ref()?, state_dir::record_name(*id))),
            RecordLocation::Foreign(name) => Some((self.foreign.as_ref()?, name.clone())),
        }
    }

    /// The bytes of a record's file; `None`: it is not there.
    pub(crate) fn read_bytes(&self, place: &RecordLocation) -> Result<Option<Vec<u8>>, LedgerError> {
        let Some((dir, name)) = self.file_of(place) else { return Ok(None) };
        match self.fs.read(dir, &name, RECORD_BYTES as u64) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot_read(place)(error)),
        }
    }

    /// The number that a record's file says it has, damaged or not; `None` if it says none or is not there.
    /// Read in pieces of whole lines: the file may be as long as all that its transaction changed.
    pub(crate) fn read_number(&self, place: &RecordLocation) -> Result<Option<u64>, LedgerError> {
        let Some((dir, name)) = self.file_of(place) else { return Ok(None) };
        let mut lines = Vec::new();
        let mut at = 0;
        loop {
            let piece = match self.fs.read_range(dir, &name, at, PIECE) {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(cannot_read(place)(error)),
            };
            at += piece.len() as u64;
            let last_end = piece.iter().rposition(|byte| *byte == b'\n').map(|end| lines.len() + end + 1);
            lines.extend_from_slice(&piece);
            let whole = if piece.is_empty() { lines.len() } else { last_end.unwrap_or(0) };
            let number = file::record_number(&lines[..whole]);
            if number.is_some() || piece.is_empty() {
                return Ok(number);
            }
            lines.drain(..whole);
        }
    }

    /// Reads a record; `None`: it is not there.
    pub(crate) fn load(&self, place: &RecordLocation) -> Result<Option<LoadedRecord>, LedgerError> {
        let Some(bytes) = self.read_bytes(place)? else { return Ok(None) };
        let path = place.path();
        if let (true, Some(id)) = (file::is_relay_record(&bytes), place.id()) {
            let record = Box::new(super::read(&bytes, &path, id)?);
            return Ok(Some(LoadedRecord::Record { record, undone: false }));
        }
        Ok(Some(match original::read(&bytes, &path, place.id())? {
            OriginalRecord::Pending => LoadedRecord::Pending,
            OriginalRecord::Committed { record, undone } => {
                let undone = undone || matches!(place, RecordLocation::Undone(_));
                LoadedRecord::Record { record, undone }
            }
        }))
    }
}

fn is_foreign(name: &str) -> bool {
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.ends_with(".pending"))
}

fn cannot_open(path: &str) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    io_error("open", path)
}

fn cannot_list(path: &str) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    io_error("list", path)
}

fn cannot_read(place: &RecordLocation) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    io_error("read", &place.path())
}
