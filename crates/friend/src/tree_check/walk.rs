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

use super::entry::{CheckedEntry, CheckedEntryContent, CheckedEntryKind, finish_digest};
use super::git_index::{self, StagedContent};
use super::{FILE, FILES, TreeCheckError, git_dir};

/// relay's own directory. What is in it is written back into the project one day, by a revert or a recovery.
const STATE_DIR: &[u8] = b".relaycode";
/// Of it, what relay itself writes while somebody only looks: its lock, and the list of records, which is made from
/// them; and the texts that a prompt handed out, each of which has its digest for a name.
const STATE_DIR_SKIPPED: &[&[u8]] = &[b"lock", b"index", b"seen"];
/// How deep directories are nested at most; each is open while what is below it is looked at.
const DEPTH: usize = 256;
/// What is read at once.
const PIECE: usize = 256 << 10;

/// What a walk found: by path, and what could not be looked into.
type CheckedEntries = (BTreeMap<Vec<u8>, CheckedEntry>, Vec<String>);

/// A walk through a project.
pub(super) struct TreeCheckWalker<'a> {
    root: &'a Path,
    stop: &'a dyn Fn() -> bool,
    /// Bytes of content that may still be read.
    budget: u64,
    /// Entries that are looked at.
    pub(super) max_entries: usize,
    ignored: HashSet<Vec<u8>>,
    entries: BTreeMap<Vec<u8>, CheckedEntry>,
    unread: Vec<String>,
}

/// Where a walk is.
#[derive(Clone, Copy)]
struct CheckWalkPosition {
    depth: usize,
    /// Content is read here.
    read: bool,
    /// What of a directory is looked at.
    scope: CheckWalkScope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckWalkScope {
    /// All of it; what is called `.git` is a repository.
    Project,
    /// A repository.
    Repository(git_dir::GitDirPart),
    /// relay's own directory.
    Own,
    /// All of it, by whatever name.
    All,
}

impl CheckWalkPosition {
    /// What something in this directory is; `None`: it is passed over.
    fn child(self, name: &[u8], kind: CheckedEntryKind) -> Option<CheckWalkPosition> {
        let part = match self.scope {
            CheckWalkScope::Project if name == b".git" => {
                CheckWalkScope::Repository(git_dir::GitDirPart::Top { here: true })
            }
            // Large, and never written to but as a whole.
            CheckWalkScope::Project if self.depth == 0 && name == STATE_DIR => {
                return Some(CheckWalkPosition { scope: CheckWalkScope::Own, read: false, ..self });
            }
            CheckWalkScope::Own if STATE_DIR_SKIPPED.contains(&name) => return None,
            CheckWalkScope::Own | CheckWalkScope::All => CheckWalkScope::All,
            CheckWalkScope::Project => CheckWalkScope::Project,
            CheckWalkScope::Repository(part) => CheckWalkScope::Repository(part.child_part(name, kind)?),
        };
        let read = self.read && part != CheckWalkScope::Repository(git_dir::GitDirPart::Large);
        Some(CheckWalkPosition { scope: part, read, ..self })
    }
}

impl<'a> TreeCheckWalker<'a> {
    pub(super) fn new(
        root: &'a Path,
        stop: &'a dyn Fn() -> bool,
        budget: u64,
        ignored: Vec<Vec<u8>>,
    ) -> TreeCheckWalker<'a> {
        let ignored =
            ignored.into_iter().map(|name| name.strip_suffix(b"/").map_or(name.clone(), <[u8]>::to_vec));
        let (entries, unread) = (BTreeMap::new(), Vec::new());
        TreeCheckWalker {
            root,
            stop,
            budget,
            max_entries: FILES,
            ignored: ignored.collect(),
            entries,
            unread,
        }
    }

    /// Looks at everything: the repository first, so that there is room for its content.
    pub(super) fn walk_all(&mut self) -> Result<CheckedEntries, TreeCheckError> {
        for (nth, directory) in git_dir::external_git_dirs(self.root).into_iter().enumerate() {
            // The first is this checkout's own; what it shares with others has the index of another one.
            let part = CheckWalkScope::Repository(git_dir::GitDirPart::Top { here: nth == 0 });
            let path = directory.as_os_str().as_bytes();
            match open_directory(CWD, path) {
                Ok(open) => {
                    self.walk_directory(&open, path, CheckWalkPosition { depth: 0, read: true, scope: part })?
                }
                Err(_) => self.record_unread(path),
            }
        }
        let failed = |error: rustix::io::Errno| TreeCheckError::Root {
            path: self.root.to_path_buf(),
            source: error.into(),
        };
        let path = self.root.as_os_str().as_bytes();
        let itself = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        let root = open_directory(CWD, path).map_err(failed)?;
        self.entries.insert(Vec::new(), CheckedEntry::from_stat(&itself));
        // The root itself may be reached through links: that is the user's own choice.
        self.walk_directory(
            &root,
            b"",
            CheckWalkPosition { depth: 0, read: true, scope: CheckWalkScope::Project },
        )?;
        Ok((std::mem::take(&mut self.entries), std::mem::take(&mut self.unread)))
    }

    fn walk_directory(
        &mut self,
        open: &OwnedFd,
        path: &[u8],
        mut here: CheckWalkPosition,
    ) -> Result<(), TreeCheckError> {
        let Ok(list) = Dir::read_from(open) else {
            self.record_unread(path);
            return Ok(());
        };
        let mut names: Vec<Vec<u8>> = Vec::new();
        for entry in list {
            let Ok(entry) = entry else {
                self.record_unread(path);
                break;
            };
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
            // A single directory can have more than there is room for.
            if names.len() > self.max_entries {
                return Err(TreeCheckError::TooMany);
            }
        }
        // The repository first: what it holds is little, and matters most.
        names.sort_unstable_by_key(|name| name != b".git");
        if let CheckWalkScope::Repository(git_dir::GitDirPart::Nested { here: counts }) = here.scope
            && names.iter().any(|name| name == git_dir::HEAD_FILE)
        {
            here.scope = CheckWalkScope::Repository(git_dir::GitDirPart::Top { here: counts });
        }
        for name in names {
            self.visit_entry(open, path, &name, here)?;
        }
        if matches!(here.scope, CheckWalkScope::Repository(git_dir::GitDirPart::Top { .. })) {
            for name in git_dir::ALTERNATES {
                self.visit_entry(open, path, name, CheckWalkPosition { scope: CheckWalkScope::All, ..here })?;
            }
        }
        Ok(())
    }

    fn record_unread(&mut self, path: &[u8]) {
        self.unread.push(if path.is_empty() {
            ".".to_string()
        } else {
            String::from_utf8_lossy(path).into_owned()
        });
    }

    /// One entry of a directory, and what is below it.
    fn visit_entry(
        &mut self,
        at: &OwnedFd,
        folder: &[u8],
        name: &[u8],
        here: CheckWalkPosition,
    ) -> Result<(), TreeCheckError> {
        if (self.stop)() {
            return Err(TreeCheckError::Cancelled);
        }
        let path = if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
        let stat = match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // What is gone by now was not there.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(_) => {
                self.record_unread(&path);
                return Ok(());
            }
        };
        let mut seen = CheckedEntry::from_stat(&stat);
        let index = here.scope == CheckWalkScope::Repository(git_dir::GitDirPart::Top { here: true })
            && name == git_dir::INDEX;
        let Some(below) = here.child(name, seen.kind) else { return Ok(()) };
        let read = below.read && !self.ignored.contains(&path);
        match seen.kind {
            CheckedEntryKind::Link => seen.content = link_content(at, name),
            CheckedEntryKind::File
                if index && seen.size <= git_index::MAX_INDEX_BYTES && seen.size <= self.budget =>
            {
                self.budget -= seen.size;
                seen.content = index_content(at, name, &seen);
            }
            CheckedEntryKind::File if read && seen.size <= FILE && seen.size <= self.budget => {
                self.budget -= seen.size;
                seen.content = file_content(at, name, &seen);
            }
            CheckedEntryKind::Directory => {
                let open = if here.depth < DEPTH { open_directory(at, name).ok() } else { None };
                match open {
                    Some(open) => {
                        self.walk_directory(
                            &open,
                            &path,
                            CheckWalkPosition { depth: here.depth + 1, read, ..below },
                        )?;
                    }
                    None => self.record_unread(&path),
                }
            }
            _ => {}
        }
        if self.entries.len() >= self.max_entries {
            return Err(TreeCheckError::TooMany);
        }
        self.entries.insert(path, seen);
        Ok(())
    }

    /// The content of a file of the project now; `before` is what it was, `seen` what it was a moment ago.
    pub(super) fn read_content(
        &self,
        path: &[u8],
        before: &CheckedEntryContent,
        seen: &CheckedEntry,
    ) -> Result<CheckedEntryContent, TreeCheckError> {
        if (self.stop)() {
            return Err(TreeCheckError::Cancelled);
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
        let Ok(at) = open else { return Ok(CheckedEntryContent::Unread) };
        Ok(match seen.kind {
            CheckedEntryKind::Link => link_content(&at, name),
            CheckedEntryKind::File if matches!(before, CheckedEntryContent::Staged(_)) => {
                index_content(&at, name, seen)
            }
            CheckedEntryKind::File if seen.size <= FILE => file_content(&at, name, seen),
            _ => CheckedEntryContent::Unread,
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
fn link_content(at: &OwnedFd, name: &[u8]) -> CheckedEntryContent {
    match readlinkat(at, name, Vec::new()) {
        Ok(target) => CheckedEntryContent::Known(finish_digest(Sha256::new_with_prefix(target.as_bytes()))),
        Err(_) => CheckedEntryContent::Unread,
    }
}

/// What is staged by an index; of what is none, what is in it.
fn index_content(at: &OwnedFd, name: &[u8], seen: &CheckedEntry) -> CheckedEntryContent {
    let whole = |name: &[u8], seen: Option<&CheckedEntry>| {
        let file = open_file(at, name, seen)?;
        let mut bytes = Vec::new();
        file.take(git_index::MAX_INDEX_BYTES + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= git_index::MAX_INDEX_BYTES).then_some(bytes)
    };
    let Some(bytes) = whole(name, Some(seen)) else { return CheckedEntryContent::Unread };
    match StagedContent::read(&bytes, &|shared| whole(shared.as_bytes(), None)) {
        Some(staged) => CheckedEntryContent::Staged(staged),
        None => CheckedEntryContent::Known(finish_digest(Sha256::new_with_prefix(&bytes))),
    }
}

/// What is in a file, if it still is the one that was seen.
fn file_content(at: &OwnedFd, name: &[u8], seen: &CheckedEntry) -> CheckedEntryContent {
    let Some(file) = open_file(at, name, Some(seen)) else { return CheckedEntryContent::Unread };
    let mut file = file.take(FILE + 1);
    let mut hash = Sha256::new();
    let size = usize::try_from(seen.size).unwrap_or(PIECE).clamp(1, PIECE);
    let mut piece = vec![0; size];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return CheckedEntryContent::Known(finish_digest(hash)),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return CheckedEntryContent::Unread,
        }
    }
}

/// Opens a file, if it is one, and the one that was seen.
fn open_file(at: &OwnedFd, name: &[u8], seen: Option<&CheckedEntry>) -> Option<File> {
    // It may have become a pipe meanwhile: nobody waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = openat(at, name, flags, Mode::empty()).ok()?;
    let now = CheckedEntry::from_stat(&rustix::fs::fstat(&open).ok()?);
    let same = now.kind == CheckedEntryKind::File && seen.is_none_or(|seen| now.is_same_file(seen));
    same.then(|| File::from(open))
}
