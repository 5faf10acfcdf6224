//! What a friend did to its copy of the project, as operations that a proposal takes: the files as they were
//! copied against the files as they are. Commits, branches and whatever else it did to the copy's repository
//! do not matter.
//!
//! Only ordinary files count. Links, pipes, repositories and ignored files that it made, and names that no
//! change can have, are left out and said; a file that turned into something else is not taken for deleted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use relaycode_change::proposal::path::{RelPath, is_sealed};
use relaycode_change::proposal::{ExactImage, FileAction, GitFileMode, Operation};
use relaycode_project::git::Git;

use crate::work::scratch::{
    CopiedEntry, CopyBaseline, CopyStamp, OpenDirCache, ScratchCopy, ScratchError, ScratchPathEntry,
    left_out_sentence, system_error,
};

/// A repository's own directory.
const GIT: &str = ".git";
/// Bytes of one changed file; a longer one is left out.
const FILE_BYTES: u64 = 64 << 20;
/// Bytes of all changed files together, before and after.
const ALL_BYTES: u64 = 512 << 20;
/// Entries that are looked at in the copy, for what is new there.
const ENTRIES: usize = 500_000;

/// What a friend did.
#[derive(Debug, Default)]
pub struct ScratchChanges {
    /// What it did, in an order in which it can be done: renames, deletions, changes, new files.
    pub operations: Vec<Operation>,
    /// What it did that is no part of that, a sentence each.
    pub left_out: Vec<String>,
}

/// What is found while looking.
#[derive(Default)]
struct ScratchChangesBuilder {
    deleted: BTreeMap<RelPath, ExactImage>,
    modified: BTreeMap<RelPath, (ExactImage, ExactImage)>,
    created: BTreeMap<RelPath, ExactImage>,
    bytes: u64,
    changed_type: Vec<String>,
    links: Vec<String>,
    special: Vec<String>,
    bad_names: Vec<String>,
    too_long: Vec<String>,
    ignored: Vec<String>,
    repositories: Vec<String>,
    sealed: Vec<String>,
    unread: Vec<String>,
    baseline_lost: Vec<String>,
}

impl ScratchCopy {
    /// What was done to the copy. `git` is the project's own.
    ///
    /// # Errors
    /// If it cannot be read, or somebody broke it off.
    pub fn changes(&self, git: &Git<'_>, stop: &dyn Fn() -> bool) -> Result<ScratchChanges, ScratchError> {
        let root = self.directory();
        let mut dirs = match OpenDirCache::new(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ScratchError::CopyRemoved),
            other => other.map_err(system_error(root, "read"))?,
        };
        let mut look = ScratchChangesBuilder::default();
        for (number, (path, copied)) in self.copied.iter().enumerate() {
            if number % 256 == 0 && stop() {
                return Err(ScratchError::Cancelled);
            }
            let found = dirs.entry_at(path).map_err(system_error(&root.join(path), "read"))?;
            match (copied, found) {
                (CopiedEntry::Link { target }, ScratchPathEntry::Link(now)) if *target == now => {}
                (CopiedEntry::Link { .. }, _) => look.links.push(path.clone()),
                (CopiedEntry::File { base, .. }, ScratchPathEntry::Missing) => {
                    self.add_deleted(path, base, &mut look)?
                }
                (CopiedEntry::File { stamp, base }, ScratchPathEntry::File(now)) => {
                    if now != *stamp || self.is_stamp_ambiguous(stamp) {
                        self.add_modified(path, (stamp, base), &mut dirs, &mut look)?;
                    }
                }
                // `rm x; mkdir x` is a deletion like any other, if there are files in it.
                (CopiedEntry::File { base, .. }, ScratchPathEntry::Directory) => {
                    self.add_deleted(path, base, &mut look)?
                }
                (CopiedEntry::File { .. }, _) => look.changed_type.push(path.clone()),
            }
        }
        self.add_new_files(git, &mut dirs, &mut look, stop)?;
        Ok(look.finish())
    }

    fn add_deleted(
        &self,
        path: &str,
        base: &CopyBaseline,
        look: &mut ScratchChangesBuilder,
    ) -> Result<(), ScratchError> {
        let Some(name) = look.valid_path(path) else { return Ok(()) };
        let Some(CopiedEntry::File { stamp, .. }) = self.copied.get(path) else { return Ok(()) };
        match self.baseline_bytes(path, base)? {
            Some(bytes) => {
                look.count(bytes.len(), 0)?;
                look.deleted.insert(name, image(bytes, stamp));
            }
            None => look.baseline_lost.push(path.to_string()),
        }
        Ok(())
    }

    fn add_modified(
        &self,
        path: &str,
        (stamp, base): (&CopyStamp, &CopyBaseline),
        dirs: &mut OpenDirCache,
        look: &mut ScratchChangesBuilder,
    ) -> Result<(), ScratchError> {
        let (bytes, now) = match dirs.read(path, FILE_BYTES) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                look.too_long.push(path.to_string());
                return Ok(());
            }
            Err(error) => return Err(system_error(&self.directory().join(path), "read")(error)),
        };
        let Some(before) = self.baseline_bytes(path, base)? else {
            look.baseline_lost.push(path.to_string());
            return Ok(());
        };
        if before == bytes && stamp.is_executable() == now.is_executable() {
            return Ok(());
        }
        let Some(name) = look.valid_path(path) else { return Ok(()) };
        look.count(before.len(), bytes.len())?;
        look.modified.insert(name, (image(before, stamp), image(bytes, &now)));
        Ok(())
    }

    /// What is in the copy and was not copied.
    fn add_new_files(
        &self,
        git: &Git<'_>,
        dirs: &mut OpenDirCache,
        look: &mut ScratchChangesBuilder,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), ScratchError> {
        let mut found = Vec::new();
        // The copy's repository is the friend's by now: it says what to leave out, and nothing else.
        let ignored = git.in_scratch(self.directory()).ignored().unwrap_or_default();
        let ignored: HashSet<String> = ignored
            .iter()
            .map(|path| String::from_utf8_lossy(path).trim_end_matches('/').to_string())
            .collect();
        let mut waiting = vec![String::new()];
        let mut entries = 0;
        while let Some(directory) = waiting.pop() {
            if stop() {
                return Err(ScratchError::Cancelled);
            }
            let listed = list_dir(&self.directory().join(&directory));
            if !listed.complete {
                look.unread.push(if directory.is_empty() { ".".to_string() } else { directory.clone() });
            }
            for ScratchDirEntry { name, is_text, is_dir } in listed.entries {
                entries += 1;
                let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
                if !is_text {
                    look.bad_names.push(path);
                } else if is_sealed(&name) {
                    // The repository of the copy itself is relay's.
                    match name == GIT {
                        true if directory.is_empty() => {}
                        true => look.repositories.push(path),
                        false => look.sealed.push(path),
                    }
                } else if self.copied.contains_key(&path) {
                } else if ignored.contains(&path) {
                    look.ignored.push(if is_dir { format!("{path}/") } else { path });
                } else if self.excluded_dirs.contains(&path) {
                    let touched = !is_dir || !self::list_dir(&self.directory().join(&path)).is_empty();
                    look.repositories.extend(touched.then_some(path));
                } else if is_dir {
                    waiting.push(path);
                } else {
                    found.push(path);
                }
            }
            if entries > ENTRIES {
                let most = format!("{ENTRIES} files after the work");
                return Err(ScratchError::TooMuch { most, largest: String::new() });
            }
        }
        // And by the project's own rules, which the friend cannot have changed.
        // A name that no change can have might mean something else to git, and is left out anyway.
        let plain = |path: &&str| RelPath::parse(path).is_ok_and(|name| name.as_str() == *path);
        let paths: Vec<&str> = found.iter().map(String::as_str).filter(plain).collect();
        let ignored: HashSet<String> = git.would_ignore(&paths).unwrap_or_default().into_iter().collect();
        found.sort();
        for path in found {
            if ignored.contains(&path) {
                look.ignored.push(path);
                continue;
            }
            self.add_created(&path, dirs, look)?;
        }
        Ok(())
    }

    fn add_created(
        &self,
        path: &str,
        dirs: &mut OpenDirCache,
        look: &mut ScratchChangesBuilder,
    ) -> Result<(), ScratchError> {
        let failed = system_error(&self.directory().join(path), "read");
        match dirs.entry_at(path).map_err(&failed)? {
            ScratchPathEntry::File(_) => {}
            ScratchPathEntry::Link(_) => {
                look.links.push(path.to_string());
                return Ok(());
            }
            ScratchPathEntry::Missing | ScratchPathEntry::Directory => return Ok(()),
            ScratchPathEntry::Special | ScratchPathEntry::BehindLink => {
                look.special.push(path.to_string());
                return Ok(());
            }
        }
        let Some(name) = look.valid_path(path) else { return Ok(()) };
        match dirs.read(path, FILE_BYTES) {
            Ok((bytes, stamp)) => {
                look.count(0, bytes.len())?;
                look.created.insert(name, image(bytes, &stamp));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                look.too_long.push(path.to_string());
                Ok(())
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl ScratchChangesBuilder {
    /// The path as a change names it; one that no change can have is noted.
    fn valid_path(&mut self, path: &str) -> Option<RelPath> {
        let name = RelPath::parse(path).ok().filter(|name| name.as_str() == path);
        if name.is_none() {
            self.bad_names.push(path.to_string());
        }
        name
    }

    fn count(&mut self, before: usize, after: usize) -> Result<(), ScratchError> {
        self.bytes += (before + after) as u64;
        if self.bytes <= ALL_BYTES {
            return Ok(());
        }
        let most = format!("{} MiB of changes", ALL_BYTES >> 20);
        Err(ScratchError::TooMuch { most, largest: String::new() })
    }

    fn finish(mut self) -> ScratchChanges {
        let mut operations = Vec::new();
        let mut add = |action: FileAction| operations.push(Operation { line: 0, action });
        for (from, to) in self.find_renames() {
            let (Some(before), Some(after)) = (self.deleted.remove(&from), self.created.remove(&to)) else {
                continue;
            };
            add(FileAction::Rename { from, to: to.clone() });
            // What was moved must still be what was copied, or somebody looks.
            add(FileAction::Exact { path: to, before: Some(before), after: Some(after) });
        }
        for (path, before) in self.deleted {
            add(FileAction::Exact { path, before: Some(before), after: None });
        }
        for (path, (before, after)) in self.modified {
            add(FileAction::Exact { path, before: Some(before), after: Some(after) });
        }
        for (path, after) in self.created {
            add(FileAction::Exact { path, before: None, after: Some(after) });
        }
        let mut left_out = Vec::new();
        let kinds = [
            (&self.ignored, "what git ignores was made in the copy and is left out"),
            (&self.links, "links that were made, changed or removed in the copy are left out"),
            (&self.special, "pipes, sockets and devices that were made in the copy are left out"),
            (&self.changed_type, "files that became something else in the copy are left out"),
            (&self.repositories, "other repositories in the copy are left out"),
            (&self.sealed, "what no change may write is left out"),
            (&self.bad_names, "files whose names no change can have are left out"),
            (&self.unread, "directories that cannot be read are left out"),
            (&self.too_long, "files that became too long in the copy are left out"),
            (
                &self.baseline_lost,
                "files that changed in the copy and in the project, too long to keep both, are left out",
            ),
        ];
        for (paths, what) in kinds {
            left_out.extend(left_out_sentence(what, paths));
        }
        ScratchChanges { operations, left_out }
    }

    /// Files that went and came with the same bytes, where that leaves no choice.
    fn find_renames(&self) -> Vec<(RelPath, RelPath)> {
        let mut by_bytes: HashMap<&ExactImage, (Vec<&RelPath>, Vec<&RelPath>)> = HashMap::new();
        for (path, image) in self.deleted.iter().filter(|(_, image)| !image.bytes.is_empty()) {
            by_bytes.entry(image).or_default().0.push(path);
        }
        for (path, image) in &self.created {
            if let Some((_, to)) = by_bytes.get_mut(image) {
                to.push(path);
            }
        }
        let pair = |(from, to): (Vec<&RelPath>, Vec<&RelPath>)| match (&from[..], &to[..]) {
            ([from], [to]) => Some(((*from).clone(), (*to).clone())),
            _ => None,
        };
        let mut pairs: Vec<_> = by_bytes.into_values().filter_map(pair).collect();
        pairs.sort();
        pairs
    }
}

fn image(bytes: Vec<u8>, stamp: &CopyStamp) -> ExactImage {
    ExactImage {
        bytes,
        mode: if stamp.is_executable() { GitFileMode::Executable } else { GitFileMode::Regular },
    }
}

/// What is in a directory.
struct ScratchDirListing {
    entries: Vec<ScratchDirEntry>,
    /// All of it could be read.
    complete: bool,
}

/// Something in a directory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ScratchDirEntry {
    /// Its name; what is no text in it is written out.
    name: String,
    is_text: bool,
    is_dir: bool,
}

impl ScratchDirListing {
    /// Whether nothing is there, as far as can be told.
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.complete
    }
}

fn list_dir(directory: &Path) -> ScratchDirListing {
    let Ok(found) = fs::read_dir(directory) else {
        return ScratchDirListing { entries: Vec::new(), complete: false };
    };
    let mut listed = ScratchDirListing { entries: Vec::new(), complete: true };
    for entry in found {
        let Ok(entry) = entry else {
            listed.complete = false;
            continue;
        };
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let (name, is_text) = match entry.file_name().into_string() {
            Ok(name) => (name, true),
            Err(name) => (name.as_bytes().escape_ascii().to_string(), false),
        };
        listed.entries.push(ScratchDirEntry { name, is_text, is_dir });
    }
    listed.entries.sort();
    listed
}
