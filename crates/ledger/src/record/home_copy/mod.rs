//! The copy of a ledger in the user's own directory, `~/.relaycode/ledgers/<key>/`, so that whoever
//! cleans the project's directory does not take "undo anything" away.
//!
//! Records and blobs are copied after they are durable in the project; a marker says how far that
//! is, and what is missing is copied by the next command. Nothing is ever taken out of the copy to
//! match the project. Every file in it is written under another name first.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use relaycode_durable::fs::too_long_error;
use relaycode_durable::{
    DirMode, FileMode, Fs, FsDir, FsKind, RenameMode, atomic, if_found, if_new, is_too_long, pick_entries,
};

use crate::disk::{Digest, StateDir, StateSubdir, state_dir};
use crate::log::{IndexLine, RevertedIds, UndoState, needed_blobs};
use crate::record::settle::move_record;
use crate::record::{PIECE, RECORD_BYTES, RecordLocation, RecordStore, blobs, file};
use crate::seal::SealPurpose;
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId, io_error};

/// The directory of all copies, in the user's own.
const LEDGERS: &str = "ledgers";
/// Hexadecimal digits of the root's digest that name its copy.
const KEY_DIGITS: usize = 16;
/// The file that names the root.
const ROOT: &str = "root";
/// The file with the number of the last record that was copied.
const MARKER: &str = "copied";
/// Stands in `.relaycode/` while records are brought back, so that a crash is not the end of it.
const RESTORING: &str = "restoring";
/// Up to so many files are made durable one by one; more of them all at once.
const SYNCED_SINGLY: usize = 16;
/// Bytes of a file that names a path or a number.
const SMALL: u64 = 64 * 1024;

/// The open copy.
struct HomeCopy<'l> {
    fs: &'l dyn Fs,
    dir: FsDir,
    blobs: FsDir,
    undone: FsDir,
}

/// What the copy has and the project does not.
struct LostRecords<'l> {
    copy: HomeCopy<'l>,
    records: Vec<TxId>,
    undone: Vec<TxId>,
}

/// A record to be copied.
struct CopyRequest {
    place: RecordLocation,
    blobs: Vec<Digest>,
    /// The record itself knows more of them.
    more: bool,
}

impl Ledger {
    /// Copies the records that the copy does not have yet, with their blobs; says how many.
    pub(crate) fn catch_up_copy(&self) -> LedgerResult<usize> {
        if self.settings.home.is_none() {
            return Ok(0);
        }
        let Some(newest) = self.with_index(|index| Ok(index.last().map(|line| line.number)))? else {
            return Ok(0);
        };
        let Some(copy) = self.open_copy(true)? else { return Ok(0) };
        let marker = copy.read_marker()?;
        if marker.is_some_and(|marker| marker >= newest) {
            return Ok(0);
        }
        let shelf = RecordStore::open(self)?;
        let lines = self.with_index(|index| {
            let mut lines: Vec<IndexLine> = Vec::new();
            index.for_each_newest_first(&mut |line| {
                if marker.is_some_and(|marker| line.number <= marker) {
                    return ControlFlow::Break(());
                }
                lines.push(line);
                ControlFlow::Continue(())
            })?;
            Ok(lines)
        })?;
        let mut wanted = Vec::new();
        for line in lines.into_iter().filter(|line| line.damage.is_none() && line.foreign.is_none()) {
            if let Some(place) = line.uuid.map(|id| shelf.locate(id)).transpose()?.flatten() {
                wanted.push(CopyRequest { place, blobs: line.blobs, more: line.more_blobs });
            }
        }
        self.note_checkout()?;
        copy.copy_records(self, &shelf, &wanted)?;
        copy.write_marker(newest)?;
        Ok(wanted.len())
    }

    /// Brings everything back from the copy if the project's ledger has lost all of its records;
    /// says how many records came back.
    pub fn restore_from_copy(&self) -> LedgerResult<usize> {
        let Some(lost) = self.lost_records()? else { return Ok(0) };
        let state = self.make_state()?;
        let _project = self.lock_project(&state)?;
        self.restore_and_settle(&lost.copy, &state, &lost.records, &lost.undone)?;
        Ok(lost.records.len() + lost.undone.len())
    }

    /// Whether the project's ledger has lost all of its records, and the copy has some. Nothing is touched.
    pub fn has_lost_records(&self) -> LedgerResult<bool> {
        Ok(self.lost_records()?.is_some())
    }

    fn lost_records(&self) -> LedgerResult<Option<LostRecords<'_>>> {
        let unfinished =
            self.state()?.map_or(Ok(false), |state| exists(state.fs(), state.dir(), RESTORING))?;
        let shelf = RecordStore::open(self)?;
        // Usually the newest is there, and nobody has to look at all names.
        let mut any = self.has_newest_record(&shelf).unwrap_or(false);
        if !any {
            shelf.for_each_location(&mut |place| any |= !matches!(place, RecordLocation::Foreign(_)))?;
        }
        if any && !unfinished {
            return Ok(None);
        }
        let Some(copy) = self.open_copy(false)? else { return Ok(None) };
        let (records, undone) = (copy.list_records(&copy.dir)?, copy.list_records(&copy.undone)?);
        let is_empty = records.is_empty() && undone.is_empty();
        Ok((!is_empty).then_some(LostRecords { copy, records, undone }))
    }

    /// Gives back everything that the copy has. Under the project's lock.
    pub(crate) fn restore_missing_records(&self, state: &StateDir) -> LedgerResult<()> {
        let Some(copy) = self.open_copy(false)? else { return Ok(()) };
        let (records, undone) = (copy.list_records(&copy.dir)?, copy.list_records(&copy.undone)?);
        self.restore_and_settle(&copy, state, &records, &undone)
    }

    fn restore_and_settle(
        &self,
        copy: &HomeCopy<'_>,
        state: &StateDir,
        records: &[TxId],
        undone: &[TxId],
    ) -> LedgerResult<()> {
        copy.restore_records(state, records, undone)?;
        self.accept_restored(copy, records)?;
        let taken_back = self.with_index(|index| {
            let mut taken_back = RevertedIds::default();
            let mut undone = Vec::new();
            index.for_each_newest_first(&mut |line| {
                if taken_back.observe_line(&line) == UndoState::Undone {
                    undone.extend(line.uuid);
                }
                ControlFlow::Continue(())
            })?;
            Ok(undone)
        })?;
        for id in taken_back {
            move_record(state, id, true)?;
        }
        state.fs().remove_if_exists(state.dir(), RESTORING).context("remove", RESTORING)
    }

    /// What another checkout at the same path had written counts here, too: it came back from the user's own directory. What
    /// nobody had sealed does not become more by that.
    fn accept_restored(&self, copy: &HomeCopy<'_>, records: &[TxId]) -> LedgerResult<()> {
        let seals = self.seals_of_all_checkouts()?;
        let Some((_, former)) = seals.split_first() else { return Ok(()) };
        for id in records {
            let name = state_dir::record_name(*id);
            let Ok((bytes, _)) = copy.fs.read(&copy.dir, &name, RECORD_BYTES as u64) else { continue };
            if self.is_own_record(&RecordLocation::Own(*id), &bytes) {
                continue;
            }
            if former.iter().any(|seal| file::has_seal(&bytes, seal.hasher(SealPurpose::Record))) {
                self.accept_record(*id, Digest::of(&bytes))?;
            }
        }
        Ok(())
    }

    /// The names of the records and blobs that the copy has.
    pub(crate) fn copied_names(&self) -> LedgerResult<HashSet<String>> {
        let mut names = HashSet::new();
        let Some(copy) = self.open_copy(false)? else { return Ok(names) };
        let file = |name: &str, kind| (kind == FsKind::File).then(|| name.to_string());
        for dir in [&copy.dir, &copy.undone, &copy.blobs] {
            names.extend(pick_entries(copy.fs, dir, file).context("list", LEDGERS)?);
        }
        Ok(names)
    }

    /// The directory of the copy and its path, for what is kept beside it; `None` if there is none.
    pub(crate) fn copy_directory(&self, make: bool) -> LedgerResult<Option<(FsDir, String)>> {
        let Some(home) = &self.settings.home else { return Ok(None) };
        let path = format!("{}/{LEDGERS}/{}", home.display(), self.copy_key());
        Ok(self.open_copy(make)?.map(|copy| (copy.dir, path)))
    }

    fn copy_key(&self) -> String {
        let key = Digest::of(self.path.as_os_str().as_encoded_bytes()).to_string();
        key[..KEY_DIGITS].to_string()
    }

    /// The blobs of the copy, if there is one.
    pub(crate) fn copied_blobs(&self) -> LedgerResult<Option<FsDir>> {
        Ok(self.open_copy(false)?.map(|copy| copy.blobs))
    }

    /// Opens the copy; `None` if there is none, or none is wanted.
    fn open_copy(&self, make: bool) -> LedgerResult<Option<HomeCopy<'_>>> {
        let Some(home) = &self.settings.home else { return Ok(None) };
        let fs = &*self.fs;
        let root = self.path.to_string_lossy();
        let key = &self.copy_key();
        let mut shown = home.display().to_string();
        let Some(home) = open_home(fs, home, make).context("open", &shown)? else { return Ok(None) };
        let mut at = home;
        for name in [LEDGERS, key] {
            shown = format!("{shown}/{name}");
            match open_in(fs, &at, name, make).context("open", &shown)? {
                Some(dir) => at = dir,
                None => return Ok(None),
            }
        }
        let failed = || io_error("open", &shown);
        let subdir = |sub: StateSubdir| {
            open_in(fs, &at, sub.name(), make).map_err(io_error("open", &format!("{shown}/{}", sub.name())))
        };
        match if_found(fs.read(&at, ROOT, SMALL)).map_err(failed())? {
            // Another directory has the same key.
            Some((bytes, _)) if bytes != root.as_bytes() => return Ok(None),
            Some(_) => {}
            None if make => write(fs, &at, (&at, ROOT), root.as_bytes(), true).map_err(failed())?,
            None => return Ok(None),
        }
        let (Some(blobs), Some(undone)) = (subdir(StateSubdir::Blobs)?, subdir(StateSubdir::Undone)?) else {
            return Ok(None);
        };
        Ok(Some(HomeCopy { fs, dir: at, blobs, undone }))
    }
}

impl HomeCopy<'_> {
    fn read_marker(&self) -> LedgerResult<Option<u64>> {
        Ok(if_found(self.fs.read(&self.dir, MARKER, SMALL))
            .context("read", MARKER)?
            .and_then(|(bytes, _)| String::from_utf8_lossy(&bytes).trim().parse().ok()))
    }

    fn write_marker(&self, number: u64) -> LedgerResult<()> {
        let text = format!("{number}\n");
        write(self.fs, &self.dir, (&self.dir, MARKER), text.as_bytes(), true).context("write", MARKER)
    }

    /// Takes records and their blobs into the copy; durable when this returns.
    fn copy_records(
        &self,
        ledger: &Ledger,
        shelf: &RecordStore<'_>,
        wanted: &[CopyRequest],
    ) -> LedgerResult<()> {
        let kept = ledger.open_subdir(StateSubdir::Blobs)?;
        let files: usize = wanted.iter().map(|wanted| 1 + wanted.blobs.len()).sum();
        let singly = files <= SYNCED_SINGLY && !wanted.iter().any(|wanted| wanted.more);
        for wanted in wanted {
            let mut needed: BTreeSet<Digest> = wanted.blobs.iter().copied().collect();
            if wanted.more
                && let Some(record) = shelf.find(&wanted.place)?
            {
                needed.extend(needed_blobs(&record));
            }
            for digest in needed {
                self.copy_blob(kept.as_ref(), digest, singly)?;
            }
            self.copy_record(shelf, &wanted.place, singly)?;
        }
        if singly {
            for dir in [&self.blobs, &self.undone, &self.dir] {
                self.fs.sync_dir(dir).context("sync", LEDGERS)?;
            }
            return Ok(());
        }
        self.fs.sync_all(&self.dir).context("sync", LEDGERS)
    }

    /// Takes a record, in pieces: it may be as long as all of its files together. Once it has its name it does
    /// not change any more.
    fn copy_record(&self, shelf: &RecordStore<'_>, place: &RecordLocation, singly: bool) -> LedgerResult<()> {
        let (Some((from, from_name)), Some(id)) = (shelf.file_of(place), place.id()) else { return Ok(()) };
        // What the original tool took back is told by where its record lies.
        let aside = matches!(place, RecordLocation::Undone(_))
            && shelf.read_bytes(place)?.is_some_and(|bytes| !file::is_relay_record(&bytes));
        let to = if aside { &self.undone } else { &self.dir };
        let name = state_dir::record_name(id);
        let Some(stat) = if_found(self.fs.stat(from, &from_name)).context("read", &name)? else {
            return Ok(());
        };
        if stat.kind != FsKind::File || stat.len > RECORD_BYTES as u64 {
            return Ok(());
        }
        let mut make = |put: &mut atomic::PieceSink<'_>| -> io::Result<()> {
            let mut at = 0;
            loop {
                let piece = self.fs.read_range(from, &from_name, at, PIECE)?;
                if piece.is_empty() {
                    return Ok(());
                }
                at += piece.len() as u64;
                if at > RECORD_BYTES as u64 {
                    return Err(too_long_error());
                }
                put(&piece)?;
            }
        };
        write_pieces(self.fs, &self.dir, (to, &name), &mut make, singly).context("copy", &name)
    }

    /// Takes a blob; one that is gone or damaged already is none that could be copied.
    fn copy_blob(&self, kept: Option<&FsDir>, digest: Digest, singly: bool) -> LedgerResult<()> {
        let name = digest.to_string();
        let path = format!("blobs/{name}");
        match blobs::get(self.fs, &self.blobs, digest) {
            Ok(Some(_)) => return Ok(()),
            // One that is damaged is copied again.
            Ok(None) | Err(LedgerError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        let Some(kept) = kept else { return Ok(()) };
        match blobs::get(self.fs, kept, digest) {
            Ok(Some(bytes)) => {
                write(self.fs, &self.dir, (&self.blobs, &name), &bytes, singly).context("write", &path)
            }
            Ok(None) | Err(LedgerError::Damaged { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The records in one of the copy's directories.
    fn list_records(&self, dir: &FsDir) -> LedgerResult<Vec<TxId>> {
        let id = |name: &str, kind| state_dir::record_id(name).filter(|_| kind == FsKind::File);
        pick_entries(self.fs, dir, id).context("list", LEDGERS)
    }

    /// Gives records and all blobs back to the project; durable when this returns.
    fn restore_records(&self, state: &StateDir, records: &[TxId], undone: &[TxId]) -> LedgerResult<()> {
        let write_failed = |path: &str| io_error("write", &state_dir::path_of(path));
        if_new(self.fs.create(state.dir(), RESTORING, FileMode::Private)).map_err(write_failed(RESTORING))?;
        self.fs.sync_dir(state.dir()).map_err(write_failed(RESTORING))?;
        let scratch = state.require_subdir(StateSubdir::Transactions).map_err(write_failed("tx"))?;
        let blobs = state.require_subdir(StateSubdir::Blobs).map_err(write_failed("blobs"))?;
        let aside = state.require_subdir(StateSubdir::Undone).map_err(write_failed("undone"))?;
        for blob in blobs::list(self.fs, &self.blobs).context("list", LEDGERS)? {
            if let Ok(Some(bytes)) = blobs::get(self.fs, &self.blobs, blob.digest) {
                let name = blob.digest.to_string();
                write(self.fs, &scratch, (&blobs, &name), &bytes, false).map_err(write_failed(&name))?;
            }
        }
        for (from, ids, to) in [(&self.dir, records, state.dir()), (&self.undone, undone, &aside)] {
            for id in ids {
                let name = state_dir::record_name(*id);
                // An attempt that was cut short may have put it there, and not whole.
                let to = if exists(self.fs, &aside, &name)? { &aside } else { to };
                let bytes = match self.fs.read(from, &name, RECORD_BYTES as u64) {
                    Ok((bytes, _)) => bytes,
                    // Nothing that relay copied there.
                    Err(error) if is_too_long(&error) => continue,
                    Err(error) => return Err(io_error("read", &name)(error)),
                };
                write(self.fs, &scratch, (to, &name), &bytes, false).map_err(write_failed(&name))?;
            }
        }
        self.fs.sync_all(state.dir()).map_err(write_failed(""))
    }
}

/// Writes a file by way of another name in `scratch`.
fn write(fs: &dyn Fs, scratch: &FsDir, target: (&FsDir, &str), bytes: &[u8], synced: bool) -> io::Result<()> {
    write_pieces(fs, scratch, target, &mut |put| put(bytes), synced)
}

fn write_pieces(
    fs: &dyn Fs,
    scratch: &FsDir,
    target: (&FsDir, &str),
    make: &mut atomic::PieceSource<'_>,
    synced: bool,
) -> io::Result<()> {
    let name = format!("scratch-{}", TxId::random());
    if synced {
        atomic::stage_pieces(fs, (scratch, &name), make)?;
    } else {
        let file = fs.create(scratch, &name, FileMode::Private)?;
        make(&mut |piece| fs.write(&file, piece))?;
    }
    fs.rename(scratch, &name, target.0, target.1, RenameMode::Replace)
}

fn exists(fs: &dyn Fs, dir: &FsDir, name: &str) -> LedgerResult<bool> {
    fs.exists(dir, name).context("read", name)
}

/// Opens a directory, making it private if it is not there and may be made.
fn open_in(fs: &dyn Fs, at: &FsDir, name: &str, make: bool) -> io::Result<Option<FsDir>> {
    let found = if_found(fs.open_dir(at, name))?;
    if found.is_some() || !make {
        return Ok(found);
    }
    if fs.make_dir_if_missing(at, name, DirMode::Private)? {
        fs.sync_dir(at)?;
    }
    fs.open_dir(at, name).map(Some)
}

fn open_home(fs: &dyn Fs, home: &Path, make: bool) -> io::Result<Option<FsDir>> {
    let found = if_found(fs.open_root(home))?;
    if found.is_some() || !make {
        return Ok(found);
    }
    let (Some(parent), Some(name)) = (home.parent(), home.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    open_in(fs, &fs.open_root(parent)?, name, true)
}

#[cfg(test)]
mod tests;
