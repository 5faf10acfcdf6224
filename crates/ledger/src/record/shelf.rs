//! Where the files of records are: `.relaycode/`, `.relaycode/undone/`, and `.relay/transactions/`
//! of the original tool. Files are told apart by their names alone; what is in them is looked at
//! only when it is asked for.

use std::io;

use relaycode_durable::fs::is_link;
use relaycode_durable::{Dir, Fs, Kind};

use super::original::{self, Original};
use super::{RECORD_BYTES, Record, file};
use crate::error::{LedgerError, cannot};
use crate::id::TxId;
use crate::ledger::Ledger;
use crate::state::{self, State, Sub};

/// The directory of the original tool's second layout.
const FOREIGN: &str = ".relay/transactions";
/// So many bytes of a long record are read together.
pub(crate) const PIECE: usize = 256 * 1024;

/// The file of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `.relaycode/{uuid}.yml`.
    Own(TxId),
    /// `.relaycode/undone/{uuid}.yml`.
    Undone(TxId),
    /// A file in `.relay/transactions/`.
    Foreign(String),
}

/// What is in the file of a record.
#[derive(Debug)]
pub(crate) enum Loaded {
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
pub(crate) struct Shelf<'l> {
    fs: &'l dyn Fs,
    state: Option<State>,
    undone: Option<Dir>,
    foreign: Option<Dir>,
}

impl Place {
    /// The path beneath the root.
    pub(crate) fn path(&self) -> String {
        match self {
            Place::Own(id) => format!("{}/{id}.yml", state::NAME),
            Place::Undone(id) => format!("{}/{}/{id}.yml", state::NAME, Sub::Undone.name()),
            Place::Foreign(name) => format!("{FOREIGN}/{name}"),
        }
    }

    /// The transaction, where the name says it.
    pub(crate) fn id(&self) -> Option<TxId> {
        match self {
            Place::Own(id) | Place::Undone(id) => Some(*id),
            Place::Foreign(name) => state::record_id(name),
        }
    }
}

impl<'l> Shelf<'l> {
    /// Opens what there is.
    pub(crate) fn open(ledger: &'l Ledger) -> Result<Shelf<'l>, LedgerError> {
        let fs = &*ledger.fs;
        let state = ledger.state()?;
        let undone = match &state {
            Some(state) => state.sub(Sub::Undone).map_err(cannot_open(".relaycode/undone"))?,
            None => None,
        };
        let foreign = match fs.open_dir(ledger.root.dir(), FOREIGN) {
            Ok(dir) => Some(dir),
            // Whatever else is called `.relay` is none of ours.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory || is_link(&error) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot_open(FOREIGN)(error)),
        };
        Ok(Shelf { fs, state, undone, foreign })
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Shows the place of every record, in no order and without keeping any.
    pub(crate) fn each(&self, see: &mut dyn FnMut(Place)) -> Result<(), LedgerError> {
        if let Some(state) = &self.state {
            let own = &mut |name: &str, kind| {
                if let Some(id) = state::record_id(name).filter(|_| kind == Kind::File) {
                    see(Place::Own(id));
                }
            };
            self.fs.each(state.dir(), own).map_err(cannot_list(state::NAME))?;
        }
        if let Some(undone) = &self.undone {
            let taken_back = &mut |name: &str, kind| {
                if let Some(id) = state::record_id(name).filter(|_| kind == Kind::File) {
                    see(Place::Undone(id));
                }
            };
            self.fs.each(undone, taken_back).map_err(cannot_list(".relaycode/undone"))?;
        }
        if let Some(foreign) = &self.foreign {
            let theirs = &mut |name: &str, kind| {
                if kind == Kind::File && is_foreign(name) {
                    see(Place::Foreign(name.to_string()));
                }
            };
            self.fs.each(foreign, theirs).map_err(cannot_list(FOREIGN))?;
        }
        Ok(())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> Result<u64, LedgerError> {
        let mut count = 0;
        self.each(&mut |_| count += 1)?;
        Ok(count)
    }

    /// Where the record of a transaction is, if it is in `.relaycode/`.
    pub(crate) fn place(&self, id: TxId) -> Result<Option<Place>, LedgerError> {
        for place in [Place::Own(id), Place::Undone(id)] {
            let Some((dir, name)) = self.file(&place) else { continue };
            match self.fs.stat(dir, &name) {
                Ok(_) => return Ok(Some(place)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot_read(&place)(error)),
            }
        }
        Ok(None)
    }

    /// Where a record's file is, or would be.
    pub(crate) fn file(&self, place: &Place) -> Option<(&Dir, String)> {
        match place {
            Place::Own(id) => Some((self.state.as_ref()?.dir(), state::record_name(*id))),
            Place::Undone(id) => Some((self.undone.as_ref()?, state::record_name(*id))),
            Place::Foreign(name) => Some((self.foreign.as_ref()?, name.clone())),
        }
    }

    /// The bytes of a record's file; `None`: it is not there.
    pub(crate) fn bytes(&self, place: &Place) -> Result<Option<Vec<u8>>, LedgerError> {
        let Some((dir, name)) = self.file(place) else { return Ok(None) };
        match self.fs.read(dir, &name, RECORD_BYTES as u64) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot_read(place)(error)),
        }
    }

    /// The number that a record's file says it has, damaged or not; `None` if it says none or is not there.
    /// Read in pieces of whole lines: the file may be as long as all that its transaction changed.
    pub(crate) fn number(&self, place: &Place) -> Result<Option<u64>, LedgerError> {
        let Some((dir, name)) = self.file(place) else { return Ok(None) };
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
            let number = file::number(&lines[..whole]);
            if number.is_some() || piece.is_empty() {
                return Ok(number);
            }
            lines.drain(..whole);
        }
    }

    /// Reads a record; `None`: it is not there.
    pub(crate) fn load(&self, place: &Place) -> Result<Option<Loaded>, LedgerError> {
        let Some(bytes) = self.bytes(place)? else { return Ok(None) };
        let path = place.path();
        if let (true, Some(id)) = (file::is_ours(&bytes), place.id()) {
            let record = Box::new(super::read(&bytes, &path, id)?);
            return Ok(Some(Loaded::Record { record, undone: false }));
        }
        Ok(Some(match original::read(&bytes, &path, place.id())? {
            Original::Pending => Loaded::Pending,
            Original::Done { record, undone } => {
                let undone = undone || matches!(place, Place::Undone(_));
                Loaded::Record { record, undone }
            }
        }))
    }
}

fn is_foreign(name: &str) -> bool {
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.ends_with(".pending"))
}

fn cannot_open(path: &str) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    cannot("open", path)
}

fn cannot_list(path: &str) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    cannot("list", path)
}

fn cannot_read(place: &Place) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    cannot("read", &place.path())
}
