//! What differs between the tree before a command and the tree now, without a byte read: which files and links have to be
//! looked at, what became of directories, and what no record can hold.

use std::collections::{BTreeMap, HashSet};

use relaycode_snapshot::{
    EntryChange, EntryChangeKind, EntryId, EntryKind, EntryStat, ImageLocation, OmissionList, TreeDifference,
};

use crate::disk::{PROJECT, ancestors};
use crate::record::{DirectoryModeChange, RecordOmission, RemovedDirectory};
use crate::recording::adopt::ChangedTree;
use crate::recording::walk::{self, IgnoredPaths, path_text, recordable};
use crate::recording::{FILE_BYTES, IGNORED_BYTES, RecordingTree, SecuredTree, format_size};

/// What differs.
#[derive(Default)]
pub(super) struct RecordingDifferences<'t> {
    /// Files and links to be looked at: what git ignores last.
    pub(super) files: Vec<SuspectFile<'t>>,
    /// Directories that came, outermost first.
    pub(super) made: Vec<String>,
    /// Directories that went, innermost first.
    pub(super) removed: Vec<RemovedDirectory>,
    /// Directories that have other permission bits.
    pub(super) modes: Vec<DirectoryModeChange>,
    /// What cannot be undone.
    pub(super) left: OmissionList,
    /// What stands at protected names and has no place in a record.
    pub(super) misfits: Vec<ProtectedMisfit<'t>>,
}

/// A protected name with something that no record holds.
pub(super) struct ProtectedMisfit<'t> {
    pub(super) path: String,
    /// What it is and what became of it, as the rest of a sentence.
    pub(super) reason: String,
    pub(super) bytes: u64,
    /// What was there before.
    pub(super) before: Option<SecuredEntry<'t>>,
}

/// A file or link that may have changed.
pub(super) struct SuspectFile<'t> {
    pub(super) path: String,
    pub(super) before: Option<SecuredEntry<'t>>,
    /// What the file system says of it now.
    pub(super) now: Option<EntryStat>,
}

/// A file or link as it was.
#[derive(Clone, Copy)]
pub(super) struct SecuredEntry<'t> {
    pub(super) stat: EntryStat,
    pub(super) content: SecuredContent<'t>,
}

/// Where what it held is.
#[derive(Clone, Copy)]
pub(super) enum SecuredContent<'t> {
    Image(ImageLocation),
    Target(&'t [u8]),
}

/// Compares the two.
pub(super) fn compare<'t>(
    changed: &ChangedTree<'t>,
    difference: &TreeDifference,
    is_protected: fn(&str) -> bool,
) -> RecordingDifferences<'t> {
    let ChangedTree { before, now, ignored: ignored_now } = *changed;
    let TreeDifference { changes, racy, unknown } = difference;
    let blind = before.blind.iter().map(String::as_str).collect();
    let found = RecordingDifferences::default();
    let mut comparison = RecordingComparison {
        before,
        now,
        ignored_now,
        blind,
        is_protected,
        ignored: BTreeMap::new(),
        found,
    };
    for change in changes {
        comparison.add_change(change);
    }
    for change in racy {
        if change.before.is_some_and(|id| comparison.secured(id).is_some()) {
            comparison.add_change(change);
        }
    }
    for change in unknown {
        comparison.add_unknown(change);
    }
    comparison.finish()
}

/// One side of a change; `None`: nothing is there.
type ComparedEntry = Option<(EntryId, EntryStat)>;

struct RecordingComparison<'t> {
    before: &'t SecuredTree,
    now: &'t RecordingTree,
    ignored_now: &'t IgnoredPaths,
    /// What was not secured as a whole.
    blind: HashSet<&'t str>,
    is_protected: fn(&str) -> bool,
    /// New files and links that git ignores, by the root that they lie behind, and new directories.
    ignored: BTreeMap<u32, IgnoredGroup<'t>>,
    found: RecordingDifferences<'t>,
}

/// What is new behind something that git ignores.
#[derive(Default)]
struct IgnoredGroup<'t> {
    bytes: u64,
    files: Vec<SuspectFile<'t>>,
    directories: Vec<String>,
}

impl<'t> RecordingComparison<'t> {
    /// What was secured of a file or link.
    fn secured(&self, id: EntryId) -> Option<SecuredEntry<'t>> {
        let stat = *self.before.tree.stat(id);
        let content = match stat.kind {
            EntryKind::File => SecuredContent::Image(*self.before.images.get(&id)?),
            EntryKind::Link => SecuredContent::Target(self.before.links.get(&id)?),
            EntryKind::Directory | EntryKind::Special => return None,
        };
        Some(SecuredEntry { stat, content })
    }

    /// What was not secured, and is a path or holds it.
    fn blind_over<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.blind.is_empty() {
            return None;
        }
        ancestors(path).chain([path]).find(|above| self.blind.contains(above))
    }

    fn add_change(&mut self, change: &EntryChange) {
        let was = change.before.map(|id| (id, *self.before.tree.stat(id)));
        let is = change.after.map(|id| (id, *self.now.snapshot.stat(id)));
        let is_directory = |side: ComparedEntry| side.filter(|(_, stat)| stat.kind == EntryKind::Directory);
        let is_content = |side: ComparedEntry| {
            side.filter(|(_, stat)| matches!(stat.kind, EntryKind::File | EntryKind::Link))
        };
        self.add_directory(&change.path, is_directory(was), is_directory(is));
        if change.path.is_empty() {
            return;
        }
        // What no record can hold.
        let odd = |side: ComparedEntry| {
            let (_, stat) = side?;
            recordable(stat.kind, &change.path).err()
        };
        match (odd(was), odd(is)) {
            (None, None) => self.add_content(&change.path, is_content(was), is_content(is)),
            (Some(what), None) => {
                self.leave(&change.path, &format!("was removed: it was {what}"), was);
                self.add_content(&change.path, None, is_content(is));
            }
            (_, Some(what)) if self.is_misfit(&change.path, is) => {
                let verb = if was.is_some() { "was changed" } else { "was made" };
                self.add_misfit(&change.path, format!("{verb}: it is {what}"), is_content(was), is);
            }
            (None, Some(what)) if was.is_some() => {
                self.leave(&change.path, &format!("became {what}; move it away before you revert"), None);
                self.add_content(&change.path, is_content(was), None);
            }
            (_, Some(what)) => {
                let verb = if change.kind == EntryChangeKind::Created { "was made" } else { "was changed" };
                self.leave(&change.path, &format!("{verb}: it is {what}"), is);
            }
        }
    }

    /// Whether something that no record holds stands at a protected name.
    fn is_misfit(&self, path: &[u8], is: ComparedEntry) -> bool {
        is.is_some_and(|(_, stat)| stat.kind != EntryKind::Directory) && (self.is_protected)(&path_text(path))
    }

    fn add_misfit(&mut self, path: &[u8], reason: String, was: ComparedEntry, is: ComparedEntry) {
        let before = was.and_then(|(id, _)| self.secured(id));
        let bytes = is.map_or(0, |(_, stat)| stat.size);
        self.found.misfits.push(ProtectedMisfit { path: path_text(path), reason, bytes, before });
    }

    fn leave(&mut self, path: &[u8], reason: &str, side: ComparedEntry) {
        self.found.left.add(&path_text(path), reason, 1, side.map_or(0, |(_, stat)| stat.size));
    }

    fn add_directory(&mut self, path: &[u8], was: ComparedEntry, is: ComparedEntry) {
        let path = if path.is_empty() {
            PROJECT.to_string()
        } else {
            let Ok(path) = recordable(EntryKind::Directory, path) else { return };
            path
        };
        let is_blind = self.blind_over(&path).is_some();
        match (was, is) {
            (Some((_, was)), Some((_, is))) if was.mode != is.mode => {
                self.found.modes.push(DirectoryModeChange { path, before: was.mode, after: is.mode });
            }
            (None, Some(_)) if is_blind => {}
            (None, Some((id, _))) => match self.now.snapshot.mark(id) {
                0 => self.found.made.push(path),
                group => self.ignored.entry(group).or_default().directories.push(path),
            },
            (Some((_, was)), None) if !is_blind => {
                self.found.removed.push(RemovedDirectory { path, mode: was.mode });
            }
            // What was not looked into is not in the comparison.
            (Some(_), None) if self.before.ignored.is_build_output(&path) => {
                let reason = format!("was removed, and {}", RecordOmission::BUILD_OUTPUT);
                self.found.left.add(&format!("{path}/"), &reason, 1, 0);
            }
            _ => {}
        }
    }

    fn add_content(&mut self, path: &[u8], was: ComparedEntry, is: ComparedEntry) {
        let Some(bytes) = is.or(was).map(|(_, stat)| stat.size) else { return };
        let (raw, path) = (path, path_text(path));
        let before = was.and_then(|(id, _)| self.secured(id));
        let what = match (was, is) {
            (None, _) => "was made",
            (_, None) => "was deleted",
            _ => "was changed",
        };
        if let Some(blind) = self.blind_over(&path).filter(|_| before.is_none()) {
            let name = if blind == path { path.clone() } else { format!("{blind}/") };
            self.found.left.add(&name, "was not backed up, and something in it changed", 1, bytes);
        } else if was.is_some() && before.is_none() {
            self.found.left.add(&path, &format!("{what}, and was not backed up"), 1, bytes);
        } else if is.is_some_and(|(_, stat)| stat.kind == EntryKind::File) && bytes > FILE_BYTES {
            let reason = format!("{what}, and has more than {}", format_size(FILE_BYTES));
            if self.is_misfit(raw, is) {
                return self.add_misfit(raw, reason, was, is);
            }
            self.found.left.add(&path, &reason, 1, bytes);
        } else {
            let group = is.filter(|_| was.is_none()).map_or(0, |(id, _)| self.now.snapshot.mark(id));
            let suspect = SuspectFile { path, before, now: is.map(|(_, stat)| stat) };
            if group == 0 || (self.is_protected)(&suspect.path) {
                self.found.files.push(suspect);
            } else {
                let group = self.ignored.entry(group).or_default();
                group.bytes += bytes;
                group.files.push(suspect);
            }
        }
    }

    /// Something that may have been there before.
    fn add_unknown(&mut self, change: &EntryChange) {
        let Some(id) = change.after else { return };
        let stat = self.now.snapshot.stat(id);
        if stat.kind == EntryKind::Directory {
            return;
        }
        let path = path_text(&change.path);
        let known = |above: &&str| walk::find_entry(&self.before.tree, above).is_some();
        let nearest = ancestors(&path).filter(known).last();
        let name = nearest.map_or_else(|| "./".to_string(), |nearest| format!("{nearest}/"));
        let reason = "was not looked at as a whole before: what is new in it is not known";
        self.found.left.add(&name, reason, 1, stat.size);
    }

    fn finish(mut self) -> RecordingDifferences<'t> {
        // Of files that git ignores and that came, those are kept that are little: what a build makes is no loss.
        let mut left = IGNORED_BYTES;
        for (group, IgnoredGroup { bytes, files, directories }) in std::mem::take(&mut self.ignored) {
            let name = self.now.ignored_roots.get(group as usize - 1).map_or("", String::as_str);
            let is_build_output = self.ignored_now.is_build_output(name);
            if bytes <= left && !is_build_output {
                left -= bytes;
                self.found.files.extend(files);
                self.found.made.extend(directories);
                continue;
            }
            let root = walk::find_entry(&self.now.snapshot, name);
            let is_directory = root.is_some_and(|id| self.now.snapshot.stat(id).kind == EntryKind::Directory);
            let slash = if is_directory { "/" } else { "" };
            let reason = match is_build_output {
                true => format!("was made, and {}", RecordOmission::BUILD_OUTPUT),
                false => "was made, is ignored by git, and large".to_string(),
            };
            self.found.left.add(&format!("{name}{slash}"), &reason, files.len(), bytes);
        }
        for (path, reason) in self.now.snapshot.unread() {
            let path = path_text(&path);
            if !self.blind.contains(path.as_str()) {
                self.found.left.add(&format!("{path}/"), reason, 0, 0);
            }
        }
        for (path, names) in self.now.snapshot.partial() {
            let left = walk::too_many(&path, names);
            self.found.left.add(&left.path, &left.reason, left.files, 0);
        }
        let depth = |path: &str| path.matches('/').count();
        self.found.made.sort_by_key(|path| depth(path));
        self.found.removed.sort_by_key(|directory| std::cmp::Reverse(depth(&directory.path)));
        self.found
    }
}
