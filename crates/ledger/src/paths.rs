//! Paths beneath the project's root, resolved without following a single link.
//!
//! A path is split into its directory, which is opened once and kept for as long as a transaction
//! lasts, and its last name, which every operation names relative to that handle. Whoever swaps a
//! directory for a link in between changes nothing: the handle is the directory that was checked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use relaycode_durable::fs::is_link;
use relaycode_durable::{Dir, Fs, Kind, Stat};

/// The project's root directory.
#[derive(Clone)]
pub struct Root {
    fs: Arc<dyn Fs>,
    dir: Dir,
}

/// Paths that were resolved, with the handles of their directories.
pub struct Places<'r> {
    root: &'r Root,
    open: RefCell<HashMap<String, Dir>>,
}

/// The directory that holds a path's last component, and that component.
#[derive(Clone)]
pub struct Place<'p> {
    /// The directory.
    pub dir: Dir,
    /// The last component.
    pub name: &'p str,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing, or not even its directory.
    Nothing,
    /// A regular file.
    File(Stat),
    /// Something that is not changed; the text names it.
    Other(&'static str),
}

impl Root {
    /// The root that is open as `dir`.
    pub fn new(fs: Arc<dyn Fs>, dir: Dir) -> Root {
        Root { fs, dir }
    }

    /// The file system it is on.
    pub fn fs(&self) -> &dyn Fs {
        &*self.fs
    }

    /// The root itself.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// A fresh set of places.
    pub fn places(&self) -> Places<'_> {
        Places { root: self, open: RefCell::new(HashMap::new()) }
    }
}

impl<'r> Places<'r> {
    /// The file system they are on.
    pub fn fs(&self) -> &'r dyn Fs {
        self.root.fs()
    }

    /// Where `path` is: its directory is opened, or was.
    ///
    /// # Errors
    /// The system's; `NotFound` if the directory is not there.
    pub fn place<'p>(&self, path: &'p str) -> io::Result<Place<'p>> {
        let (parent, name) = split(path);
        Ok(Place { dir: self.directory(parent)?, name })
    }

    /// The open directory `path`; the empty path is the root.
    ///
    /// # Errors
    /// The system's.
    pub fn directory(&self, path: &str) -> io::Result<Dir> {
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
    pub fn let_go(&self) {
        self.open.borrow_mut().clear();
    }

    /// Lets go of a directory that is no longer there.
    pub fn forget(&self, path: &str) {
        self.open.borrow_mut().remove(path);
    }

    /// Looks at what stands at `path`.
    ///
    /// # Errors
    /// The system's. What is not a directory on the way is no error but [`Found::Other`].
    pub fn find(&self, path: &str) -> io::Result<Found> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(error) => return on_the_way(error),
        };
        match self.fs().stat(&place.dir, place.name) {
            Ok(stat) => Ok(match stat.kind {
                Kind::File => Found::File(stat),
                Kind::Dir => Found::Other("a directory"),
                Kind::Link => Found::Other("a symbolic link"),
                Kind::Other => Found::Other("a special file"),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Reads the regular file at `path`, at most `most` bytes; `None`: there is nothing.
    ///
    /// # Errors
    /// The system's. Only `NotFound` means that there is nothing.
    pub fn read(&self, path: &str, most: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        let read = self.place(path).and_then(|place| self.fs().read(&place.dir, place.name, most));
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What a directory that cannot be opened says about the path beneath it.
fn on_the_way(error: io::Error) -> io::Result<Found> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(Found::Nothing),
        io::ErrorKind::NotADirectory => Ok(Found::Other("something beneath a file")),
        _ if is_link(&error) => Ok(Found::Other("something beneath a symbolic link")),
        _ => Err(error),
    }
}

/// A path's directory (empty: the root) and its last component.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The directories above a path, outermost first.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
