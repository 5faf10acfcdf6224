//! Paths beneath the project's root, resolved without following a single link.
//!
//! A path is split into its directory, which is opened once and kept for as long as a transaction
//! lasts, and its last name, which every operation names relative to that handle. Whoever swaps a
//! directory for a link in between changes nothing: the handle is the directory that was checked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use relaycode_durable::{FileMode, Fs, FsDir, FsKind, FsStat, if_found, is_link};

/// The project's root directory.
#[derive(Clone)]
pub struct LedgerRoot {
    fs: Arc<dyn Fs>,
    dir: FsDir,
}

/// Paths that were resolved, with the handles of their directories.
pub struct PathResolver<'r> {
    root: &'r LedgerRoot,
    open: RefCell<HashMap<String, FsDir>>,
}

/// The directory that holds a path's last component, and that component.
#[derive(Clone)]
pub struct ResolvedPath<'p> {
    pub dir: FsDir,
    /// The last component.
    pub name: &'p str,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEntry {
    /// Nothing, or not even its directory.
    Nothing,
    /// A regular file.
    File(FsStat),
    /// Something that is not changed; the text names it.
    Other(&'static str),
}

impl LedgerRoot {
    /// The root that is open as `dir`.
    pub fn new(fs: Arc<dyn Fs>, dir: FsDir) -> LedgerRoot {
        LedgerRoot { fs, dir }
    }

    /// The file system it is on.
    pub fn fs(&self) -> &dyn Fs {
        &*self.fs
    }

    /// The root itself.
    pub fn dir(&self) -> &FsDir {
        &self.dir
    }

    /// A fresh set of places.
    pub fn resolver(&self) -> PathResolver<'_> {
        PathResolver { root: self, open: RefCell::new(HashMap::new()) }
    }
}

impl<'r> PathResolver<'r> {
    /// The file system they are on.
    pub fn fs(&self) -> &'r dyn Fs {
        self.root.fs()
    }

    /// Where `path` is: its directory is opened, or was.
    ///
    /// # Errors
    /// The system's; `NotFound` if the directory is not there.
    pub fn resolve<'p>(&self, path: &'p str) -> io::Result<ResolvedPath<'p>> {
        let (parent, name) = split_parent(path);
        Ok(ResolvedPath { dir: self.open_directory(parent)?, name })
    }

    /// The open directory `path`; the empty path is the root.
    pub fn open_directory(&self, path: &str) -> io::Result<FsDir> {
        if path.is_empty() {
            return Ok(self.root.dir.clone());
        }
        if let Some(dir) = self.open.borrow().get(path) {
            return Ok(dir.clone());
        }
        let dir = self.fs().open_dir(&self.root.dir, path)?;
        self.open.borrow_mut().insert(path.to_string(), dir.clone());
        Ok(dir)
    }

    /// Lets go of every directory: they are opened again when they are needed.
    pub fn close_all(&self) {
        self.open.borrow_mut().clear();
    }

    /// Lets go of a directory that is no longer there.
    pub fn forget(&self, path: &str) {
        self.open.borrow_mut().remove(path);
    }

    /// Looks at what stands at `path`.
    ///
    /// # Errors
    /// The system's. What is not a directory on the way is no error but [`PathEntry::Other`].
    pub fn entry_at(&self, path: &str) -> io::Result<PathEntry> {
        let place = match self.resolve(path) {
            Ok(place) => place,
            Err(error) => return entry_from_error(error),
        };
        let stat = if_found(self.fs().stat(&place.dir, place.name))?;
        Ok(stat.map_or(PathEntry::Nothing, |stat| match stat.kind {
            FsKind::File => PathEntry::File(stat),
            FsKind::Dir => PathEntry::Other("a directory"),
            FsKind::Link => PathEntry::Other("a symbolic link"),
            FsKind::Other => PathEntry::Other("a special file"),
        }))
    }

    /// Writes a new file at `path` with these permission bits, and makes its bytes durable.
    pub(crate) fn write_new(&self, path: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        let (place, fs) = (self.resolve(path)?, self.fs());
        let file = fs.create(&place.dir, place.name, FileMode::Private)?;
        fs.write(&file, bytes)?;
        fs.set_mode(&file, mode)?;
        fs.sync_file(&file)
    }

    /// The target of the symbolic link at `path`.
    pub fn read_link(&self, path: &str) -> io::Result<Vec<u8>> {
        let place = self.resolve(path)?;
        self.fs().read_link(&place.dir, place.name)
    }

    /// The permission bits of the directory at `path`, also of one that may not be read; `None`: there is none.
    pub fn directory_mode(&self, path: &str) -> io::Result<Option<u32>> {
        if path == PROJECT {
            return self.fs().stat_dir(&self.root.dir).map(|stat| Some(stat.mode));
        }
        let place = match self.resolve(path) {
            Ok(place) => place,
            Err(error) => return entry_from_error(error).map(|_| None),
        };
        let stat = if_found(self.fs().stat(&place.dir, place.name))?;
        Ok(stat.filter(|stat| stat.kind == FsKind::Dir).map(|stat| stat.mode))
    }

    /// Sets the permission bits of the directory at `path`, and makes them durable.
    pub fn set_directory_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        let fs = self.fs();
        if path == PROJECT {
            fs.set_dir_mode(&self.root.dir, PROJECT, mode)?;
            return fs.sync_dir(&self.root.dir);
        }
        // Afterwards it may not be opened any more, or only then.
        let before = self.open_directory(path);
        let place = self.resolve(path)?;
        fs.set_dir_mode(&place.dir, place.name, mode)?;
        match before.or_else(|_| self.open_directory(path)) {
            Ok(dir) => fs.sync_dir(&dir),
            Err(_) => fs.sync_all(&place.dir),
        }
    }

    /// Reads the regular file at `path`, at most `most` bytes; `None`: there is nothing.
    ///
    /// # Errors
    /// The system's. Only `NotFound` means that there is nothing.
    pub fn read(&self, path: &str, most: u64) -> io::Result<Option<(Vec<u8>, FsStat)>> {
        if_found(self.resolve(path).and_then(|place| self.fs().read(&place.dir, place.name, most)))
    }
}

/// What a directory that cannot be opened says about the path beneath it.
fn entry_from_error(error: io::Error) -> io::Result<PathEntry> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(PathEntry::Nothing),
        io::ErrorKind::NotADirectory => Ok(PathEntry::Other("a path through a file")),
        _ if is_link(&error) => Ok(PathEntry::Other("a path through a symbolic link")),
        _ => Err(error),
    }
}

/// The project's own directory, where the permission bits of directories are listed.
pub const PROJECT: &str = ".";

/// A path's directory (empty: the root) and its last component.
pub fn split_parent(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The directories above a path, outermost first.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
