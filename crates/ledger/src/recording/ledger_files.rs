//! What the ledger itself had before a command, should the command remove `.relaycode`: its records and blobs come
//! back from the user's own copy, and what that copy does not hold is secured like the project's files.
//!
//! Only what was taken away by others is brought back. relay itself never removes a record or its lock file; as long as
//! that lock is the same file, whatever else is missing was tidied up by relay.

use std::collections::{BTreeMap, HashSet};
use std::io;

use relaycode_durable::{DirMode, FileMode, Fs, FsDir, RenameMode, if_found};
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{
    EntryKind, EntryStat, ImageLocation, ImageReader, ImageWriter, Omission, Snapshot, WalkCaps, WalkError,
    WalkRule, WalkStep,
};
use serde::{Deserialize, Serialize};

use crate::disk::{STATE_DIR_NAME, StateDir, StateSubdir, split_parent, state_dir};
use crate::recording::adopt::AWAY;
use crate::recording::store;
use crate::{IoContext, Ledger, LedgerResult, TxId, io_error};

/// Bytes that are copied of what only the ledger's own directory has.
const OWN_BYTES: u64 = 64 * 1024 * 1024;
/// Files of it that are looked at.
const OWN_FILES: usize = 20_000;
/// Entries of it that are looked at.
const OWN_ENTRIES: usize = 200_000;
/// Directories within directories.
const DEPTH: usize = 8;
/// The project's lock.
const LOCK: &str = "lock";
/// What is made anew, or is nobody's loss.
const NOT_KEPT: [&str; 5] = [LOCK, "index", ".gitignore", store::NAME, AWAY];

/// What the ledger had.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LedgerInventory {
    /// Its lock file.
    lock: Option<EntryStat>,
    /// The transactions that it had a record of.
    records: Vec<TxId>,
    /// Files that the copy does not have, beneath its directory.
    files: BTreeMap<String, InventoryFile>,
    /// Its directories: they change with every name in them.
    directories: Vec<Option<EntryStat>>,
}

/// What the file system says of the ledger's directories.
fn stat_directories(ledger: &Ledger, state: &StateDir) -> LedgerResult<Vec<Option<EntryStat>>> {
    let stat = |at: &FsDir, name: &str| -> io::Result<Option<EntryStat>> {
        Ok(if_found(state.fs().stamp(at, name.as_ref()))?.map(|stamp| EntryStat::from_stamp(&stamp)))
    };
    let own = [stat(ledger.root.dir(), STATE_DIR_NAME), stat(state.dir(), LOCK)];
    let below = StateSubdir::ALL.iter().map(|sub| stat(state.dir(), sub.name()));
    own.into_iter().chain(below).collect::<io::Result<_>>().context("look at", STATE_DIR_NAME)
}

/// A file of the ledger's own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct InventoryFile {
    stat: EntryStat,
    /// Where its bytes are; `None`: they were not secured.
    image: Option<ImageLocation>,
}

/// What became of the ledger itself while a command ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerRestoreOutcome {
    /// The command removed the ledger's directory.
    pub removed: bool,
    /// Records that came back.
    pub restored: usize,
    /// Records that are gone for good.
    pub lost: usize,
}

impl InventoryFile {
    fn read(&self, images: &ImageReader<'_>) -> io::Result<Option<Vec<u8>>> {
        self.image.map_or(Ok(None), |location| images.read(location, self.stat.size))
    }
}

impl LedgerInventory {
    /// Secures what the ledger has, as far as `room` bytes go. Of what is in `known` nothing is read again.
    pub(super) fn secure(
        ledger: &Ledger,
        state: &StateDir,
        keeping: &mut ImageWriter,
        room: u64,
        known: &LedgerInventory,
    ) -> LedgerResult<LedgerInventory> {
        let fs = state.fs();
        // What cannot be copied there is copied here.
        let _ = ledger.catch_up_copy();
        let copied = ledger.copied_names().unwrap_or_default();
        let directories = stat_directories(ledger, state)?;
        let caps = WalkCaps { entries: OWN_ENTRIES, depth: DEPTH };
        let tree =
            Snapshot::take(fs, state.dir(), &mut LedgerFilesRule, caps, None, (0, 0)).map_err(|error| {
                io_error("look at", STATE_DIR_NAME)(match error {
                    WalkError::Root(error) => error,
                    WalkError::Stopped => io::ErrorKind::Interrupted.into(),
                })
            })?;
        let (mut records, mut files) = (Vec::new(), Vec::new());
        tree.for_each(&mut |path, id| {
            let stat = tree.stat(id);
            let Ok(path) = std::str::from_utf8(path) else { return };
            if stat.kind != EntryKind::File {
                return;
            }
            let (parent, name) = split_parent(path);
            if parent.is_empty() || parent == StateSubdir::Undone.name() {
                records.extend(state_dir::record_id(name));
            }
            let is_copied = path.matches('/').count() < 2 && copied.contains(name);
            if !is_copied && files.len() < OWN_FILES {
                files.push((path.to_string(), *stat));
            }
        });
        records.sort_unstable();
        files.sort_by_key(|(path, stat)| (restore_rank(path), stat.size));
        let lock = fs.stamp(state.dir(), LOCK.as_ref()).ok().map(|stamp| EntryStat::from_stamp(&stamp));
        let mut before = LedgerInventory { lock, records, files: BTreeMap::new(), directories };
        let mut room = room.min(OWN_BYTES);
        for (path, stat) in files {
            let mut file = InventoryFile { stat, image: None };
            let same = known.files.get(&path).filter(|known| known.stat.is_same_record(&stat));
            if let Some(same) = same.filter(|known| known.image.is_some()) {
                file = *same;
                room -= stat.size.min(room);
            } else if stat.size <= room {
                let (parent, name) = split_parent(&path);
                let dir = if parent.is_empty() {
                    Ok(state.dir().clone())
                } else {
                    fs.open_dir(state.dir(), parent)
                };
                if let Some(saved) = dir.ok().and_then(|dir| keeping.save(&dir, name, stat, room).ok()) {
                    file = InventoryFile { stat: saved.stat, image: Some(saved.location) };
                    room -= file.stat.size.min(room);
                }
            }
            before.files.insert(path, file);
        }
        Ok(before)
    }

    /// Whether anything was looked at.
    pub(super) fn is_known(&self) -> bool {
        !self.directories.is_empty()
    }

    /// Whether nothing was made or removed there since, as far as its directories tell; `began` is when that was last
    /// certain.
    pub(super) fn is_current(
        &self,
        ledger: &Ledger,
        state: &StateDir,
        began: (i64, u32),
    ) -> LedgerResult<bool> {
        let is_old = |stat: &Option<EntryStat>| stat.is_none_or(|stat| !stat.is_racy(began));
        Ok(self.directories.iter().all(is_old) && self.directories == stat_directories(ledger, state)?)
    }

    /// Whether nothing has to be brought back.
    pub(super) fn is_whole(
        &self,
        ledger: &Ledger,
        state: &StateDir,
        began: (i64, u32),
    ) -> LedgerResult<bool> {
        if !self.is_known() || self.is_current(ledger, state, began)? {
            return Ok(true);
        }
        let now =
            if_found(state.fs().stamp(state.dir(), LOCK.as_ref())).context("look at", STATE_DIR_NAME)?;
        let is_same =
            now.zip(self.lock).is_some_and(|(now, was)| EntryStat::from_stamp(&now).is_same_record(&was));
        Ok(is_same && self.count_missing(state)? == 0)
    }

    /// Brings back what is missing. Under the project's lock; may be done again after it was cut short.
    pub(super) fn restore_missing(
        &self,
        ledger: &Ledger,
        state: &StateDir,
        images: &ImageReader<'_>,
        scratch: &FsDir,
    ) -> LedgerResult<(LedgerRestoreOutcome, Vec<Omission>)> {
        let Some(lock) = self.lock else { return Ok(Default::default()) };
        let fs = state.fs();
        let now = fs.stamp(state.dir(), LOCK.as_ref()).context("look at", STATE_DIR_NAME)?;
        let removed = !EntryStat::from_stamp(&now).is_same_record(&lock);
        let missing = self.count_missing(state)?;
        if !removed && missing == 0 {
            return Ok(Default::default());
        }
        if missing > 0 {
            ledger.restore_missing_records(state)?;
        }
        let mut gone = (0, 0);
        for (path, known) in &self.files {
            let is_record = state_dir::record_id(split_parent(path).1).is_some();
            if !(removed || is_record) || path_exists(fs, state.dir(), path).context("look at", path)? {
                continue;
            }
            match known.read(images).context("read", path)? {
                Some(bytes) => write_file(state, scratch, path, &bytes, known.stat.mode)
                    .context("write", &state_dir::path_of(path))?,
                None if is_record => {}
                None => gone = (gone.0 + 1, gone.1 + known.stat.size),
            }
        }
        fs.sync_all(state.dir()).context("write", STATE_DIR_NAME)?;
        let lost = self.count_missing(state)?;
        let history = LedgerRestoreOutcome { removed, restored: missing - lost.min(missing), lost };
        let left = [
            (format!("was removed, and with it {lost} earlier records of which there is no copy"), lost, 0),
            ("was removed, and with it files that earlier changes had displaced".to_string(), gone.0, gone.1),
        ];
        let path = format!("{STATE_DIR_NAME}/");
        let left = left.into_iter().filter(|(_, files, _)| *files > 0);
        let omission = |(reason, files, bytes)| Omission { path: path.clone(), reason, files, bytes };
        Ok((history, left.map(omission).collect()))
    }

    /// How many of the records are not there.
    fn count_missing(&self, state: &StateDir) -> LedgerResult<usize> {
        if self.records.is_empty() {
            return Ok(0);
        }
        let mut there: HashSet<TxId> = HashSet::new();
        let mut see = || -> io::Result<()> {
            let undone = state.open_subdir(StateSubdir::Undone)?;
            for dir in [Some(state.dir()), undone.as_ref()].into_iter().flatten() {
                state.fs().for_each_name(dir, &mut |name, _| there.extend(state_dir::record_id(name)))?;
            }
            Ok(())
        };
        see().context("list", STATE_DIR_NAME)?;
        Ok(self.records.iter().filter(|id| !there.contains(id)).count())
    }
}

/// What goes last: files that were displaced are the many, and a text that was shown to a model is the least.
fn restore_rank(path: &str) -> u8 {
    match path.split_once('/') {
        Some(("seen", _)) => 2,
        Some(("tx", rest)) if rest.contains(".done/") => 1,
        _ => 0,
    }
}

/// Everything but what is made anew.
struct LedgerFilesRule;

impl WalkRule for LedgerFilesRule {
    fn step(&mut self, _at: WalkDirectory<'_>, _name: &[u8], _stat: &EntryStat) -> WalkStep {
        WalkStep::Take(0)
    }

    fn skips(&self, at: WalkDirectory<'_>, name: &[u8]) -> bool {
        at.path.is_empty()
            && (name.starts_with(b"index") || NOT_KEPT.iter().any(|not_kept| name == not_kept.as_bytes()))
    }
}

/// Whether something stands at a path.
fn path_exists(fs: &dyn Fs, at: &FsDir, path: &str) -> io::Result<bool> {
    let (parent, name) = split_parent(path);
    let found = if parent.is_empty() {
        fs.stat(at, name)
    } else {
        fs.open_dir(at, parent).and_then(|dir| fs.stat(&dir, name))
    };
    Ok(if_found(found)?.is_some())
}

/// Writes a file of the ledger's own, with the directories above it.
fn write_file(state: &StateDir, scratch: &FsDir, path: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
    const NEW: &str = "own";
    let fs = state.fs();
    let (parent, name) = split_parent(path);
    let mut dir = state.dir().clone();
    for part in parent.split('/').filter(|part| !part.is_empty()) {
        fs.make_dir_if_missing(&dir, part, DirMode::Private)?;
        dir = fs.open_dir(&dir, part)?;
    }
    fs.remove_if_exists(scratch, NEW)?;
    let file = fs.create(scratch, NEW, FileMode::Private)?;
    fs.write(&file, bytes)?;
    fs.set_mode(&file, mode)?;
    fs.rename(scratch, NEW, &dir, name, RenameMode::Replace)
}
