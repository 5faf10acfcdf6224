//! A directory as the planner's [`Tree`], read only.
//!
//! Symbolic links are never followed: every component of a path is looked at before the file is
//! opened, and what was opened must be what was looked at. Special files are not opened at all, and
//! no file is read beyond the limit.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use relaycode_change::path::RelPath;
use relaycode_change::proposal::Mode;
use relaycode_change::tree::{Entry, Tree, TreeError};

/// Names read in all while looking for names that are equal but for case; beyond that none is found.
const NAMES_READ: usize = 200_000;

/// The files beneath a directory.
pub(crate) struct DiskTree {
    root: PathBuf,
    file_bytes: usize,
    listings: RefCell<Listings>,
}

impl DiskTree {
    /// The tree beneath `root`; files of more than `file_bytes` are not read.
    pub(crate) fn new(root: PathBuf, file_bytes: usize) -> DiskTree {
        DiskTree { root, file_bytes, listings: RefCell::new(Listings::default()) }
    }

    fn look(&self, path: &RelPath) -> io::Result<Entry> {
        let mut full = self.root.clone();
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            full.push(component);
            let last = components.peek().is_none();
            let metadata = match fs::symlink_metadata(&full) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Entry::Missing),
                Err(error) => return Err(error),
            };
            let kind = metadata.file_type();
            if last && kind.is_file() {
                return self.file(&full, &metadata);
            }
            if let Some(what) = obstacle(&metadata, last) {
                return Ok(Entry::Other(what));
            }
        }
        Ok(Entry::Missing)
    }

    fn file(&self, full: &Path, looked_at: &Metadata) -> io::Result<Entry> {
        let most = u64::try_from(self.file_bytes).unwrap_or(u64::MAX);
        let too_long = |bytes: u64| {
            let most = self.file_bytes;
            io::Error::other(format!(
                "it has {bytes} bytes, and the limit `file` is {most}; raise it with `--limit file=4M`"
            ))
        };
        if looked_at.len() > most {
            return Err(too_long(looked_at.len()));
        }
        let file = File::open(full)?;
        let opened = file.metadata()?;
        if !same_file(looked_at, &opened) {
            return Err(io::Error::other("it was replaced while relay looked at it"));
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() > self.file_bytes {
            return Err(too_long(bytes.len() as u64));
        }
        Ok(Entry::File { bytes, mode: mode(&opened) })
    }
}

impl Tree for DiskTree {
    fn entry(&self, path: &RelPath) -> Result<Entry, TreeError> {
        self.look(path).map_err(|error| TreeError { path: path.to_string(), reason: error.to_string() })
    }

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let mut listings = self.listings.borrow_mut();
        let mut directory = self.root.clone();
        let mut above = String::new();
        for component in path.components() {
            let names = listings.of(&directory);
            let twins = names.get(&fold(component)?)?;
            if let Some(twin) = twins.iter().find(|name| *name != component) {
                return Some(format!("{above}{twin}"));
            }
            directory.push(component);
            if !fs::symlink_metadata(&directory).is_ok_and(|m| m.is_dir()) {
                return None;
            }
            above = format!("{above}{component}/");
        }
        None
    }
}

/// The names in directories, by their folded form.
#[derive(Default)]
struct Listings {
    known: HashMap<PathBuf, Folded>,
    names_read: usize,
}

type Folded = HashMap<String, Vec<String>>;

impl Listings {
    fn of(&mut self, directory: &Path) -> &Folded {
        let Listings { known, names_read } = self;
        known.entry(directory.to_path_buf()).or_insert_with(|| {
            let room = NAMES_READ - *names_read;
            let mut folded = Folded::new();
            for entry in fs::read_dir(directory).into_iter().flatten().take(room).flatten() {
                *names_read += 1;
                if let Ok(name) = entry.file_name().into_string()
                    && let Some(key) = fold(&name)
                {
                    folded.entry(key).or_default().push(name);
                }
            }
            folded
        })
    }
}

/// The folded form of one name; `None` if no change could name it anyway.
fn fold(name: &str) -> Option<String> {
    RelPath::parse(name).ok().map(|path| path.folded())
}

/// Why a path cannot be read as a file, if it cannot: what stands at its end, or on the way.
fn obstacle(metadata: &Metadata, last: bool) -> Option<&'static str> {
    let kind = metadata.file_type();
    match (last, kind.is_dir(), kind.is_symlink(), kind.is_file()) {
        (false, true, ..) => None,
        (true, true, ..) => Some("a directory"),
        (true, _, true, _) => Some("a symbolic link"),
        (false, _, true, _) => Some("something beneath a symbolic link"),
        (false, _, _, true) => Some("something beneath a file"),
        (true, ..) => Some("a special file"),
        (false, ..) => Some("something beneath a special file"),
    }
}

#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    b.is_file() && a.dev() == b.dev() && a.ino() == b.ino()
}

#[cfg(not(unix))]
fn same_file(_: &Metadata, b: &Metadata) -> bool {
    b.is_file()
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> Mode {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o100 == 0 { Mode::Regular } else { Mode::Executable }
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Mode {
    Mode::Regular
}

#[cfg(test)]
mod tests;
