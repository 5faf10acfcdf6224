//! Where scratch copies are: `scratch/<id>/` in the user's own directory, each held by the lock of its file
//! `scratch/<id>.lock`. A copy whose lock nobody holds was left by a run that was killed, and goes.
//!
//! The file is there, and locked, before the directory is, and goes after it: a directory without one is
//! nobody's. A copy that is in use is never touched.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use relaycode_durable::own::{self, Folder};
use relaycode_durable::{Fs, Lock, Real};
use uuid::Uuid;

use super::{ScratchError, system};

/// The folder of the copies.
const FOLDER: &str = "scratch";
/// How the files that are locked end.
const LOCK: &str = ".lock";
/// Bytes of such a file.
const BYTES: u64 = 1 << 10;

/// The place of one copy.
pub(super) struct Place {
    /// Its directory, without links.
    pub(super) directory: PathBuf,
    folder: Folder,
    name: String,
    /// Held as long as the copy is in use.
    lock: Option<Lock>,
}

impl Place {
    /// A new place, after those that nobody holds are gone.
    pub(super) fn make(home: &Path, project: &Path) -> Result<Place, ScratchError> {
        own::outside(home, project)?;
        let folder = Folder::new(Some(home), FOLDER, BYTES);
        let name = Uuid::new_v4().to_string();
        folder.write_new(&format!("{name}{LOCK}"), b"")?;
        let above = home.join(FOLDER);
        let above = above.canonicalize().map_err(system(&above, "used"))?;
        let lock = lock(&above, &name).map_err(system(&above, "locked"))?;
        let directory = above.join(&name);
        // Somebody who tidied up in this very moment may have taken the file away.
        if lock.is_none() || !above.join(format!("{name}{LOCK}")).exists() {
            return Err(system(&directory, "locked")(io::ErrorKind::WouldBlock.into()));
        }
        let place = Place { directory, folder, name, lock };
        DirBuilder::new().mode(0o700).create(&place.directory).map_err(system(&place.directory, "made"))?;
        sweep(&place.folder, &above);
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next run, once the lock is free.
        if remove(&self.directory) {
            let _ = self.folder.remove(&format!("{}{LOCK}", self.name));
        }
        self.lock = None;
    }
}

/// Removes the copies that nobody holds. What cannot be removed is left for the next time.
fn sweep(folder: &Folder, above: &Path) {
    for file in folder.list().unwrap_or_default() {
        let Some(name) = file.strip_suffix(LOCK).filter(|name| Uuid::parse_str(name).is_ok()) else {
            continue;
        };
        if let Ok(Some(_held)) = lock(above, name)
            && remove(&above.join(name))
        {
            let _ = folder.remove(&file);
        }
    }
    for entry in fs::read_dir(above).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The name is read before the file is looked for: whoever makes a copy makes the file first.
        let nobodys = Uuid::parse_str(&name).is_ok() && !above.join(format!("{name}{LOCK}")).exists();
        if nobodys {
            remove(&entry.path());
        }
    }
}

/// The lock of a copy; `None` if somebody holds it.
fn lock(above: &Path, name: &str) -> io::Result<Option<Lock>> {
    let fs = Real::default();
    let dir = fs.open_root(above)?;
    fs.lock_existing(&dir, &format!("{name}{LOCK}"))
}

/// Removes a directory with everything in it, also what a friend made unreadable; says whether it is gone.
fn remove(directory: &Path) -> bool {
    if fs::remove_dir_all(directory).is_err() {
        open_up(directory);
        let _ = fs::remove_dir_all(directory);
    }
    fs::symlink_metadata(directory).is_err()
}

fn open_up(directory: &Path) {
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(at) = waiting.pop() {
        if !fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let _ = fs::set_permissions(&at, fs::Permissions::from_mode(0o700));
        waiting
            .extend(fs::read_dir(&at).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()));
    }
}
