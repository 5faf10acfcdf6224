//! Files of the user's own, one per directory on this machine: what trust and project keys are kept in.
//!
//! A file is found by the digest of the directory's path without links, and holds the directory's device
//! and inode: another directory that later stands at the same path is not the one that was meant. Nothing
//! is believed that somebody else could have written: the user's directory, the folder in it and the file
//! must be the user's, and writable by nobody else, and none of them may lie inside the project.

use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use relaycode_durable::fs::{self, DirMode};
use relaycode_durable::{Dir, Fs, Kind, Real, Rename, Stat, atomic};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Bits that let somebody else write.
const OTHERS_WRITE: u32 = 0o022;
/// Bits that let somebody else do anything.
const OTHERS: u32 = 0o077;

/// A directory, as it is recognised again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    /// What stands there now.
    pub(crate) mark: Mark,
}

/// What makes a directory this one and no other at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    device: u64,
    inode: u64,
}

impl Place {
    /// The directory at `root`.
    pub(crate) fn of(root: &Path) -> io::Result<Place> {
        let path = root.canonicalize()?;
        let stat = Real::default().stat_dir(&Real::default().open_root(&path)?)?;
        Ok(Place { path, mark: Mark { device: stat.dev, inode: stat.ino } })
    }

    /// The name of its file.
    fn file(&self) -> String {
        format!("{}.json", hex(&Sha256::digest(self.path.as_os_str().as_bytes())))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A folder of such files in the user's own directory.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    home: Option<PathBuf>,
    folder: &'static str,
    /// Bytes of a file at most.
    most: u64,
    /// Bits that the files must not have.
    forbidden: u32,
}

/// Why a file of the user's own cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OwnError {
    #[error("nothing says where your own directory is; set HOME or RELAY_HOME")]
    NoHome,
    #[error("your own directory {} lies inside the project; set RELAY_HOME to a place outside", .0.display())]
    Inside(PathBuf),
    #[error("{} belongs to somebody else; remove it, or give it back to yourself with chown", .0.display())]
    Foreign(PathBuf),
    #[error("others may change {}; run `chmod go-w` on it", .0.display())]
    Open(PathBuf),
    #[error("others may read {}; remove it, and a new one is made", .0.display())]
    Readable(PathBuf),
    #[error("{} is no ordinary file; remove it", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is too large to be relay's; remove it", .0.display())]
    TooLarge(PathBuf),
    #[error("the project's directory {} cannot be looked at: {source}", path.display())]
    Root { path: PathBuf, source: io::Error },
    #[error("{} cannot be used: {source}", path.display())]
    System { path: PathBuf, source: io::Error },
}

impl Shelf {
    /// The folder `folder` of `home`, of files that only the user may change.
    pub(crate) fn new(home: Option<&Path>, folder: &'static str, most: u64) -> Shelf {
        Shelf { home: home.map(Path::to_path_buf), folder, most, forbidden: OTHERS_WRITE }
    }

    /// The same, of files that only the user may read.
    pub(crate) fn secret(self) -> Shelf {
        Shelf { forbidden: OTHERS, ..self }
    }

    /// The directory at `root`, if this shelf may say anything about it.
    pub(crate) fn place(&self, root: &Path) -> Result<Place, OwnError> {
        let place = Place::of(root).map_err(|source| OwnError::Root { path: root.to_path_buf(), source })?;
        let home = self.home()?;
        // What a repository brings along must not be taken for the user's word.
        if real_path(home).starts_with(&place.path) {
            return Err(OwnError::Inside(home.to_path_buf()));
        }
        Ok(place)
    }

    /// The file about a directory; `None` if there is none.
    pub(crate) fn read(&self, place: &Place) -> Result<Option<Vec<u8>>, OwnError> {
        let fs = Real::default();
        let Some(dir) = self.open(&fs)? else { return Ok(None) };
        let path = self.path_of(place)?;
        let (bytes, stat) = match fs.read(&dir, &place.file(), self.most) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if fs::is_too_long(&error) => return Err(OwnError::TooLarge(path)),
            Err(error) if fs::is_not_regular(&error) || fs::is_link(&error) => {
                return Err(OwnError::NotAFile(path));
            }
            Err(source) => return Err(OwnError::System { path, source }),
        };
        private(&stat, &path, self.forbidden)?;
        Ok(Some(bytes))
    }

    /// Writes the file about a directory, whole or not at all.
    pub(crate) fn write(&self, place: &Place, bytes: &[u8]) -> Result<(), OwnError> {
        let path = self.path_of(place)?;
        if bytes.len() as u64 > self.most {
            return Err(OwnError::TooLarge(path));
        }
        let fs = Real::default();
        let dir = self.make(&fs)?;
        let scratch = scratch(&place.file());
        let target = place.file();
        atomic::write(&fs, (&dir, &scratch), (&dir, &target), bytes)
            .map_err(|error| OwnError::System { path, source: error.source })
    }

    /// Writes the file about a directory if there is none; says whether it did.
    pub(crate) fn write_new(&self, place: &Place, bytes: &[u8]) -> Result<bool, OwnError> {
        let path = self.path_of(place)?;
        let fs = Real::default();
        let dir = self.make(&fs)?;
        let scratch = scratch(&place.file());
        let written = atomic::stage(&fs, (&dir, &scratch), bytes)
            .and_then(|()| fs.rename(&dir, &scratch, &dir, &place.file(), Rename::NoReplace))
            .and_then(|()| fs.sync_dir(&dir));
        match written {
            Ok(()) => Ok(true),
            Err(error) => {
                let _ = fs.remove_file(&dir, &scratch);
                if error.kind() == io::ErrorKind::AlreadyExists {
                    Ok(false)
                } else if fs::is_unsupported(&error) {
                    self.write(place, bytes).map(|()| true)
                } else {
                    Err(OwnError::System { path, source: error })
                }
            }
        }
    }

    /// Removes the file about a directory; says whether there was one.
    pub(crate) fn remove(&self, place: &Place) -> Result<bool, OwnError> {
        let fs = Real::default();
        let Some(dir) = self.open(&fs)? else { return Ok(false) };
        match fs.remove_file(&dir, &place.file()).and_then(|()| fs.sync_dir(&dir)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(OwnError::System { path: self.path_of(place)?, source }),
        }
    }

    /// Where the file about a directory is.
    pub(crate) fn path_of(&self, place: &Place) -> Result<PathBuf, OwnError> {
        Ok(self.home()?.join(self.folder).join(place.file()))
    }

    fn home(&self) -> Result<&Path, OwnError> {
        self.home.as_deref().ok_or(OwnError::NoHome)
    }

    fn open(&self, fs: &Real) -> Result<Option<Dir>, OwnError> {
        let home = self.home()?;
        let Some(own) = existing(fs.open_root(home), home)? else { return Ok(None) };
        private_dir(fs, &own, home)?;
        let path = home.join(self.folder);
        let Some(dir) = existing(fs.open_dir(&own, self.folder), &path)? else { return Ok(None) };
        private_dir(fs, &dir, &path)?;
        Ok(Some(dir))
    }

    fn make(&self, fs: &Real) -> Result<Dir, OwnError> {
        let home = self.home()?;
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| OwnError::System { path, source }
        };
        if let (Some(above), Some(name)) = (home.parent(), home.file_name().and_then(|name| name.to_str())) {
            std::fs::create_dir_all(above).map_err(failed(above))?;
            let above = fs.open_root(above).map_err(failed(above))?;
            made(fs.make_dir(&above, name, DirMode::Private)).map_err(failed(home))?;
        }
        let own = fs.open_root(home).map_err(failed(home))?;
        private_dir(fs, &own, home)?;
        let path = home.join(self.folder);
        made(fs.make_dir(&own, self.folder, DirMode::Private)).map_err(failed(&path))?;
        let dir = fs.open_dir(&own, self.folder).map_err(failed(&path))?;
        private_dir(fs, &dir, &path)?;
        Ok(dir)
    }
}

/// A path without links as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(real) = at.canonicalize() {
            return rest.iter().rev().fold(real, |real, name| real.join(name));
        }
        let (Some(above), Some(name)) = (at.parent(), at.file_name()) else { return path.to_path_buf() };
        rest.push(name);
        at = above;
    }
}

fn existing(opened: io::Result<Dir>, path: &Path) -> Result<Option<Dir>, OwnError> {
    match opened {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(OwnError::System { path: path.to_path_buf(), source }),
    }
}

fn made(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn private_dir(fs: &Real, dir: &Dir, path: &Path) -> Result<(), OwnError> {
    let stat = fs.stat_dir(dir).map_err(|source| OwnError::System { path: path.to_path_buf(), source })?;
    private(&stat, path, OTHERS_WRITE)
}

fn private(stat: &Stat, path: &Path, forbidden: u32) -> Result<(), OwnError> {
    if stat.uid != rustix::process::geteuid().as_raw() {
        return Err(OwnError::Foreign(path.to_path_buf()));
    }
    if stat.mode & OTHERS_WRITE != 0 {
        return Err(OwnError::Open(path.to_path_buf()));
    }
    if stat.kind == Kind::File && stat.mode & forbidden != 0 {
        return Err(OwnError::Readable(path.to_path_buf()));
    }
    Ok(())
}

/// A name that nobody else writes under, in this process or another.
fn scratch(name: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".{name}.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
