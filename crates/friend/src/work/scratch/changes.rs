//! What a friend did to its copy of the project, as operations that a proposal takes: the files as they were
//! copied against the files as they are. Commits, branches and whatever else it did to the copy's repository
//! do not matter.
//!
//! Only ordinary files count. Links, pipes, repositories and ignored files that it made, and names that no
//! change can have, are left out and said; a file that turned into something else is not taken for deleted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{ExactImage, FileAction, GitFileMode, Operation};
use relaycode_project::git::Git;
use relaycode_snapshot::{EntryChange, EntryKind, EntryStat, Snapshot, TreeDifference};

use super::copy::ScratchPathEntry;
use super::rule::ScratchRule;
use crate::ScratchCopy;
use crate::tree_check::ignored_paths;
use crate::work::scratch::{
    CopiedEntry, CopyBaseline, OpenDirCache, ScratchError, left_out_sentences, system_error,
};

/// Bytes of one changed file; a longer one is left out.
const FILE_BYTES: u64 = 64 << 20;
/// Bytes of all changed files together, before and after.
const ALL_BYTES: u64 = 512 << 20;
/// Nanoseconds: a file whose times are as young as this when the copy is done may be changed without its times telling.
const TICK: u32 = 50_000_000;

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
    built: Vec<String>,
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
        let dirs = match OpenDirCache::new(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ScratchError::CopyRemoved),
            other => other.map_err(system_error(root, "read"))?,
        };
        // The copy's repository is the friend's by now: it says what to leave out, and nothing else.
        let mut rule = ScratchRule::new(&self.copied, &self.excluded_dirs, stop);
        rule.ignored = ignored_paths(&git.in_scratch(root));
        rule.before = Some(&self.snapshot);
        rule.build_root = self.without_git.then_some(root);
        let now = rule.walk(root, dirs.root())?;
        let mut scan = ScratchComparison { copy: self, dirs, look: ScratchChangesBuilder::default() };
        scan.look.take_from(rule, &now);
        let found = TreeDifference::between(&self.snapshot, &now);
        let racy = found.racy.iter().filter(|change| self.is_stamp_ambiguous(change));
        let mut created = Vec::new();
        let mut behind_links: Vec<String> = Vec::new();
        for (number, change) in found.changes.iter().chain(racy).enumerate() {
            if number % 256 == 0 && stop() {
                return Err(ScratchError::Cancelled);
            }
            let Ok(path) = String::from_utf8(change.path.clone()) else { continue };
            let kind = change.after.map(|id| now.stat(id).kind);
            match (self.copied.get(&path), kind) {
                (None, None | Some(EntryKind::Directory)) => {}
                (None, Some(kind)) => {
                    if kind == EntryKind::Link && change.before.is_some() {
                        behind_links.push(format!("{path}/"));
                    }
                    created.push(path);
                }
                (Some(CopiedEntry::Link { target }), Some(EntryKind::Link)) => {
                    let now = scan.dirs.entry_at(&path).map_err(system_error(&root.join(&path), "read"))?;
                    if now != ScratchPathEntry::Link(target.clone()) {
                        scan.look.links.push(path);
                    }
                }
                (Some(CopiedEntry::Link { .. }), _) => scan.look.links.push(path),
                (Some(CopiedEntry::File { mode, base }), kind) => match kind {
                    None if behind_links.iter().any(|link| path.starts_with(link.as_str())) => {
                        scan.look.changed_type.push(path);
                    }
                    // `rm x; mkdir x` is a deletion like any other, if there are files in it.
                    None | Some(EntryKind::Directory) => scan.add_deleted(&path, *mode, base)?,
                    Some(EntryKind::File) => scan.add_modified(&path, *mode, base)?,
                    Some(_) => scan.look.changed_type.push(path),
                },
            }
        }
        scan.add_new_files(git, created)?;
        Ok(scan.look.finish())
    }

    /// Whether a file that looks as it did may have been changed since: times move in steps.
    fn is_stamp_ambiguous(&self, change: &EntryChange) -> bool {
        let done = match self.snapshot.began() {
            (seconds, nanos) if nanos < TICK => (seconds - 1, 1_000_000_000 + nanos - TICK),
            (seconds, nanos) => (seconds, nanos - TICK),
        };
        change.before.is_some_and(|id| self.snapshot.stat(id).changed >= done)
    }
}

/// The copy, its open directories, and what was found in it so far.
struct ScratchComparison<'a> {
    copy: &'a ScratchCopy,
    dirs: OpenDirCache,
    look: ScratchChangesBuilder,
}

impl ScratchComparison<'_> {
    fn add_deleted(&mut self, path: &str, mode: u32, base: &CopyBaseline) -> Result<(), ScratchError> {
        let Some(name) = self.look.valid_path(path) else { return Ok(()) };
        match self.copy.baseline(path, base)? {
            Some(bytes) => {
                self.look.count(bytes.len(), 0)?;
                self.look.deleted.insert(name, image(bytes, mode));
            }
            None => self.look.baseline_lost.push(path.to_string()),
        }
        Ok(())
    }

    fn add_modified(&mut self, path: &str, mode: u32, base: &CopyBaseline) -> Result<(), ScratchError> {
        let Some((bytes, now)) = self.read(path)? else { return Ok(()) };
        let Some(before) = self.copy.baseline(path, base)? else {
            self.look.baseline_lost.push(path.to_string());
            return Ok(());
        };
        if before == bytes && is_executable(mode) == is_executable(now.mode) {
            return Ok(());
        }
        let Some(name) = self.look.valid_path(path) else { return Ok(()) };
        self.look.count(before.len(), bytes.len())?;
        self.look.modified.insert(name, (image(before, mode), image(bytes, now.mode)));
        Ok(())
    }

    /// The bytes of a file; one that is too long is noted.
    fn read(&mut self, path: &str) -> Result<Option<(Vec<u8>, EntryStat)>, ScratchError> {
        match self.dirs.read(path, FILE_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                self.look.too_long.push(path.to_string());
                Ok(None)
            }
            read => read.map(Some).map_err(system_error(&self.copy.directory().join(path), "read")),
        }
    }

    /// What is in the copy and was not copied.
    fn add_new_files(&mut self, git: &Git<'_>, mut found: Vec<String>) -> Result<(), ScratchError> {
        // And by the project's own rules, which the friend cannot have changed.
        // A name that no change can have might mean something else to git, and is left out anyway.
        let plain = |path: &&str| RelPath::parse(path).is_ok_and(|name| name.as_str() == *path);
        let paths: Vec<&str> = found.iter().map(String::as_str).filter(plain).collect();
        let ignored: HashSet<String> = git.would_ignore(&paths).unwrap_or_default().into_iter().collect();
        found.sort();
        for path in found {
            match ignored.contains(&path) {
                true => self.look.ignored.push(path),
                false => self.add_created(path)?,
            }
        }
        Ok(())
    }

    fn add_created(&mut self, path: String) -> Result<(), ScratchError> {
        let found = self.dirs.entry_at(&path);
        match found.map_err(system_error(&self.copy.directory().join(&path), "read"))? {
            ScratchPathEntry::File(_) => {
                let Some(name) = self.look.valid_path(&path) else { return Ok(()) };
                let Some((bytes, stamp)) = self.read(&path)? else { return Ok(()) };
                self.look.count(0, bytes.len())?;
                self.look.created.insert(name, image(bytes, stamp.mode));
            }
            ScratchPathEntry::Link(_) => self.look.links.push(path),
            ScratchPathEntry::Special | ScratchPathEntry::BehindLink => self.look.special.push(path),
            ScratchPathEntry::Missing | ScratchPathEntry::Directory => {}
        }
        Ok(())
    }
}

impl ScratchChangesBuilder {
    /// Takes over what a walk noted.
    fn take_from(&mut self, rule: ScratchRule<'_>, now: &Snapshot) {
        self.ignored = rule.ignored_paths;
        self.built = rule.built;
        self.bad_names = rule.bad_names;
        self.sealed = rule.sealed;
        self.repositories = rule.repositories.into_iter().collect();
        self.unread = now.unread().map(|(path, _)| String::from_utf8_lossy(&path).into_owned()).collect();
    }

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
        let lost = "files that changed in the copy and in the project, too long to keep both, are left out";
        let left_out = left_out_sentences(&[
            ("what git ignores was made in the copy and is left out", &self.ignored),
            ("what builds left behind in the copy is left out", &self.built),
            ("links that were made, changed or removed in the copy are left out", &self.links),
            ("pipes, sockets and devices that were made in the copy are left out", &self.special),
            ("files that became something else in the copy are left out", &self.changed_type),
            ("other repositories in the copy are left out", &self.repositories),
            ("what no change may write is left out", &self.sealed),
            ("files whose names no change can have are left out", &self.bad_names),
            ("directories that cannot be read are left out", &self.unread),
            ("files that became too long in the copy are left out", &self.too_long),
            (lost, &self.baseline_lost),
        ]);
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

fn image(bytes: Vec<u8>, mode: u32) -> ExactImage {
    let mode = if is_executable(mode) { GitFileMode::Executable } else { GitFileMode::Regular };
    ExactImage { bytes, mode }
}

/// Whether the owner of a file may run it.
fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}
