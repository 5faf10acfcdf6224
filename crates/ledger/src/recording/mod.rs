//! Changes that somebody else makes: a command runs in the project as it is, and what it changed becomes one record,
//! which can be looked at and reverted like any other.
//!
//! Before the command begins, [`Ledger::secure`] writes down the tree and secures the bytes of its files in
//! `.relaycode/recordings/<id>/`. Afterwards [`Recording::adopt`] compares and writes the record. Whoever finds a
//! recording whose lock is free finds one whose process died, and adopts what it changed. In between nothing is
//! journaled, because nothing is put back: the record is the one thing that decides, and until it is there the
//! recording is. What a record cannot hold is named, never passed over.

mod adopt;
mod begin;
mod compare;
mod dead;
mod keep;
mod manifest;
#[cfg(test)]
mod tests;
mod walk;

pub use adopt::{Adopted, Ended};
pub use begin::Secured;
pub(crate) use dead::bury;

use std::io;
use std::os::fd::OwnedFd;

use relaycode_durable::fs::DirMode;
use relaycode_durable::{Dir, Kind, Lock};

use crate::error::{LedgerError, cannot};
use crate::id::TxId;
use crate::ledger::Ledger;
use crate::state::State;
use manifest::Manifest;

/// Entries of a project that are looked at.
pub const ENTRIES: usize = 200_000;
/// Bytes of one file that are secured, and kept of it afterwards.
pub const FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that are copied in all. What the file system can share costs nothing and does not count.
pub const COPIED_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes that are copied of what git ignores.
pub const IGNORED_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that a record keeps of files as they are afterwards.
pub const ADOPTED_BYTES: u64 = 512 * 1024 * 1024;

/// Where recordings have their directories, in the state directory.
const NAME: &str = "recordings";
/// The lock that says that a recording is alive.
const LOCK: &str = "lock";
/// Behind the name of a recording that could not be understood.
const KEPT: &str = ".kept";

/// Something that a record does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The file; a directory ends with a slash.
    pub path: String,
    /// Why, as the rest of a sentence that begins with the path.
    pub why: String,
    /// How many files that is, if it is a directory.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// A recording that runs: the tree is secured, and the command may begin. If it is dropped, the next recovery
/// adopts what changed.
pub struct Recording<'l> {
    ledger: &'l Ledger,
    state: State,
    own: Own,
    manifest: Manifest,
    secured: Secured,
}

/// A recording's directory and lock.
struct Own {
    id: TxId,
    dir: Dir,
    lock: Option<Lock>,
}

impl Recording<'_> {
    /// The transaction that it is going to be.
    pub fn id(&self) -> TxId {
        self.own.id
    }

    /// What was secured, and what was not.
    pub fn secured(&self) -> &Secured {
        &self.secured
    }

    /// What says that the recording is alive, for a process that ends the command should this one die: until then
    /// nobody may take the recording for dead.
    pub fn sign_of_life(&self) -> Option<OwnedFd> {
        self.own.lock.as_ref()?.descriptor()?.try_clone_to_owned().ok()
    }
}

/// The path of a recording's directory beneath the root.
fn path_of(id: TxId) -> String {
    format!("{}/{NAME}/{id}", crate::state::NAME)
}

/// The directory of all recordings; `None` if there is none.
fn all(state: &State) -> Result<Option<Dir>, LedgerError> {
    match state.fs().open_dir(state.dir(), NAME) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("open", NAME)(error)),
    }
}

/// The recordings that there are, dead or alive.
pub(crate) fn list(state: &State) -> Result<Vec<TxId>, LedgerError> {
    let Some(all) = all(state)? else { return Ok(Vec::new()) };
    let mut ids = Vec::new();
    let seen = state.fs().each(&all, &mut |name, kind| {
        if kind == Kind::Dir {
            ids.extend(name.parse::<TxId>());
        }
    });
    seen.map_err(cannot("list", NAME))?;
    ids.sort_unstable();
    Ok(ids)
}

impl Own {
    /// Makes the directory of a new recording, and takes its lock. Under the project's lock.
    fn make(state: &State, id: TxId) -> io::Result<Own> {
        let fs = state.fs();
        match fs.make_dir(state.dir(), NAME, DirMode::Private) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let all = fs.open_dir(state.dir(), NAME)?;
        fs.make_dir(&all, &id.to_string(), DirMode::Private)?;
        let dir = fs.open_dir(&all, &id.to_string())?;
        let lock = fs.lock(&dir, LOCK)?.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(Own { id, dir, lock: Some(lock) })
    }

    /// Takes over a recording; `None` if its owner is alive. Under the project's lock.
    fn take(state: &State, id: TxId) -> Result<Option<Own>, LedgerError> {
        let taken = || -> io::Result<Option<Own>> {
            let all = state.fs().open_dir(state.dir(), NAME)?;
            let dir = state.fs().open_dir(&all, &id.to_string())?;
            match state.fs().lock_existing(&dir, LOCK) {
                Ok(Some(lock)) => Ok(Some(Own { id, dir, lock: Some(lock) })),
                Ok(None) => Ok(None),
                // Its owner died before it made one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Ok(Some(Own { id, dir, lock: None }))
                }
                Err(error) => Err(error),
            }
        };
        taken().map_err(cannot("open", &path_of(id)))
    }

    /// Removes the directory with all that is in it; the manifest first, because without one there is nothing to adopt.
    fn clear(self, state: &State) -> Result<(), LedgerError> {
        let fs = state.fs();
        let cleared = || -> io::Result<()> {
            let all = fs.open_dir(state.dir(), NAME)?;
            let names = fs.list(&self.dir)?;
            let has = |name: &str| names.iter().any(|(other, _)| other == name);
            if has(manifest::NAME) {
                fs.remove_file(&self.dir, manifest::NAME)?;
            }
            for (name, _) in names.iter().filter(|(name, _)| name != manifest::NAME && name != LOCK) {
                fs.remove_file(&self.dir, name)?;
            }
            if has(LOCK) {
                fs.remove_file(&self.dir, LOCK)?;
            }
            fs.remove_dir(&all, &self.id.to_string())?;
            match fs.remove_dir(state.dir(), NAME) {
                // Others are in it.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            }
        };
        cleared().map_err(cannot("remove", &path_of(self.id)))
    }
}
