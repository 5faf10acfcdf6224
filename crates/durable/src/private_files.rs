//! Files of the user's own that nobody else could have written: a folder of them in the user's own directory.
//!
//! Nothing is believed that somebody else could have written: the directory, the folder in it and the file must be the
//! user's, and writable by nobody else; what is secret must be readable by nobody else. No link is followed. What is written
//! is whole or not there, for the user alone.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fs::{self, DirMode, Fs, FsDir, FsKind, FsStat, RenameMode, if_found};
use crate::{RealFs, atomic};

/// Bits that let somebody else write.
pub const OTHERS_WRITE: u32 = 0o022;
/// Bits that let somebody else do anything.
pub const OTHERS: u32 = 0o077;

/// A folder of such files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateFolder {
    home: Option<PathBuf>,
    name: String,
    /// Bytes of a file at most.
    most: u64,
    /// Bits that the files must not have.
    forbidden: u32,
}

/// Why a file of the user's own cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// Nothing says where the directory is.
    #[error(
        "neither HOME nor RELAY_HOME names an absolute path, so relay has no place for its own files; set one of them"
    )]
    NoHome,
    /// It lies inside the project.
    #[error("relay's own directory {} is inside the project; set RELAY_HOME to a place outside", .0.display())]
    InsideProject(PathBuf),
    /// It belongs to somebody else.
    #[error("{} belongs to somebody else; remove it, or give it back to yourself with chown", .0.display())]
    ForeignOwner(PathBuf),
    /// Others may write it.
    #[error("others may change {path}; run `chmod go-w {path}`", path = .0.display())]
    WritableByOthers(PathBuf),
    /// Others may read it.
    #[error("others may read {path}; run `chmod 600 {path}`, and replace what is in it if somebody may have seen it", path = .0.display())]
    ReadableByOthers(PathBuf),
    /// It is a directory, a pipe or the like.
    #[error("{} is not a regular file; remove it", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is too large, more than {most} bytes; is it the right file?", path.display())]
    TooLarge { path: PathBuf, most: u64 },
    /// The system says no.
    #[error("{} cannot be used: {source}", path.display())]
    System { path: PathBuf, source: io::Error },
}

impl PrivateFolder {
    /// The folder `name` of `home`, of files of at most `most` bytes that only the user may change. The name may have several
    /// components, separated by `/`; without one it is `home` itself.
    pub fn new(home: Option<&Path>, name: &str, most: u64) -> PrivateFolder {
        PrivateFolder {
            home: home.map(Path::to_path_buf),
            name: name.to_owned(),
            most,
            forbidden: OTHERS_WRITE,
        }
    }

    /// The same, of files that only the user may read.
    #[must_use]
    pub fn into_secret(self) -> PrivateFolder {
        PrivateFolder { forbidden: OTHERS, ..self }
    }

    /// The user's own directory.
    ///
    /// # Errors
    /// If there is none.
    pub fn home(&self) -> Result<&Path, PrivateFileError> {
        self.home.as_deref().ok_or(PrivateFileError::NoHome)
    }

    /// Where a file of the folder is.
    ///
    /// # Errors
    /// If there is no directory of the user's own.
    pub fn path_of(&self, file: &str) -> Result<PathBuf, PrivateFileError> {
        Ok(self.home()?.join(&self.name).join(file))
    }

    /// None where the name is empty: the user's own directory itself.
    fn components(&self) -> impl Iterator<Item = &str> {
        self.name.split('/').filter(|name| !name.is_empty())
    }

    /// A file; `None` if there is none.
    ///
    /// # Errors
    /// If it is not the user's own, too large, or cannot be read.
    pub fn read(&self, file: &str) -> Result<Option<Vec<u8>>, PrivateFileError> {
        let fs = RealFs::default();
        let Some(dir) = self.open(&fs)? else { return Ok(None) };
        let path = self.path_of(file)?;
        let (bytes, stat) = match if_found(fs.read(&dir, file, self.most)) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) if fs::is_too_long(&error) => {
                return Err(PrivateFileError::TooLarge { path, most: self.most });
            }
            Err(error) if fs::is_not_regular(&error) || fs::is_link(&error) => {
                return Err(PrivateFileError::NotAFile(path));
            }
            Err(source) => return Err(PrivateFileError::System { path, source }),
        };
        check_private(&stat, &path, self.forbidden)?;
        Ok(Some(bytes))
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// If it is too large, or cannot be written there.
    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<(), PrivateFileError> {
        let path = self.path_of(file)?;
        if bytes.len() as u64 > self.most {
            return Err(PrivateFileError::TooLarge { path, most: self.most });
        }
        let fs = RealFs::default();
        let dir = self.make(&fs)?;
        let scratch = scratch_name(file);
        atomic::write(&fs, (&dir, &scratch), (&dir, file), bytes).map_err(|error| {
            let _ = fs.remove_file(&dir, &scratch);
            PrivateFileError::System { path, source: error.source }
        })
    }

    /// Writes a file if there is none; says whether it did.
    ///
    /// # Errors
    /// If it cannot be written there.
    pub fn write_new(&self, file: &str, bytes: &[u8]) -> Result<bool, PrivateFileError> {
        let path = self.path_of(file)?;
        let fs = RealFs::default();
        let dir = self.make(&fs)?;
        let scratch = scratch_name(file);
        let written = atomic::stage(&fs, (&dir, &scratch), bytes)
            .and_then(|()| fs.rename(&dir, &scratch, &dir, file, RenameMode::NoReplace))
            .and_then(|()| fs.sync_dir(&dir));
        match written {
            Ok(()) => Ok(true),
            Err(error) => {
                let _ = fs.remove_file(&dir, &scratch);
                if error.kind() == io::ErrorKind::AlreadyExists {
                    Ok(false)
                } else if fs::is_unsupported(&error) {
                    self.write(file, bytes).map(|()| true)
                } else {
                    Err(PrivateFileError::System { path, source: error })
                }
            }
        }
    }

    /// Removes a file; says whether there was one.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, file: &str) -> Result<bool, PrivateFileError> {
        let fs = RealFs::default();
        let Some(dir) = self.open(&fs)? else { return Ok(false) };
        let removed = if_found(fs.remove_file(&dir, file).and_then(|()| fs.sync_dir(&dir)));
        Ok(removed.map_err(system_error(&self.path_of(file)?))?.is_some())
    }

    /// The names of the files, in order; not those that begin with a dot.
    ///
    /// # Errors
    /// If the folder is not the user's own or cannot be read.
    pub fn list(&self) -> Result<Vec<String>, PrivateFileError> {
        let fs = RealFs::default();
        let Some(dir) = self.open(&fs)? else { return Ok(Vec::new()) };
        let path = self.home()?.join(&self.name);
        let found = fs.list(&dir).map_err(system_error(&path))?;
        let plain =
            |(name, kind): (String, FsKind)| (kind == FsKind::File && !name.starts_with('.')).then_some(name);
        Ok(found.into_iter().filter_map(plain).collect())
    }

    /// The folder itself, made if need be, for whoever has to do more with it than to read and write single files.
    ///
    /// # Errors
    /// If it is not the user's own or cannot be made.
    pub fn open_or_make(&self) -> Result<FsDir, PrivateFileError> {
        self.make(&RealFs::default())
    }

    fn open(&self, fs: &RealFs) -> Result<Option<FsDir>, PrivateFileError> {
        let home = self.home()?;
        let opened = if_found(fs.open_root(home)).map_err(system_error(home))?;
        let Some(mut dir) = opened else { return Ok(None) };
        check_private_dir(fs, &dir, home)?;
        let mut path = home.to_path_buf();
        for name in self.components() {
            path.push(name);
            let opened = if_found(fs.open_dir(&dir, name)).map_err(system_error(&path))?;
            let Some(next) = opened else { return Ok(None) };
            check_private_dir(fs, &next, &path)?;
            dir = next;
        }
        Ok(Some(dir))
    }

    fn make(&self, fs: &RealFs) -> Result<FsDir, PrivateFileError> {
        let home = self.home()?;
        if let (Some(above), Some(name)) = (home.parent(), home.file_name().and_then(|name| name.to_str())) {
            std::fs::create_dir_all(above).map_err(system_error(above))?;
            let above = fs.open_root(above).map_err(system_error(above))?;
            fs.make_dir_if_missing(&above, name, DirMode::Private).map_err(system_error(home))?;
        }
        let mut dir = fs.open_root(home).map_err(system_error(home))?;
        check_private_dir(fs, &dir, home)?;
        let mut path = home.to_path_buf();
        for name in self.components() {
            path.push(name);
            fs.make_dir_if_missing(&dir, name, DirMode::Private).map_err(system_error(&path))?;
            dir = fs.open_dir(&dir, name).map_err(system_error(&path))?;
            check_private_dir(fs, &dir, &path)?;
        }
        Ok(dir)
    }
}

/// `home`, unless it lies in `project`: what a repository brings along must not be taken for the user's word.
///
/// # Errors
/// [`PrivateFileError::InsideProject`].
pub fn require_outside<'a>(home: &'a Path, project: &Path) -> Result<&'a Path, PrivateFileError> {
    let inside = project.canonicalize().is_ok_and(|project| real_path(home).starts_with(project));
    if inside { Err(PrivateFileError::InsideProject(home.to_path_buf())) } else { Ok(home) }
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

fn system_error(path: &Path) -> impl FnOnce(io::Error) -> PrivateFileError + use<> {
    let path = path.to_path_buf();
    move |source| PrivateFileError::System { path, source }
}

fn check_private_dir(fs: &RealFs, dir: &FsDir, path: &Path) -> Result<(), PrivateFileError> {
    check_private(&fs.stat_dir(dir).map_err(system_error(path))?, path, OTHERS_WRITE)
}

fn check_private(stat: &FsStat, path: &Path, forbidden: u32) -> Result<(), PrivateFileError> {
    if stat.uid != rustix::process::geteuid().as_raw() {
        return Err(PrivateFileError::ForeignOwner(path.to_path_buf()));
    }
    if stat.mode & OTHERS_WRITE != 0 {
        return Err(PrivateFileError::WritableByOthers(path.to_path_buf()));
    }
    if stat.kind == FsKind::File && stat.mode & forbidden != 0 {
        return Err(PrivateFileError::ReadableByOthers(path.to_path_buf()));
    }
    Ok(())
}

/// A name that nobody else writes under, in this process or another.
fn scratch_name(name: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".{name}.{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_what_nobody_else_could_have_written_is_read() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        let folder = PrivateFolder::new(Some(&home), "keys", 16).into_secret();
        assert_eq!(folder.read("a").unwrap(), None);
        assert!(folder.write_new("a", b"one").unwrap());
        assert!(!folder.write_new("a", b"two").unwrap());
        assert_eq!(folder.read("a").unwrap().unwrap(), b"one");
        folder.write("a", b"three").unwrap();
        assert_eq!(folder.list().unwrap(), ["a"]);
        let mode =
            |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        let file = folder.path_of("a").unwrap();
        mode(&file, 0o640);
        assert!(matches!(folder.read("a"), Err(PrivateFileError::ReadableByOthers(_))));
        mode(&file, 0o602);
        assert!(matches!(folder.read("a"), Err(PrivateFileError::WritableByOthers(_))));
        mode(&file, 0o600);
        mode(&home, 0o777);
        assert!(matches!(folder.read("a"), Err(PrivateFileError::WritableByOthers(_))));
        mode(&home, 0o700);
        assert!(folder.remove("a").unwrap());
        assert!(!folder.remove("a").unwrap());
        assert!(matches!(folder.write("b", &[0; 17]), Err(PrivateFileError::TooLarge { .. })));
        std::os::unix::fs::symlink("/etc/passwd", folder.path_of("l").unwrap()).unwrap();
        assert!(matches!(folder.read("l"), Err(PrivateFileError::NotAFile(_))));
    }

    #[test]
    fn a_folder_in_a_folder_is_private_at_every_step() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        let folder = PrivateFolder::new(Some(&home), "one/two", 16).into_secret();
        assert_eq!(folder.read("a").unwrap(), None);
        folder.write("a", b"x").unwrap();
        assert_eq!(folder.read("a").unwrap().unwrap(), b"x");
        let mode = |path: &str| std::fs::metadata(home.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(""), mode("one"), mode("one/two"), mode("one/two/a")], [0o700, 0o700, 0o700, 0o600]);
        std::fs::set_permissions(home.join("one"), PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(folder.read("a"), Err(PrivateFileError::WritableByOthers(_))));
        assert!(matches!(folder.write("a", b"y"), Err(PrivateFileError::WritableByOthers(_))));
    }

    #[test]
    fn a_directory_that_the_project_brings_along_is_not_the_users() {
        let temp = tempfile::tempdir().unwrap();
        assert!(matches!(
            require_outside(&temp.path().join("not/there"), temp.path()),
            Err(PrivateFileError::InsideProject(_))
        ));
        assert!(require_outside(temp.path(), &temp.path().join("elsewhere")).is_ok());
    }
}
