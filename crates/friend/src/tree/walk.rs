//! The walk through a project: every entry once, by open directories, through no link.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};
use sha2::{Digest, Sha256};

use super::seen::{Content, Kind, Seen};
use super::{FILE, FILES, TreeError, git};

/// relay's own directory: it writes there itself.
const OWN: &[u8] = b".relaycode";
/// How deep directories are nested at most; each is open while what is below it is looked at.
const DEPTH: usize = 256;
/// What is read at once.
const PIECE: usize = 256 << 10;

/// What a walk found: by path, and what could not be looked into.
type Found = (BTreeMap<Vec<u8>, Seen>, Vec<String>);

/// A walk through a project.
pub(super) struct Walk<'a> {
    root: &'a Path,
    stop: &'a dyn Fn() -> bool,
    /// Bytes of content that may still be read.
    budget: u64,
    /// Entries that are looked at.
    pub(super) most: usize,
    ignored: HashSet<Vec<u8>>,
    entries: BTreeMap<Vec<u8>, Seen>,
    unread: Vec<String>,
}

/// Where a walk is.
#[derive(Clone, Copy)]
struct Here {
    depth: usize,
    /// Content is read here.
    read: bool,
    /// What of a directory is looked at.
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it; what is called `.git` is a repository.
    Project,
    /// Of a repository, what is [watched](git::WATCHED).
    Repository,
    /// Directories that may be repositories, or hold some.
    Nested,
    /// All of it, by whatever name.
    All,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        root: &'a Path,
        stop: &'a dyn Fn() -> bool,
        budget: u64,
        ignored: Vec<Vec<u8>>,
    ) -> Walk<'a> {
        let ignored =
            ignored.into_iter().map(|name| name.strip_suffix(b"/").map_or(name.clone(), <[u8]>::to_vec));
        let (entries, unread) = (BTreeMap::new(), Vec::new());
        Walk { root, stop, budget, most: FILES, ignored: ignored.collect(), entries, unread }
    }

    /// Looks at everything: the repository first, so that there is room for its content.
    pub(super) fn all(&mut self) -> Result<Found, TreeError> {
        for directory in git::outside(self.root) {
            if let Ok(open) = open_directory(CWD, directory.as_os_str().as_bytes()) {
                let here = Here { depth: 0, read: true, part: Part::Repository };
                self.directory(&open, directory.as_os_str().as_bytes(), here)?;
            }
        }
        let failed = |error: rustix::io::Errno| TreeError::Root {
            path: self.root.to_path_buf(),
            source: error.into(),
        };
        let root = open_directory(CWD, self.root.as_os_str().as_bytes()).map_err(failed)?;
        // The root itself may be reached through links: that is the user's own choice.
        self.directory(&root, b"", Here { depth: 0, read: true, part: Part::Project })?;
        Ok((std::mem::take(&mut self.entries), std::mem::take(&mut self.unread)))
    }

    fn directory(&mut self, open: &OwnedFd, path: &[u8], here: Here) -> Result<(), TreeError> {
        let Ok(list) = Dir::read_from(open) else {
            self.unread.push(String::from_utf8_lossy(path).into_owned());
            return Ok(());
        };
        let mut names: Vec<Vec<u8>> = Vec::new();
        for entry in list.flatten() {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
            // A single directory can have more than there is room for.
            if names.len() > self.most {
                return Err(TreeError::TooMany);
            }
        }
        // The repository first: what it holds is little, and matters most.
        names.sort_unstable_by_key(|name| name != b".git");
        let repository = here.part == Part::Nested && names.iter().any(|name| name == git::MARK.as_bytes());
        let part = if repository { Part::Repository } else { here.part };
        for name in names {
            let below = match part {
                Part::Project if here.depth == 0 && name == OWN => continue,
                Part::Project if name == b".git" => Part::Repository,
                Part::Project => Part::Project,
                Part::All => Part::All,
                Part::Nested => Part::Nested,
                Part::Repository if is_in(git::NESTED, &name) => Part::Nested,
                Part::Repository if is_in(git::WATCHED, &name) => Part::All,
                Part::Repository => continue,
            };
            self.entry(open, path, &name, Here { part: below, ..here })?;
        }
        if part == Part::Repository {
            self.entry(open, path, git::ALTERNATES.as_bytes(), Here { part: Part::All, ..here })?;
        }
        Ok(())
    }

    /// One entry, and what is below it.
    fn entry(&mut self, at: &OwnedFd, folder: &[u8], name: &[u8], here: Here) -> Result<(), TreeError> {
        if (self.stop)() {
            return Err(TreeError::Stopped);
        }
        let path = if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
        // What is gone by now was not there.
        let Ok(stat) = statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
        let mut seen = Seen::of(&stat);
        let read = here.read && !self.ignored.contains(&path);
        match seen.kind {
            Kind::Link => seen.content = target(at, name),
            Kind::File if read && seen.size <= FILE && seen.size <= self.budget => {
                self.budget -= seen.size;
                seen.content = hashed(at, name, &seen);
            }
            Kind::Directory => {
                let open = if here.depth < DEPTH { open_directory(at, name).ok() } else { None };
                match open {
                    Some(open) => {
                        self.directory(&open, &path, Here { depth: here.depth + 1, read, ..here })?;
                    }
                    None => self.unread.push(String::from_utf8_lossy(&path).into_owned()),
                }
            }
            _ => {}
        }
        if self.entries.len() >= self.most {
            return Err(TreeError::TooMany);
        }
        self.entries.insert(path, seen);
        Ok(())
    }

    /// The content of a file of the project now; `seen` is what it was a moment ago.
    pub(super) fn content(&self, path: &[u8], seen: &Seen) -> Result<Content, TreeError> {
        if (self.stop)() {
            return Err(TreeError::Stopped);
        }
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(cut) => (&path[..cut], &path[cut + 1..]),
            None => (&b""[..], path),
        };
        let mut open = match folder.first() {
            Some(b'/') => open_directory(CWD, b"/"),
            _ => open_directory(CWD, self.root.as_os_str().as_bytes()),
        };
        for part in folder.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            open = open.and_then(|at| open_directory(&at, part));
        }
        let Ok(at) = open else { return Ok(Content::Unread) };
        Ok(match seen.kind {
            Kind::Link => target(&at, name),
            Kind::File if seen.size <= FILE => hashed(&at, name, seen),
            _ => Content::Unread,
        })
    }
}

fn is_in(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|one| one.as_bytes() == name)
}

/// Opens a directory that the user, or an earlier step, named.
fn open_directory<Fd: std::os::fd::AsFd>(at: Fd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // Only a name in an open directory is kept from being a link; a whole path is the caller's own.
    let link = if name.contains(&b'/') { OFlags::empty() } else { OFlags::NOFOLLOW };
    openat(at, name, flags | link, Mode::empty())
}

/// Where a link points to.
fn target(at: &OwnedFd, name: &[u8]) -> Content {
    match readlinkat(at, name, Vec::new()) {
        Ok(target) => digest(Sha256::new_with_prefix(target.as_bytes())),
        Err(_) => Content::Unread,
    }
}

/// What is in a file, if it still is the one that was seen.
fn hashed(at: &OwnedFd, name: &[u8], seen: &Seen) -> Content {
    // It may have become a pipe meanwhile: nobody waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(open) = openat(at, name, flags, Mode::empty()) else { return Content::Unread };
    if !rustix::fs::fstat(&open).is_ok_and(|stat| Seen::of(&stat).is_the_file(seen)) {
        return Content::Unread;
    }
    let mut file = std::fs::File::from(open).take(FILE + 1);
    let mut hash = Sha256::new();
    let size = usize::try_from(seen.size).unwrap_or(PIECE).clamp(1, PIECE);
    let mut piece = vec![0; size];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return digest(hash),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Content::Unread,
        }
    }
}

fn digest(hash: Sha256) -> Content {
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    Content::Known(short)
}
