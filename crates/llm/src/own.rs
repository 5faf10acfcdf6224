//! Files of the user's own in relay's directory: `models.yml`, `keys/`, `secrets.yml`.
//!
//! Nothing is believed that somebody else could have written: the directory, the folder in it and the file must be the
//! user's and writable by nobody else, and what is secret readable by nobody else; none of it may lie inside the project.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use relaycode_durable::fs::{self, DirMode};
use relaycode_durable::{Dir, Fs, Kind, Real, Stat, atomic};
use rustix::fs::{Mode, OFlags};

/// Bits that let somebody else write.
const OTHERS_WRITE: u32 = 0o022;
/// Bits that let somebody else do anything.
const OTHERS: u32 = 0o077;
/// Who may write in such a directory can still not replace the files of others.
const STICKY: u32 = 0o1000;

/// Relay's own directory of this user, and the project that must not hold it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Home {
    path: Option<PathBuf>,
    project: Option<PathBuf>,
}

/// Why a file of the user's own cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// Nothing says where relay's directory is.
    #[error("nothing says where your own directory is; set HOME or RELAY_HOME")]
    NoHome,
    /// It lies inside the project.
    #[error("your own directory {} lies inside the project; set RELAY_HOME to a place outside", .0.display())]
    Inside(PathBuf),
    /// It belongs to somebody else.
    #[error("{} belongs to somebody else; remove it, or give it back to yourself with chown", .0.display())]
    Foreign(PathBuf),
    /// Others may write it.
    #[error("others may change {path}; run `chmod go-w {path}`", path = .0.display())]
    Open(PathBuf),
    /// Others may read it.
    #[error("others may read {path}; run `chmod 600 {path}`, and replace the key if somebody may have seen it", path = .0.display())]
    Readable(PathBuf),
    /// It is a directory, a pipe or the like.
    #[error("{} is no ordinary file; remove it", .0.display())]
    NotAFile(PathBuf),
    /// It is too large.
    #[error("{} has more than {most} bytes; is it the right file?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        most: u64,
    },
    /// The system says no.
    #[error("{} cannot be used: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl Home {
    /// The directory `path`, which is not used if it lies in `project`.
    pub fn new(path: Option<&Path>, project: Option<&Path>) -> Home {
        Home { path: path.map(Path::to_path_buf), project: project.map(Path::to_path_buf) }
    }

    /// The directory, if it may be used.
    ///
    /// # Errors
    /// If there is none, or it lies inside the project.
    pub fn path(&self) -> Result<&Path, OwnError> {
        let path = self.path.as_deref().ok_or(OwnError::NoHome)?;
        let project = self.project.as_deref().and_then(|project| project.canonicalize().ok());
        // What a repository brings along must not be taken for the user's word.
        if project.is_some_and(|project| real_path(path).starts_with(project)) {
            return Err(OwnError::Inside(path.to_path_buf()));
        }
        Ok(path)
    }

    /// The file `name` right in the directory, which may be a link to a file of the user's elsewhere; `None` if there is
    /// none.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, OwnError> {
        let home = self.path()?;
        let path = home.join(name);
        let system = |source| OwnError::System { path: path.clone(), source };
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(system(source)),
        };
        for directory in [Some(home), real.parent()].into_iter().flatten() {
            let stat = directory.metadata().map_err(system)?;
            check(stat.uid(), stat.mode(), directory, OTHERS_WRITE)?;
        }
        // A pipe must not be waited for, and a link that was put there meanwhile not be followed.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| system(error.into()))?;
        let file = File::from(opened);
        let stat: Metadata = file.metadata().map_err(system)?;
        if !stat.is_file() {
            return Err(OwnError::NotAFile(path));
        }
        check(stat.uid(), stat.mode(), &path, OTHERS_WRITE)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(system)?;
        if bytes.len() as u64 > most {
            return Err(OwnError::TooLarge { path, most });
        }
        Ok(Some(bytes))
    }

    /// The secret file `folder/name`; `None` if there is none. Links are not followed.
    pub(crate) fn read_secret(
        &self,
        folder: &str,
        name: &str,
        most: u64,
    ) -> Result<Option<Vec<u8>>, OwnError> {
        let fs = Real::default();
        let Some(dir) = self.open(&fs, folder)? else { return Ok(None) };
        let path = self.path()?.join(folder).join(name);
        let (bytes, stat) = match fs.read(&dir, name, most) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if fs::is_too_long(&error) => return Err(OwnError::TooLarge { path, most }),
            Err(error) if fs::is_not_regular(&error) || fs::is_link(&error) => {
                return Err(OwnError::NotAFile(path));
            }
            Err(source) => return Err(OwnError::System { path, source }),
        };
        private(&stat, &path, OTHERS)?;
        Ok(Some(bytes))
    }

    /// Writes the secret file `folder/name`, whole or not at all, for the user alone.
    pub(crate) fn write_secret(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<(), OwnError> {
        let fs = Real::default();
        let dir = self.make(&fs, folder)?;
        let path = self.path()?.join(folder).join(name);
        let scratch = scratch(name);
        atomic::write(&fs, (&dir, &scratch), (&dir, name), bytes).map_err(|error| {
            let _ = fs.remove_file(&dir, &scratch);
            OwnError::System { path, source: error.source }
        })
    }

    /// Removes `folder/name`; says whether it was there.
    pub(crate) fn remove(&self, folder: &str, name: &str) -> Result<bool, OwnError> {
        let fs = Real::default();
        let Some(dir) = self.open(&fs, folder)? else { return Ok(false) };
        match fs.remove_file(&dir, name).and_then(|()| fs.sync_dir(&dir)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(OwnError::System { path: self.path()?.join(folder).join(name), source }),
        }
    }

    /// The names of the files in `folder`, in order.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<String>, OwnError> {
        let fs = Real::default();
        let Some(dir) = self.open(&fs, folder)? else { return Ok(Vec::new()) };
        let path = self.path()?.join(folder);
        let found = fs.list(&dir).map_err(|source| OwnError::System { path, source })?;
        let plain =
            |(name, kind): (String, Kind)| (kind == Kind::File && !name.starts_with('.')).then_some(name);
        let mut names: Vec<String> = found.into_iter().filter_map(plain).collect();
        names.sort();
        Ok(names)
    }

    fn open(&self, fs: &Real, folder: &str) -> Result<Option<Dir>, OwnError> {
        let home = self.path()?;
        let Some(own) = existing(fs.open_root(home), home)? else { return Ok(None) };
        private_dir(fs, &own, home)?;
        let path = home.join(folder);
        let Some(dir) = existing(fs.open_dir(&own, folder), &path)? else { return Ok(None) };
        private_dir(fs, &dir, &path)?;
        Ok(Some(dir))
    }

    fn make(&self, fs: &Real, folder: &str) -> Result<Dir, OwnError> {
        let home = self.path()?;
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
        let path = home.join(folder);
        made(fs.make_dir(&own, folder, DirMode::Private)).map_err(failed(&path))?;
        let dir = fs.open_dir(&own, folder).map_err(failed(&path))?;
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
    check(stat.uid, stat.mode, path, forbidden)
}

fn check(uid: u32, mode: u32, path: &Path, forbidden: u32) -> Result<(), OwnError> {
    let sticky = mode & STICKY != 0 && path.is_dir();
    // What belongs to root is as good as one's own: root could have written anything.
    if uid != rustix::process::geteuid().as_raw() && uid != 0 && !sticky {
        return Err(OwnError::Foreign(path.to_path_buf()));
    }
    if mode & OTHERS_WRITE != 0 && !sticky {
        return Err(OwnError::Open(path.to_path_buf()));
    }
    if mode & forbidden & OTHERS != 0 && !sticky {
        return Err(OwnError::Readable(path.to_path_buf()));
    }
    Ok(())
}

/// A name that nobody else writes under, in this process or another.
fn scratch(name: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".{name}.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
