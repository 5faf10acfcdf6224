//! The walk through a tree: every entry once, by open directories, through no link.
//!
//! What is gone when it is looked at was not there. What cannot be looked at, or into, is kept as such: it must never
//! pass for gone or for new. If there are more entries than the caller wants, what was known before is looked at all the
//! same, and of every directory it is kept how many names were not.
//!
//! Every entry is looked at each time. The names of a directory are not read again where an earlier walk read them, the
//! directory's record is the same and was not young then, and its file system is one that is known to keep such times. If one of
//! those names is not there after all, nothing of that is believed, and the directory is read.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use relaycode_durable::{Fs, FsDir};

use crate::snapshot::{EntryId, ROOT, Snapshot, node};
use crate::stat::{EntryKind, EntryStat};

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkCaps {
    /// Entries that were not known before.
    pub entries: usize,
    /// How deep directories may be nested.
    pub depth: usize,
}

/// Entries of a project that are looked at.
pub const ENTRIES: usize = 500_000;
/// Directories within directories.
pub const DEPTH: usize = 1_024;

impl Default for WalkCaps {
    fn default() -> WalkCaps {
        WalkCaps { entries: ENTRIES, depth: DEPTH }
    }
}

/// What an earlier walk found.
#[derive(Debug, Clone, Copy)]
pub struct KnownTree<'t> {
    pub tree: &'t Snapshot,
    /// It is looked at again whatever the cap is, and not counted.
    pub is_beyond_cap: bool,
    /// It was walked by a rule that skips the same: the names of directories that did not change are taken from it.
    pub lends_names: bool,
}

impl<'t> KnownTree<'t> {
    /// A tree that is looked at again, not counted, by a rule that may skip something else.
    pub fn beyond_cap(tree: &'t Snapshot) -> KnownTree<'t> {
        KnownTree { tree, is_beyond_cap: true, lends_names: false }
    }
}

/// What becomes of an entry. Those that are taken get a mark, which only the caller understands; a directory's is given
/// to the rule again with everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// It is no part of the tree.
    Skip,
    /// It is taken; a directory is entered.
    Take(u32),
    /// It is taken; a directory is entered when everything else was: if there is too much, it is left out first.
    Later(u32),
    /// It is taken, and not entered.
    Leaf(u32),
    /// It is entered, and only what is in it is part of the tree.
    Pass(u32),
}

/// The directory that a rule is asked about.
#[derive(Debug, Clone, Copy)]
pub struct WalkDirectory<'w> {
    /// Its path beneath the root.
    pub path: &'w [u8],
    pub mark: u32,
}

/// What belongs to a tree.
pub trait WalkRule {
    /// What becomes of an entry of a directory.
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep;

    /// Whether a name is passed over before it is looked at or counted.
    fn skips(&self, _at: WalkDirectory<'_>, _name: &[u8]) -> bool {
        false
    }

    /// The mark for a directory, once it is known which names are in it.
    fn enter(&mut self, at: WalkDirectory<'_>, _contains: &dyn Fn(&[u8]) -> bool) -> u32 {
        at.mark
    }

    /// Whether somebody wants the walk to stop. It is asked often.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Everything belongs to the tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct WholeTree;

impl WalkRule for WholeTree {
    fn step(&mut self, _at: WalkDirectory<'_>, _name: &[u8], _stat: &EntryStat) -> WalkStep {
        WalkStep::Take(0)
    }
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The root cannot be looked at.
    #[error("the directory cannot be read: {0}")]
    Root(io::Error),
    /// Somebody wanted it to stop.
    #[error("looking at the files was interrupted")]
    Stopped,
}

/// Entries between two questions whether to stop.
const STOP_EVERY: usize = 64;

impl Snapshot {
    /// Walks through everything beneath `root`. `known` is what was there before.
    /// `began` is the time now, seconds since 1970 and nanoseconds: it tells which entries are too young for their times
    /// to show whether they change right afterwards.
    ///
    /// # Errors
    /// If the root cannot be looked at, or the rule wants to stop.
    pub fn take(
        fs: &dyn Fs,
        root: &FsDir,
        rule: &mut dyn WalkRule,
        caps: WalkCaps,
        known: Option<KnownTree<'_>>,
        began: (i64, u32),
    ) -> Result<Snapshot, WalkError> {
        let stat = fs.stat_dir(root).map_err(WalkError::Root)?;
        let mut snapshot = Snapshot::new(EntryStat::from_stat(&stat), 0, began);
        if let Some(known) = known {
            // Mostly it is the same tree again.
            snapshot.nodes.reserve(known.tree.nodes.len());
            snapshot.names.reserve(known.tree.names.len());
        }
        let keeps_times =
            known.is_some_and(|known| known.lends_names) && fs.keeps_directory_times(root).unwrap_or(false);
        let mut walk = TreeWalk {
            fs,
            caps,
            known,
            names_from: keeps_times.then_some(stat.dev),
            rule,
            snapshot,
            counted: 0,
            listed: Vec::new(),
            looked_at: Vec::new(),
            pending: Vec::new(),
            later: Vec::new(),
        };
        let known = known.map(|known| known.tree.root());
        let start = PendingDirectory { parent: None, id: ROOT, known, depth: 0, path: Vec::new() };
        walk.run(root, start)?;
        Ok(walk.snapshot)
    }
}

struct TreeWalk<'w> {
    fs: &'w dyn Fs,
    caps: WalkCaps,
    known: Option<KnownTree<'w>>,
    /// The device on which names may be taken from what is known.
    names_from: Option<u64>,
    rule: &'w mut dyn WalkRule,
    snapshot: Snapshot,
    /// Names that were not known before.
    counted: usize,
    /// The names of the directory that is being read, as they stand in the snapshot.
    listed: Vec<ListedName>,
    /// What is there under each of them, if they were taken from what is known.
    looked_at: Vec<EntryStat>,
    pending: Vec<PendingDirectory>,
    /// Directories that are entered at the end.
    later: Vec<PendingDirectory>,
}

/// A name in a directory: its first bytes, by which most can be told apart, where it stands, and what was known under it.
struct ListedName {
    prefix: u64,
    start: u32,
    length: u16,
    known: Option<EntryId>,
    is_counted: bool,
}

/// A directory among the entries of another one.
struct FoundDirectory {
    id: EntryId,
    known: Option<EntryId>,
    /// It is entered at the end.
    is_later: bool,
}

/// A directory that has still to be entered. It shares the handle of the one above with its siblings, so that only few
/// are open at any time, however deep the tree is.
struct PendingDirectory {
    /// `None`: it is found by its path.
    parent: Option<FsDir>,
    id: EntryId,
    known: Option<EntryId>,
    depth: usize,
    path: Vec<u8>,
}

impl TreeWalk<'_> {
    fn run(&mut self, root: &FsDir, start: PendingDirectory) -> Result<(), WalkError> {
        self.list(root, start)?;
        loop {
            while let Some(next) = self.pending.pop() {
                self.enter(root, next)?;
            }
            self.pending = std::mem::take(&mut self.later);
            if self.pending.is_empty() {
                return Ok(());
            }
        }
    }

    fn enter(&mut self, root: &FsDir, next: PendingDirectory) -> Result<(), WalkError> {
        if next.depth > self.caps.depth {
            self.snapshot.set_unread(next.id, "it is nested too deeply".to_string());
            return Ok(());
        }
        let opened = match &next.parent {
            Some(parent) => self.fs.open_child(parent, OsStr::from_bytes(self.snapshot.name(next.id))),
            None => open_below(self.fs, root, &next.path),
        };
        match opened {
            Ok(dir) => self.list(&dir, next),
            Err(error) => {
                self.not_entered(next.id, &error);
                Ok(())
            }
        }
    }

    fn not_entered(&mut self, id: EntryId, error: &io::Error) {
        // Gone since it was looked at: nothing was in it.
        if error.kind() != io::ErrorKind::NotFound {
            self.snapshot.set_unread(id, format!("it cannot be read: {error}"));
        }
    }

    /// Takes in what is in an open directory.
    fn list(&mut self, dir: &FsDir, here: PendingDirectory) -> Result<(), WalkError> {
        let PendingDirectory { id, known, depth, path, .. } = here;
        if !self.take_known_names(dir, id, known) {
            if let Err(error) = self.read_names(dir, id, known, &path) {
                if id == ROOT {
                    return Err(WalkError::Root(error));
                }
                // What was listed until then is not all, and nobody could tell what is missing.
                self.snapshot.set_unread(id, format!("it cannot be read: {error}"));
                return Ok(());
            }
            self.sort_names();
        }
        let at = WalkDirectory { path: &path, mark: self.snapshot.node(id).mark };
        let (names, listed) = (&self.snapshot.names, &self.listed);
        let contains = |wanted: &[u8]| {
            listed.binary_search_by(|name| slice(names, name.start, name.length).cmp(wanted)).is_ok()
        };
        let at = WalkDirectory { mark: self.rule.enter(at, &contains), ..at };
        let first = self.snapshot.nodes.len() as u32;
        let mut below = Vec::new();
        for number in 0..self.listed.len() {
            if number % STOP_EVERY == 0 && self.rule.is_stopped() {
                return Err(WalkError::Stopped);
            }
            if !self.add(dir, at, id, number, &mut below) && self.listed[number].is_counted {
                self.counted -= 1;
            }
        }
        self.snapshot.node_mut(id).children = first..self.snapshot.nodes.len() as u32;
        for FoundDirectory { id: child, known, is_later } in below.into_iter().rev() {
            let name = self.snapshot.name(child);
            let mut below = Vec::with_capacity(path.len() + 1 + name.len());
            below.extend_from_slice(&path);
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(name);
            // One that is entered at the end lets go of the handle: there may be thousands.
            let parent = (!is_later).then(|| dir.clone());
            let next = PendingDirectory { parent, id: child, known, depth: depth + 1, path: below };
            if is_later { self.later.push(next) } else { self.pending.push(next) }
        }
        Ok(())
    }

    /// Looks at one entry and says whether it belongs to the tree; a directory to be entered goes to `below`.
    fn add(
        &mut self,
        dir: &FsDir,
        at: WalkDirectory<'_>,
        parent: EntryId,
        number: usize,
        below: &mut Vec<FoundDirectory>,
    ) -> bool {
        let ListedName { start, length, known, .. } = self.listed[number];
        let name = (start, length);
        let bytes = slice(&self.snapshot.names, name.0, name.1);
        let stat = match self.looked_at.get(number) {
            Some(stat) => Ok(*stat),
            None => self.fs.stamp(dir, OsStr::from_bytes(bytes)).map(|stamp| EntryStat::from_stamp(&stamp)),
        };
        let stat = match stat {
            Ok(stat) => stat,
            // Gone again: it is as if it had never been.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(error) => {
                let id = EntryId(self.snapshot.nodes.len() as u32);
                let unknown = EntryStat { kind: EntryKind::Special, ..EntryStat::default() };
                self.snapshot.nodes.push(node(unknown, name, at.mark, parent.0));
                self.snapshot.set_unread(id, format!("it cannot be looked at: {error}"));
                return true;
            }
        };
        let step = self.rule.step(at, bytes, &stat);
        let (mark, enters, is_later, is_passage) = match step {
            WalkStep::Skip => return false,
            WalkStep::Take(mark) => (mark, true, false, false),
            WalkStep::Later(mark) => (mark, true, true, false),
            WalkStep::Leaf(mark) => (mark, false, false, false),
            WalkStep::Pass(mark) => (mark, true, false, true),
        };
        let id = EntryId(self.snapshot.nodes.len() as u32);
        self.snapshot.nodes.push(node(stat, name, mark, parent.0));
        self.snapshot.node_mut(id).is_passage = is_passage;
        if enters && stat.kind == EntryKind::Directory {
            below.push(FoundDirectory { id, known, is_later });
        }
        true
    }

    /// Takes the names of a directory from what is known, if they must still be those that are there, and looks at each.
    fn take_known_names(&mut self, dir: &FsDir, id: EntryId, known: Option<EntryId>) -> bool {
        // The root's own record has no times.
        let (Some(device), Some(was), Some(earlier), true) = (self.names_from, known, self.known, id != ROOT)
        else {
            return false;
        };
        let (old, new) = (earlier.tree.node(was), self.snapshot.node(id));
        // One that was not entered has no place for what is in it, and the root is before all of those.
        let was_listed = old.children.start > 0 && !old.is_unread && old.skipped == 0;
        let is_same = old.stat.is_same_record(&new.stat)
            && old.stat.dev == device
            && !old.stat.is_racy(earlier.tree.began());
        let is_counted = !earlier.is_beyond_cap;
        let has_room = !is_counted || self.counted + old.children.len() <= self.caps.entries;
        if !was_listed || !is_same || !has_room {
            return false;
        }
        // What was looked at and what was opened have to be the same directory.
        let opened =
            self.fs.stat_dir(dir).is_ok_and(|now| (now.dev, now.ino) == (old.stat.dev, old.stat.ino));
        if !opened {
            return false;
        }
        self.listed.clear();
        self.looked_at.clear();
        for (number, child) in earlier.tree.children(was).enumerate() {
            let name = earlier.tree.name(child);
            match self.fs.stamp(dir, OsStr::from_bytes(name)) {
                Ok(stamp) if number % STOP_EVERY != 0 || !self.rule.is_stopped() => {
                    self.looked_at.push(EntryStat::from_stamp(&stamp));
                }
                // It has to be there: whatever is going on, the names are read.
                _ => return false,
            }
            let start = self.snapshot.names.len() as u32;
            self.snapshot.names.extend_from_slice(name);
            let length = name.len() as u16;
            // They are in order already.
            self.listed.push(ListedName { prefix: 0, start, length, known: Some(child), is_counted });
        }
        self.counted += if is_counted { self.listed.len() } else { 0 };
        true
    }

    /// Reads the names of a directory, as many as may be looked at.
    fn read_names(&mut self, dir: &FsDir, id: EntryId, was: Option<EntryId>, path: &[u8]) -> io::Result<()> {
        let at = WalkDirectory { path, mark: self.snapshot.node(id).mark };
        let (names, listed, rule) = (&mut self.snapshot.names, &mut self.listed, &*self.rule);
        let (counted, most, before) = (&mut self.counted, self.caps.entries, self.known);
        let mut skipped = 0;
        listed.clear();
        self.looked_at.clear();
        self.fs.for_each_entry(dir, &mut |name, _| {
            let name = name.as_bytes();
            if rule.skips(at, name) {
                return;
            }
            let known = was.zip(before).and_then(|(was, before)| before.tree.child(was, name));
            let is_counted = known.is_none() || before.is_some_and(|before| !before.is_beyond_cap);
            if is_counted {
                if *counted >= most {
                    skipped += 1;
                    return;
                }
                *counted += 1;
            }
            let start = names.len() as u32;
            names.extend_from_slice(name);
            let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
            listed.push(ListedName { prefix: prefix_of(name), start, length, known, is_counted });
        })?;
        self.snapshot.node_mut(id).skipped = skipped;
        Ok(())
    }

    fn sort_names(&mut self) {
        let names = &self.snapshot.names;
        let name = |listed: &ListedName| slice(names, listed.start, listed.length);
        self.listed.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| name(a).cmp(name(b))));
    }
}

/// The first bytes of a name as a number that sorts as they do.
fn prefix_of(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(bytes)
}

fn slice(names: &[u8], start: u32, length: u16) -> &[u8] {
    &names[start as usize..][..usize::from(length)]
}

/// Opens a directory beneath another one, name by name: none need be UTF-8, and no link is followed.
pub fn open_below(fs: &dyn Fs, root: &FsDir, path: &[u8]) -> io::Result<FsDir> {
    path.split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
        .try_fold(root.clone(), |at, name| fs.open_child(&at, OsStr::from_bytes(name)))
}
