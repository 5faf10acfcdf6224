//! Where the files of records are: `.relaycode/`, `.relaycode/undone/`, and `.relay/transactions/`
//! of the original tool. Files are told apart by their names alone; what is in them is looked at
//! only when it is asked for.

use std::io;

use relaycode_durable::{Fs, FsDir, FsKind, if_found, is_too_long};

use crate::disk::{STATE_DIR_NAME, StateDir, StateSubdir, if_directory, state_dir};
use crate::record::{RECORD_BYTES, Record, file, original};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId, io_error};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadedRecord {
    Record {
        /// It.
        record: Box<Record>,
        /// The original tool took it back.
        undone: bool,
        /// This user's relay wrote it in this checkout.
        own: bool,
    },
    /// A transaction of the original tool that was never decided on.
    Pending,
}

/// Which records there are, in two numbers: as many of the same names have the same, others hardly ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordNames {
    pub(crate) count: u64,
    pub(crate) sum: u64,
}

impl RecordNames {
    /// With one more. Whether it was taken back since does not matter.
    pub(crate) fn with(self, place: &RecordLocation) -> RecordNames {
        let name = match place {
            RecordLocation::Own(id) | RecordLocation::Undone(id) => id.as_u64(),
            RecordLocation::Foreign(name) => {
                // FNV-1a.
                let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                name.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
            }
        };
        RecordNames { count: self.count.saturating_add(1), sum: self.sum.wrapping_add(name) }
    }
}

/// The open directories with records.
pub(crate) struct RecordStore<'l> {
    ledger: &'l Ledger,
    fs: &'l dyn Fs,
    state: Option<StateDir>,
    undone: Option<FsDir>,
    foreign: Option<FsDir>,
}

impl RecordLocation {
    /// The path beneath the root.
    pub(crate) fn path(&self) -> String {
        match self {
            RecordLocation::Own(id) => format!("{}/{id}.yml", STATE_DIR_NAME),
            RecordLocation::Undone(id) => {
                format!("{}/{}/{id}.yml", STATE_DIR_NAME, StateSubdir::Undone.name())
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
    pub(crate) fn open(ledger: &'l Ledger) -> LedgerResult<RecordStore<'l>> {
        let fs = &*ledger.fs;
        let state = ledger.state()?;
        let undone = state.as_ref().map(|state| state.open_subdir(StateSubdir::Undone)).transpose();
        let undone = undone.context("open", ".relaycode/undone")?.flatten();
        // Whatever else is called `.relay` is none of ours.
        let foreign = if_directory(fs.open_dir(ledger.root.dir(), FOREIGN)).context("open", FOREIGN)?;
        Ok(RecordStore { ledger, fs, state, undone, foreign })
    }

    pub(crate) fn ledger(&self) -> &'l Ledger {
        self.ledger
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Option<&StateDir> {
        self.state.as_ref()
    }

    /// Shows the place of every record, in no order and without keeping any.
    pub(crate) fn for_each_location(&self, see: &mut dyn FnMut(RecordLocation)) -> LedgerResult<()> {
        let own = |name: &str| state_dir::record_id(name).map(RecordLocation::Own);
        let undone = |name: &str| state_dir::record_id(name).map(RecordLocation::Undone);
        let foreign = |name: &str| is_foreign(name).then(|| RecordLocation::Foreign(name.to_string()));
        type Locate<'a> = &'a dyn Fn(&str) -> Option<RecordLocation>;
        let shelves: [(Option<&FsDir>, &str, Locate<'_>); 3] = [
            (self.state.as_ref().map(StateDir::dir), STATE_DIR_NAME, &own),
            (self.undone.as_ref(), ".relaycode/undone", &undone),
            (self.foreign.as_ref(), FOREIGN, &foreign),
        ];
        for (dir, path, locate) in shelves {
            let Some(dir) = dir else { continue };
            let file = &mut |name: &str, kind| {
                if let Some(place) = locate(name).filter(|_| kind == FsKind::File) {
                    see(place);
                }
            };
            self.fs.for_each_name(dir, file).context("list", path)?;
        }
        Ok(())
    }

    /// Which there are.
    pub(crate) fn names(&self) -> LedgerResult<RecordNames> {
        let mut names = RecordNames::default();
        self.for_each_location(&mut |place| names = names.with(&place))?;
        Ok(names)
    }

    /// Where the record of a transaction is, if it is in `.relaycode/`.
    pub(crate) fn locate(&self, id: TxId) -> LedgerResult<Option<RecordLocation>> {
        for place in [RecordLocation::Own(id), RecordLocation::Undone(id)] {
            let Some((dir, name)) = self.file_of(&place) else { continue };
            if self.fs.exists(dir, &name).map_err(cannot_read(&place))? {
                return Ok(Some(place));
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
    pub(crate) fn read_bytes(&self, place: &RecordLocation) -> LedgerResult<Option<Vec<u8>>> {
        let Some((dir, name)) = self.file_of(place) else { return Ok(None) };
        match if_found(self.fs.read(dir, &name, RECORD_BYTES as u64)) {
            Err(error) if is_too_long(&error) => {
                let reason = format!("it has more than {RECORD_BYTES} bytes");
                Err(LedgerError::Damaged { path: place.path(), reason })
            }
            read => Ok(read.map_err(cannot_read(place))?.map(|(bytes, _)| bytes)),
        }
    }

    /// The number that a record's file says it has, damaged or not; `None` if it says none or is not there.
    /// Read in pieces of whole lines: the file may be as long as all that its transaction changed.
    pub(crate) fn read_number(&self, place: &RecordLocation) -> LedgerResult<Option<u64>> {
        let Some((dir, name)) = self.file_of(place) else { return Ok(None) };
        let stat = if_found(self.fs.stat(dir, &name)).map_err(cannot_read(place))?;
        if stat.is_none_or(|stat| stat.len > RECORD_BYTES as u64) {
            return Ok(None);
        }
        let mut lines = Vec::new();
        let mut at = 0;
        loop {
            let Some(piece) =
                if_found(self.fs.read_range(dir, &name, at, PIECE)).map_err(cannot_read(place))?
            else {
                return Ok(None);
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
    pub(crate) fn load(&self, place: &RecordLocation) -> LedgerResult<Option<LoadedRecord>> {
        let Some(bytes) = self.read_bytes(place)? else { return Ok(None) };
        let path = place.path();
        if let (true, Some(id)) = (file::is_relay_record(&bytes), place.id()) {
            let record = Box::new(super::read(&bytes, &path, id)?);
            let own = self.ledger.is_own_record(place, &bytes);
            return Ok(Some(LoadedRecord::Record { record, undone: false, own }));
        }
        let mut loaded = original::read(&bytes, &path, place.id())?;
        if let LoadedRecord::Record { undone, .. } = &mut loaded {
            *undone |= matches!(place, RecordLocation::Undone(_));
        }
        Ok(Some(loaded))
    }

    /// Reads a record that was decided on.
    pub(crate) fn find(&self, place: &RecordLocation) -> LedgerResult<Option<Box<Record>>> {
        Ok(match self.load(place)? {
            Some(LoadedRecord::Record { record, .. }) => Some(record),
            Some(LoadedRecord::Pending) | None => None,
        })
    }
}

fn is_foreign(name: &str) -> bool {
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.ends_with(".pending"))
}

fn cannot_read(place: &RecordLocation) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    io_error("read", &place.path())
}
