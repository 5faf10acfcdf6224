//! The walk through a project: every entry once, by open directories, through no link.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::seen::{Content, Kind, Seen, short};
use super::staged::{self, Staged};
use super::{FILE, FILES, TreeError, git};

/// relay's own directory. What is in it is written back into the project one day, by a revert or a recovery.
const OWN: &[u8] = b".relaycode";
/// Of it, what relay itself writes while somebody only looks: its lock, and the list of records, which is made from
/// them; and the texts that a prompt handed out, each of which has its digest for a name.
const OWN_PASSING: &[&[u8]] = &[b"lock", b"index", b"seen"];
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
    /// A repository.
    Repository(git::Part),
    /// relay's own directory.
    Own,
    /// All of it, by whatever name.
    All,
}

impl Here {
    /// What something in this directory is; `None`: it is passed over.
    fn below(self, name: &[u8], kind: Kind) -> Option<Here> {
        let part = match self.part {
            Part::Project if name == b".git" => Part::Repository(git::Part::Top { here: true }),
            // Large, and never written to but as a whole.
            Part::Project if self.depth == 0 && name == OWN => {
                return Some(Here { part: Part::Own, read: false, ..self });
            }
            Part::Own if OWN_PASSING.contains(&name) => return None,
            Part::Own | Part::All => Part::All,
            Part::Project => Part::Project,
            Part::Repository(part) => Part::Repository(part.below(name, kind)?),
        };
        let read = self.read && part != Part::Repository(git::Part::Large);
        Some(Here { part, read, ..self })
    }
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
        for (nth, directory) in git::outside(self.root).into_iter().enumerate() {
            // The first is this checkout's own; what it shares with others has the index of another one.
            let part = Part::Repository(git::Part::Top { here: nth == 0 });
            let path = directory.as_os_str().as_bytes();
            match open_directory(CWD, path) {
                Ok(open) => self.directory(&open, path, Here { depth: 0, read: true, part })?,
                Err(_) => self.not_looked_into(path),
            }
        }
        let failed = |error: rustix::io::Errno| TreeError::Root {
            path: self.root.to_path_buf(),
            source: error.into(),
        };
        let path = self.root.as_os_str().as_bytes();
        let itself = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        let root = open_directory(CWD, path).map_err(failed)?;
        self.entries.insert(Vec::new(), Seen::of(&itself));
        // The root itself may be reached through links: that is the user's own choice.
        self.directory(&root, b"", Here { depth: 0, read: true, part: Part::Project })?;
        Ok((std::mem::take(&mut self.entries), std::mem::take(&mut self.unread)))
    }

    fn directory(&mut self, open: &OwnedFd, path: &[u8], mut here: Here) -> Result<(), TreeError> {
        let Ok(list) = Dir::read_from(open) else {
            self.not_looked_into(path);
            return Ok(());
        };
        let mut names: Vec<Vec<u8>> = Vec::new();
        for entry in list {
            let Ok(entry) = entry else {
                self.not_looked_into(path);
                break;
            };
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
        if let Part::Repository(git::Part::Nested { here: counts }) = here.part
            && names.iter().any(|name| name == git::MARK)
        {
            here.part = Part::Repository(git::Part::Top { here: counts });
        }
        for name in names {
            self.entry(open, path, &name, here)?;
        }
        if matches!(here.part, Part::Repository(git::Part::Top { .. })) {
            for name in git::ALTERNATES {
                self.entry(open, path, name, Here { part: Part::All, ..here })?;
            }
        }
        Ok(())
    }

    fn not_looked_into(&mut self, path: &[u8]) {
        self.unread.push(if path.is_empty() {
            ".".to_string()
        } else {
            String::from_utf8_lossy(path).into_owned()
        });
    }

    /// One entry of a directory, and what is below it.
    fn entry(&mut self, at: &OwnedFd, folder: &[u8], name: &[u8], here: Here) -> Result<(), TreeError> {
        if (self.stop)() {
            return Err(TreeError::Stopped);
        }
        let path = if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
        let stat = match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // What is gone by now was not there.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(_) => {
                self.not_looked_into(&path);
                return Ok(());
            }
        };
        let mut seen = Seen::of(&stat);
        let index = here.part == Part::Repository(git::Part::Top { here: true }) && name == git::INDEX;
        let Some(below) = here.below(name, seen.kind) else { return Ok(()) };
        let read = below.read && !self.ignored.contains(&path);
        match seen.kind {
            Kind::Link => seen.content = target(at, name),
            Kind::File if index && seen.size <= staged::INDEX && seen.size <= self.budget => {
                self.budget -= seen.size;
                seen.content = staged_in(at, name, &seen);
            }
            Kind::File if read && seen.size <= FILE && seen.size <= self.budget => {
                self.budget -= seen.size;
                seen.content = hashed(at, name, &seen);
            }
            Kind::Directory => {
                let open = if here.depth < DEPTH { open_directory(at, name).ok() } else { None };
                match open {
                    Some(open) => {
                        self.directory(&open, &path, Here { depth: here.depth + 1, read, ..below })?;
                    }
                    None => self.not_looked_into(&path),
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

    /// The content of a file of the project now; `before` is what it was, `seen` what it was a moment ago.
    pub(super) fn content(&self, path: &[u8], before: &Content, seen: &Seen) -> Result<Content, TreeError> {
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
            Kind::File if matches!(before, Content::Staged(_)) => staged_in(&at, name, seen),
            Kind::File if seen.size <= FILE => hashed(&at, name, seen),
            _ => Content::Unread,
        })
    }
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
        Ok(target) => Content::Known(short(Sha256::new_with_prefix(target.as_bytes()))),
        Err(_) => Content::Unread,
    }
}

/// What is staged by an index; of what is none, what is in it.
fn staged_in(at: &OwnedFd, name: &[u8], seen: &Seen) -> Content {
    let whole = |name: &[u8], seen: Option<&Seen>| {
        let file = open_file(at, name, seen)?;
        let mut bytes = Vec::new();
        file.take(staged::INDEX + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= staged::INDEX).then_some(bytes)
    };
    let Some(bytes) = whole(name, Some(seen)) else { return Content::Unread };
    match Staged::read(&bytes, &|shared| whole(shared.as_bytes(), None)) {
        Some(staged) => Content::Staged(staged),
        None => Content::Known(short(Sha256::new_with_prefix(&bytes))),
    }
}

/// What is in a file, if it still is the one that was seen.
fn hashed(at: &OwnedFd, name: &[u8], seen: &Seen) -> Content {
    let Some(file) = open_file(at, name, Some(seen)) else { return Content::Unread };
    let mut file = file.take(FILE + 1);
    let mut hash = Sha256::new();
    let size = usize::try_from(seen.size).unwrap_or(PIECE).clamp(1, PIECE);
    let mut piece = vec![0; size];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Content::Known(short(hash)),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Content::Unread,
        }
    }
}

/// Opens a file, if it is one, and the one that was seen.
fn open_file(at: &OwnedFd, name: &[u8], seen: Option<&Seen>) -> Option<File> {
    // It may have become a pipe meanwhile: nobody waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = openat(at, name, flags, Mode::empty()).ok()?;
    let now = Seen::of(&rustix::fs::fstat(&open).ok()?);
    let same = now.kind == Kind::File && seen.is_none_or(|seen| now.is_the_file(seen));
    same.then(|| File::from(open))
}
