//! Where scratch copies are: `scratch/<id>/` in the user's own directory, each held by the lock of its file
//! `scratch/<id>.lock`. A copy whose lock nobody holds was left by a run that was killed, and goes.
//!
//! The file is there, and locked, before the directory is, and goes after it: a directory without one is
//! nobody's. A copy that is in use is never touched.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use relaycode_durable::private_files::PrivateFolder;
use relaycode_durable::{Fs, FsLock, RealFs, private_files};
use uuid::Uuid;

use super::{ScratchError, system_error};

/// The folder of the copies.
const FOLDER: &str = "scratch";
/// How the files that are locked end.
const LOCK: &str = ".lock";
/// Bytes of such a file.
const BYTES: u64 = 1 << 10;

/// The place of one copy.
pub(super) struct ScratchDir {
    /// Its directory, without links.
    pub(super) directory: PathBuf,
    folder: PrivateFolder,
    name: String,
    /// Held as long as the copy is in use.
    lock: Option<FsLock>,
}

impl ScratchDir {
    /// A new place, after those that nobody holds are gone.
    pub(super) fn create(home: &Path, project: &Path) -> Result<ScratchDir, ScratchError> {
        private_files::require_outside(home, project)?;
        let folder = PrivateFolder::new(Some(home), FOLDER, BYTES);
        let name = Uuid::new_v4().to_string();
        folder.write_new(&format!("{name}{LOCK}"), b"")?;
        let above = home.join(FOLDER);
        let above = above.canonicalize().map_err(system_error(&above, "used"))?;
        let lock = lock(&above, &name).map_err(system_error(&above, "locked"))?;
        let directory = above.join(&name);
        // Somebody who tidied up in this very moment may have taken the file away.
        if lock.is_none() || !above.join(format!("{name}{LOCK}")).exists() {
            return Err(system_error(&directory, "locked")(io::ErrorKind::WouldBlock.into()));
        }
        let place = ScratchDir { directory, folder, name, lock };
        let made = DirBuilder::new().mode(0o700).create(&place.directory);
        made.map_err(system_error(&place.directory, "made"))?;
        remove_abandoned(&place.folder, &above);
        Ok(place)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next run, once the lock is free.
        if remove(&self.directory) {
            let _ = self.folder.remove(&format!("{}{LOCK}", self.name));
        }
        self.lock = None;
    }
}

/// Removes the copies that nobody holds. What cannot be removed is left for the next time.
fn remove_abandoned(folder: &PrivateFolder, above: &Path) {
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
fn lock(above: &Path, name: &str) -> io::Result<Option<FsLock>> {
    let fs = RealFs::default();
    let dir = fs.open_root(above)?;
    fs.try_lock_existing(&dir, &format!("{name}{LOCK}"))
}

/// Removes a directory with everything in it, also what a friend made unreadable; says whether it is gone.
fn remove(directory: &Path) -> bool {
    if fs::remove_dir_all(directory).is_err() {
        make_accessible(directory);
        let _ = fs::remove_dir_all(directory);
    }
    fs::symlink_metadata(directory).is_err()
}

fn make_accessible(directory: &Path) {
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(at) = waiting.pop() {
        if !fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let _ = fs::set_permissions(&at, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&at).into_iter().flatten().filter_map(Result::ok);
        waiting.extend(entries.map(|entry| entry.path()));
    }
}
