//! Where recordings have their directories: in the user's own, beside the copy of the ledger, because a command may
//! remove anything in the project. In the project itself only if the user has none.

use std::io;

use relaycode_durable::{DirMode, FileMode, Fs, FsDir, FsKind, FsLock, if_found, pick_entries};

use crate::disk::{StateDir, state_dir};
use crate::recording::{LOCK, RUNNING, manifest};
use crate::{IoContext, Ledger, LedgerResult, TxId};

/// The name of the directory of all recordings.
pub(super) const NAME: &str = "recordings";

/// A directory that has, or may have, recordings.
#[derive(Clone)]
pub(super) struct RecordingStore {
    parent: FsDir,
    /// Its path, for messages.
    display_path: String,
    /// It is not in the project.
    pub(super) is_outside: bool,
}

/// A recording's directory and lock.
pub(super) struct RecordingDirectory {
    pub(super) id: TxId,
    pub(super) dir: FsDir,
    pub(super) lock: Option<FsLock>,
    store: RecordingStore,
}

impl RecordingStore {
    /// The one in the user's own directory; `None` if there is none.
    pub(super) fn outside_project(ledger: &Ledger, make: bool) -> LedgerResult<Option<RecordingStore>> {
        let beside = ledger.copy_directory(make)?;
        Ok(beside.map(|(above, path)| RecordingStore {
            parent: above,
            display_path: format!("{path}/{NAME}"),
            is_outside: true,
        }))
    }

    pub(super) fn inside_project(state: &StateDir) -> RecordingStore {
        RecordingStore {
            parent: state.dir().clone(),
            display_path: state_dir::path_of(NAME),
            is_outside: false,
        }
    }

    /// The path of a recording's directory, for messages.
    pub(super) fn path_of(&self, id: TxId) -> String {
        format!("{}/{id}", self.display_path)
    }

    /// The recordings in it, dead or alive.
    pub(super) fn list(&self, fs: &dyn Fs) -> LedgerResult<Vec<TxId>> {
        let Some(all) = if_found(fs.open_dir(&self.parent, NAME)).context("open", &self.display_path)? else {
            return Ok(Vec::new());
        };
        let id = |name: &str, kind| name.parse().ok().filter(|_: &TxId| kind == FsKind::Dir);
        let mut ids = pick_entries(fs, &all, id).context("list", &self.display_path)?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// The directory of all of them, which must be there.
    pub(super) fn open_all(&self, fs: &dyn Fs) -> io::Result<FsDir> {
        fs.open_dir(&self.parent, NAME)
    }

    fn make_entry(&self, fs: &dyn Fs, id: TxId) -> io::Result<FsDir> {
        open_or_make(fs, &open_or_make(fs, &self.parent, NAME)?, &id.to_string())
    }

    /// Removes a directory of one with all that is in it; the manifest first, because without one there is nothing to
    /// adopt.
    fn clear(&self, fs: &dyn Fs, id: TxId) -> io::Result<()> {
        let Some(all) = if_found(fs.open_dir(&self.parent, NAME))? else { return Ok(()) };
        let Some(dir) = if_found(fs.open_dir(&all, &id.to_string()))? else { return Ok(()) };
        fs.remove_if_exists(&dir, manifest::NAME)?;
        for (name, _) in fs.list(&dir)?.iter().filter(|(name, _)| name != LOCK) {
            fs.remove_if_exists(&dir, name)?;
        }
        fs.remove_if_exists(&dir, LOCK)?;
        if_found(fs.remove_dir(&all, &id.to_string()))?;
        self.remove_if_empty(fs)
    }

    /// Removes the directory of all recordings, also if whoever removed the last one died before it did this.
    pub(super) fn remove_if_empty(&self, fs: &dyn Fs) -> io::Result<()> {
        match if_found(fs.remove_dir(&self.parent, NAME)) {
            // Others are in it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            other => other.map(drop),
        }
    }
}

/// Opens a private directory, made and made durable if need be.
fn open_or_make(fs: &dyn Fs, at: &FsDir, name: &str) -> io::Result<FsDir> {
    if fs.make_dir_if_missing(at, name, DirMode::Private)? {
        fs.sync_dir(at)?;
    }
    fs.open_dir(at, name)
}

/// The places that have recordings, the user's own first. One that cannot be opened has none that could be used, and
/// is no reason to stop whoever only wants to change a file.
pub(super) fn recording_stores(ledger: &Ledger, state: Option<&StateDir>) -> Vec<RecordingStore> {
    let outside = RecordingStore::outside_project(ledger, false).ok().flatten();
    outside.into_iter().chain(state.map(RecordingStore::inside_project)).collect()
}

/// Whether there is any recording, dead or alive, or what is left of one.
pub(crate) fn any_recording(ledger: &Ledger, state: Option<&StateDir>) -> LedgerResult<bool> {
    for place in recording_stores(ledger, state) {
        if if_found(place.open_all(&*ledger.fs)).context("open", &place.display_path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl RecordingStore {
    /// Whether the process of a recording is alive, and a command runs, or is about to.
    pub(super) fn is_running(&self, fs: &dyn Fs, id: TxId) -> io::Result<bool> {
        let opened = self.open_all(fs).and_then(|all| fs.open_dir(&all, &id.to_string()));
        let Some(dir) = if_found(opened)? else { return Ok(false) };
        let is_alive = matches!(if_found(fs.try_lock_existing(&dir, LOCK))?, Some(None));
        Ok(is_alive && (fs.exists(&dir, RUNNING)? || fs.exists(&dir, manifest::NAME)?))
    }
}

impl RecordingDirectory {
    /// Says that a command is about to run, and gives the time that the file system has then. Under the project's lock.
    pub(super) fn announce(&self, fs: &dyn Fs) -> io::Result<(i64, u32)> {
        fs.remove_if_exists(&self.dir, RUNNING)?;
        fs.create(&self.dir, RUNNING, FileMode::Private)?;
        Ok(fs.stamp(&self.dir, RUNNING.as_ref())?.changed)
    }

    /// Says that no command runs: what it did is recorded. Gives whether the directory was still there, and the manifest
    /// in it.
    pub(super) fn settle(&self, fs: &dyn Fs) -> io::Result<bool> {
        let was_there = if_found(fs.remove_file(&self.dir, manifest::NAME))?.is_some();
        fs.remove_if_exists(&self.dir, RUNNING)?;
        Ok(was_there)
    }

    /// Removes what a record was made with in the project.
    pub(super) fn clear_scratch(&self, state: &StateDir) -> LedgerResult<()> {
        if !self.store.is_outside {
            return Ok(());
        }
        let place = RecordingStore::inside_project(state);
        place.clear(state.fs(), self.id).context("remove", &place.path_of(self.id))
    }

    /// Makes the directory of a new recording, and takes its lock. Under the project's lock.
    pub(super) fn make(fs: &dyn Fs, place: RecordingStore, id: TxId) -> io::Result<RecordingDirectory> {
        let dir = place.make_entry(fs, id)?;
        let lock = fs.try_lock(&dir, LOCK)?.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(RecordingDirectory { id, dir, lock: Some(lock), store: place })
    }

    /// Takes over a recording; `None` if its owner is alive, or it is gone. Under the project's lock.
    pub(super) fn take_over(
        fs: &dyn Fs,
        place: RecordingStore,
        id: TxId,
    ) -> LedgerResult<Option<RecordingDirectory>> {
        let path = place.path_of(id);
        let taken = || -> io::Result<Option<RecordingDirectory>> {
            let opened = place.open_all(fs).and_then(|all| fs.open_dir(&all, &id.to_string()));
            // It was the scratch of one that was dealt with a moment ago.
            let Some(dir) = if_found(opened)? else { return Ok(None) };
            // Without one its owner died before it made it.
            let lock = if_found(fs.try_lock_existing(&dir, LOCK))?;
            let is_held = matches!(lock, Some(None));
            let lock = lock.flatten();
            Ok((!is_held).then_some(RecordingDirectory { id, dir, lock, store: place }))
        };
        taken().context("open", &path)
    }

    /// Where it is.
    pub(super) fn store(&self) -> &RecordingStore {
        &self.store
    }

    /// Its path, for messages.
    pub(super) fn path(&self) -> String {
        self.store.path_of(self.id)
    }

    /// A directory on the project's file system, for what gets another name there. Under the project's lock: whoever
    /// finds it with that lock held finds one that nobody uses.
    pub(super) fn scratch(&self, state: &StateDir) -> LedgerResult<FsDir> {
        if !self.store.is_outside {
            return Ok(self.dir.clone());
        }
        let place = RecordingStore::inside_project(state);
        place.make_entry(state.fs(), self.id).context("make", &place.path_of(self.id))
    }

    /// Removes the directory with all that is in it, and its scratch.
    pub(super) fn clear(&self, state: &StateDir) -> LedgerResult<()> {
        self.store.clear(state.fs(), self.id).context("remove", &self.path())?;
        self.clear_scratch(state)
    }
}
