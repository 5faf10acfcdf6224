//! What is in a file or link of the project: a digest, or what is staged by an index.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use relaycode_durable::{Fs, FsDir};
use relaycode_snapshot::walk::open_below;
use relaycode_snapshot::{EntryId, EntryKind, EntryStat, Snapshot};
use rustix::fs::{FileType, Mode, OFlags, openat, readlinkat};
use sha2::{Digest, Sha256};

use super::git_dir::GitDirPart;
use super::git_index::StagedContent;
use super::scope::{CheckWalkPosition, CheckWalkScope};
use super::{FILE, TreeCheckError, git_index};

/// What is read at once.
const PIECE: usize = 256 << 10;

/// A digest: long enough that nobody finds another content with the same one.
pub(super) type CheckDigest = [u8; 16];

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CheckedEntryContent {
    /// A digest of it.
    Known(CheckDigest),
    /// It is an index: what is staged there.
    Staged(StagedContent),
}

/// The digest in the length that is kept.
pub(super) fn finish_digest(hash: Sha256) -> CheckDigest {
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}

/// Reads contents of a tree, directory by directory.
pub(super) struct ContentReader<'a> {
    pub(super) fs: &'a dyn Fs,
    pub(super) root: &'a FsDir,
    pub(super) tree: &'a Snapshot,
    pub(super) stop: &'a dyn Fn() -> bool,
    /// The directory of the last entry.
    pub(super) last: Option<(EntryId, FsDir)>,
}

impl<'a> ContentReader<'a> {
    /// What is in everything that is to be read, as far as `budget` bytes go: the repository first, because what it holds is
    /// little, and matters most.
    pub(super) fn read_all(
        &mut self,
        budget: &mut u64,
    ) -> Result<HashMap<EntryId, CheckedEntryContent>, TreeCheckError> {
        let mut contents = HashMap::new();
        for repository_first in [true, false] {
            for id in self.tree.ids() {
                let position = CheckWalkPosition::from_mark(self.tree.mark(id));
                let stat = *self.tree.stat(id);
                let is_index = position.scope == CheckWalkScope::Repository(GitDirPart::Index);
                if matches!(position.scope, CheckWalkScope::Repository(_)) != repository_first {
                    continue;
                }
                let size = match stat.kind {
                    EntryKind::Link => 0,
                    EntryKind::File if is_index && stat.size <= git_index::MAX_INDEX_BYTES => stat.size,
                    EntryKind::File if position.read && !is_index && stat.size <= FILE => stat.size,
                    _ => continue,
                };
                if size > *budget {
                    continue;
                }
                *budget -= size;
                if let Some(content) = self.read(id, is_index)? {
                    contents.insert(id, content);
                }
            }
        }
        Ok(contents)
    }

    /// What is in an entry, if it still is the one that was seen.
    pub(super) fn read(
        &mut self,
        id: EntryId,
        is_index: bool,
    ) -> Result<Option<CheckedEntryContent>, TreeCheckError> {
        if (self.stop)() {
            return Err(TreeCheckError::Cancelled);
        }
        let (stat, name) = (self.tree.stat(id), self.tree.name(id));
        let Some(at) = self.directory_of(id) else { return Ok(None) };
        let Ok(at) = at.handle::<OwnedFd>() else { return Ok(None) };
        Ok(match stat.kind {
            EntryKind::Link => link_content(at, name),
            EntryKind::File if is_index => index_content(at, name, stat),
            EntryKind::File if stat.size <= FILE => file_content(at, name, stat),
            _ => None,
        })
    }

    fn directory_of(&mut self, id: EntryId) -> Option<FsDir> {
        let parent = self.tree.parent(id)?;
        if let Some((last, dir)) = &self.last
            && *last == parent
        {
            return Some(dir.clone());
        }
        let dir = open_below(self.fs, self.root, &self.tree.path(parent)).ok()?;
        self.last = Some((parent, dir.clone()));
        Some(dir)
    }
}

/// Where a link points to.
fn link_content(at: &OwnedFd, name: &[u8]) -> Option<CheckedEntryContent> {
    let target = readlinkat(at, name, Vec::new()).ok()?;
    Some(CheckedEntryContent::Known(finish_digest(Sha256::new_with_prefix(target.as_bytes()))))
}

/// What is staged by an index; of what is none, what is in it.
fn index_content(at: &OwnedFd, name: &[u8], stat: &EntryStat) -> Option<CheckedEntryContent> {
    let whole = |name: &[u8], stat: Option<&EntryStat>| {
        let file = open_file(at, name, stat)?;
        let mut bytes = Vec::new();
        file.take(git_index::MAX_INDEX_BYTES + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= git_index::MAX_INDEX_BYTES).then_some(bytes)
    };
    let bytes = whole(name, Some(stat))?;
    Some(match StagedContent::read(&bytes, &|shared| whole(shared.as_bytes(), None)) {
        Some(staged) => CheckedEntryContent::Staged(staged),
        None => CheckedEntryContent::Known(finish_digest(Sha256::new_with_prefix(&bytes))),
    })
}

fn file_content(at: &OwnedFd, name: &[u8], stat: &EntryStat) -> Option<CheckedEntryContent> {
    let mut file = open_file(at, name, Some(stat))?.take(FILE + 1);
    let mut hash = Sha256::new();
    let size = usize::try_from(stat.size).unwrap_or(PIECE).clamp(1, PIECE);
    let mut piece = vec![0; size];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Some(CheckedEntryContent::Known(finish_digest(hash))),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Opens a file, if it is one, and the one that was seen.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the fields differ by system")]
fn open_file(at: &OwnedFd, name: &[u8], stat: Option<&EntryStat>) -> Option<File> {
    // It may have become a pipe meanwhile: nobody waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = openat(at, name, flags, Mode::empty()).ok()?;
    let now = rustix::fs::fstat(&open).ok()?;
    let is_same = |stat: &EntryStat| (stat.dev, stat.ino) == (now.st_dev as u64, now.st_ino as u64);
    let is_file = FileType::from_raw_mode(now.st_mode) == FileType::RegularFile;
    (is_file && stat.is_none_or(is_same)).then(|| File::from(open))
}
