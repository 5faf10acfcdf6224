//! Where recordings have their directories: in the user's own, beside the copy of the ledger, because a command may
//! remove anything in the project. In the project itself only if the user has none.

use std::io;

use relaycode_durable::fs::DirMode;
use relaycode_durable::{Dir, Fs, Kind, Lock};

use super::{LOCK, manifest};
use crate::error::{LedgerError, cannot};
use crate::id::TxId;
use crate::ledger::Ledger;
use crate::state::{self, State};

/// The name of the directory of all recordings.
pub(super) const NAME: &str = "recordings";

/// A directory that has, or may have, recordings.
#[derive(Clone)]
pub(super) struct Place {
    above: Dir,
    /// Its path, for messages.
    shown: String,
    /// It is not in the project.
    pub(super) outside: bool,
}

/// A recording's directory and lock.
pub(super) struct Own {
    pub(super) id: TxId,
    pub(super) dir: Dir,
    pub(super) lock: Option<Lock>,
    place: Place,
}

impl Place {
    /// The one in the user's own directory; `None` if there is none.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn outside(ledger: &Ledger, make: bool) -> Result<Option<Place>, LedgerError> {
        let beside = ledger.beside_copy(make)?;
        Ok(beside.map(|(above, path)| Place { above, shown: format!("{path}/{NAME}"), outside: true }))
    }

    /// The one in the project.
    pub(super) fn inside(state: &State) -> Place {
        Place { above: state.dir().clone(), shown: format!("{}/{NAME}", state::NAME), outside: false }
    }

    /// The path of a recording's directory, for messages.
    pub(super) fn path_of(&self, id: TxId) -> String {
        format!("{}/{id}", self.shown)
    }

    /// The recordings in it, dead or alive.
    pub(super) fn list(&self, fs: &dyn Fs) -> Result<Vec<TxId>, LedgerError> {
        let all = match fs.open_dir(&self.above, NAME) {
            Ok(all) => all,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(cannot("open", &self.shown)(error)),
        };
        let mut ids = Vec::new();
        let seen = fs.each(&all, &mut |name, kind| {
            if kind == Kind::Dir {
                ids.extend(name.parse::<TxId>());
            }
        });
        seen.map_err(cannot("list", &self.shown))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// The directory of all of them, which must be there.
    pub(super) fn all(&self, fs: &dyn Fs) -> io::Result<Dir> {
        fs.open_dir(&self.above, NAME)
    }

    fn made(&self, fs: &dyn Fs, id: TxId) -> io::Result<Dir> {
        make(fs, &self.above, NAME)?;
        let all = fs.open_dir(&self.above, NAME)?;
        make(fs, &all, &id.to_string())?;
        fs.open_dir(&all, &id.to_string())
    }

    /// Removes a directory of one with all that is in it; the manifest first, because without one there is nothing to
    /// adopt.
    fn clear(&self, fs: &dyn Fs, id: TxId) -> io::Result<()> {
        let gone = |removed: io::Result<()>| match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        let all = match fs.open_dir(&self.above, NAME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            all => all?,
        };
        let dir = match fs.open_dir(&all, &id.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            dir => dir?,
        };
        gone(fs.remove_file(&dir, manifest::NAME))?;
        for (name, _) in fs.list(&dir)?.iter().filter(|(name, _)| name != LOCK) {
            gone(fs.remove_file(&dir, name))?;
        }
        gone(fs.remove_file(&dir, LOCK))?;
        gone(fs.remove_dir(&all, &id.to_string()))?;
        match fs.remove_dir(&self.above, NAME) {
            // Others are in it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            other => gone(other),
        }
    }
}

/// Makes a private directory unless it is there.
fn make(fs: &dyn Fs, at: &Dir, name: &str) -> io::Result<()> {
    match fs.make_dir(at, name, DirMode::Private) {
        Ok(()) => fs.sync_dir(at),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The places that have recordings, the user's own first. One that cannot be opened has none that could be used, and
/// is no reason to stop whoever only wants to change a file.
pub(super) fn places(ledger: &Ledger, state: Option<&State>) -> Vec<Place> {
    let outside = Place::outside(ledger, false).ok().flatten();
    outside.into_iter().chain(state.map(Place::inside)).collect()
}

/// Whether there is any recording, dead or alive.
pub(crate) fn any(ledger: &Ledger, state: Option<&State>) -> Result<bool, LedgerError> {
    for place in places(ledger, state) {
        if !place.list(&*ledger.fs)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Own {
    /// Makes the directory of a new recording, and takes its lock. Under the project's lock.
    pub(super) fn make(fs: &dyn Fs, place: Place, id: TxId) -> io::Result<Own> {
        let dir = place.made(fs, id)?;
        let lock = fs.lock(&dir, LOCK)?.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(Own { id, dir, lock: Some(lock), place })
    }

    /// Takes over a recording; `None` if its owner is alive, or it is gone. Under the project's lock.
    pub(super) fn take(fs: &dyn Fs, place: Place, id: TxId) -> Result<Option<Own>, LedgerError> {
        let path = place.path_of(id);
        let taken = || -> io::Result<Option<Own>> {
            let dir = match place.all(fs).and_then(|all| fs.open_dir(&all, &id.to_string())) {
                // It was the scratch of one that was dealt with a moment ago.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                dir => dir?,
            };
            match fs.lock_existing(&dir, LOCK) {
                Ok(Some(lock)) => Ok(Some(Own { id, dir, lock: Some(lock), place })),
                Ok(None) => Ok(None),
                // Its owner died before it made one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Ok(Some(Own { id, dir, lock: None, place }))
                }
                Err(error) => Err(error),
            }
        };
        taken().map_err(cannot("open", &path))
    }

    /// Where it is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Its path, for messages.
    pub(super) fn path(&self) -> String {
        self.place.path_of(self.id)
    }

    /// A directory on the project's file system, for what gets another name there. Under the project's lock: whoever
    /// finds it with that lock held finds one that nobody uses.
    pub(super) fn scratch(&self, state: &State) -> Result<Dir, LedgerError> {
        if !self.place.outside {
            return Ok(self.dir.clone());
        }
        let place = Place::inside(state);
        place.made(state.fs(), self.id).map_err(cannot("make", &place.path_of(self.id)))
    }

    /// Removes the directory with all that is in it, and its scratch.
    pub(super) fn clear(self, state: &State) -> Result<(), LedgerError> {
        let fs = state.fs();
        self.place.clear(fs, self.id).map_err(cannot("remove", &self.path()))?;
        if self.place.outside {
            let place = Place::inside(state);
            place.clear(fs, self.id).map_err(cannot("remove", &place.path_of(self.id)))?;
        }
        Ok(())
    }
}
