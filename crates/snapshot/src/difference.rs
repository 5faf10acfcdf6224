//! What differs between two snapshots of a tree, without a byte read.
//!
//! Both are gone through at once, name by name. What could not be looked at on either side is neither new nor gone. That
//! an entry is the same is certain, but for [racy](TreeDifference::racy) ones; that it was written says nothing of its
//! bytes, which the caller compares if it has kept them.

use std::cmp::Ordering;

use crate::snapshot::{EntryId, ROOT, Snapshot, SnapshotNode};
use crate::stat::{EntryKind, EntryStat};

/// How an entry differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryChangeKind {
    /// It was not there.
    Created,
    /// It is not there any more.
    Deleted,
    /// It was written to or replaced by another one of its kind.
    Modified,
    /// It is something else now: a link where a file was.
    TypeChanged,
    /// It has other permission bits or another owner, and was not written.
    ModeChanged,
}

/// An entry that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    /// Its path beneath the root, which itself has none. Foreign text.
    pub path: Vec<u8>,
    pub kind: EntryChangeKind,
    /// What it was, in the earlier snapshot.
    pub before: Option<EntryId>,
    /// What it is, in the later one.
    pub after: Option<EntryId>,
}

/// What became of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeDifference {
    /// What differs: a directory before what is in it.
    pub changes: Vec<EntryChange>,
    /// Files and links that are the same by their times, which are so young that a change right after the first look
    /// would not show: they are the same if what they hold is.
    pub racy: Vec<EntryChange>,
    /// What is there now, in directories of which not every name was looked at before: nobody knows whether it is new.
    pub unknown: Vec<EntryChange>,
}

impl TreeDifference {
    /// Compares two snapshots. The later one was taken with the earlier one as what is known, so that of that everything
    /// was looked at again.
    pub fn between(before: &Snapshot, after: &Snapshot) -> TreeDifference {
        let found = TreeDifference::default();
        let mut comparison = TreeComparison { before, after, found, open: Vec::new() };
        comparison.compare(ROOT, ROOT);
        while let Some((was, is)) = comparison.open.pop() {
            comparison.compare_children(was, is);
        }
        let mut found = comparison.found;
        // Directories were gone through one after the other, not one within the other.
        for list in [&mut found.changes, &mut found.racy, &mut found.unknown] {
            list.sort_by(|a, b| parts(&a.path).cmp(parts(&b.path)));
        }
        found
    }

    /// Whether nothing differs, for certain.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.racy.is_empty() && self.unknown.is_empty()
    }
}

/// The entries that are in both snapshots under one name and with the same record: what was known of one holds for the
/// other, but for [racy](EntryStat::is_racy) ones.
pub fn for_each_same(before: &Snapshot, after: &Snapshot, see: &mut dyn FnMut(EntryId, EntryId)) {
    let mut open = vec![(ROOT, ROOT)];
    while let Some((was, is)) = open.pop() {
        let (mut old, mut new) = (before.children(was).peekable(), after.children(is).peekable());
        while let (Some(one), Some(other)) = (old.peek().copied(), new.peek().copied()) {
            match before.name(one).cmp(after.name(other)) {
                Ordering::Less => _ = old.next(),
                Ordering::Greater => _ = new.next(),
                Ordering::Equal => {
                    (_, _) = (old.next(), new.next());
                    let (one_stat, other_stat) = (before.stat(one), after.stat(other));
                    let is_known = !before.is_unread(one) && !after.is_unread(other);
                    if is_known && one_stat.is_same_record(other_stat) {
                        see(one, other);
                    }
                    if one_stat.kind == EntryKind::Directory && other_stat.kind == EntryKind::Directory {
                        open.push((one, other));
                    }
                }
            }
        }
    }
}

/// Whether nothing is known of an entry but its name.
fn is_unknown(node: &SnapshotNode) -> bool {
    node.is_unread && node.stat.kind != EntryKind::Directory
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

/// How two records of one name differ; `None`: not at all.
fn change_kind(before: &EntryStat, after: &EntryStat) -> Option<EntryChangeKind> {
    if !before.is_same_kind(after) {
        return Some(EntryChangeKind::TypeChanged);
    }
    let is_mode = (before.mode, before.owner) != (after.mode, after.owner);
    // The record of a directory changes with every entry in it, and these are compared themselves.
    if before.kind == EntryKind::Directory {
        return is_mode.then_some(EntryChangeKind::ModeChanged);
    }
    if before.is_same_record(after) {
        return None;
    }
    Some(if before.differs_by_mode(after) { EntryChangeKind::ModeChanged } else { EntryChangeKind::Modified })
}

struct TreeComparison<'c> {
    before: &'c Snapshot,
    after: &'c Snapshot,
    found: TreeDifference,
    /// Directories that are on both sides, and whose entries have still to be compared.
    open: Vec<(EntryId, EntryId)>,
}

impl TreeComparison<'_> {
    fn compare_children(&mut self, was: EntryId, is: EntryId) {
        if self.before.is_unread(was) || self.after.is_unread(is) {
            return;
        }
        let is_partial = self.before.node(was).skipped > 0;
        let (mut old, mut new) = (self.before.children(was).peekable(), self.after.children(is).peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => self.before.name(*old).cmp(self.after.name(*new)),
            };
            let was = if order.is_le() { old.next() } else { None };
            let is = if order.is_ge() { new.next() } else { None };
            match (was, is) {
                (Some(was), Some(is)) => self.compare(was, is),
                (Some(was), None) => self.add_deleted(was),
                (None, Some(is)) => self.add_created(is, is_partial),
                (None, None) => return,
            }
        }
    }

    fn compare(&mut self, was: EntryId, is: EntryId) {
        let (before, after) = (self.before.node(was), self.after.node(is));
        let (old, new) = (&before.stat, &after.stat);
        if is_unknown(before) || is_unknown(after) {
            return;
        }
        // One that only leads somewhere is not there itself.
        if before.is_passage != after.is_passage || (before.is_passage && !old.is_same_kind(new)) {
            self.add_deleted(was);
            return self.add_created(is, false);
        }
        let both = (Some(was), Some(is));
        match change_kind(old, new) {
            _ if before.is_passage => {}
            Some(EntryChangeKind::TypeChanged) => {
                self.push(EntryChangeKind::TypeChanged, both);
                self.add_below(was, None);
                self.add_below(is, Some(false));
                return;
            }
            Some(kind) => self.push(kind, both),
            None if old.kind != EntryKind::Directory && old.is_racy(self.before.began) => {
                let path = self.after.path(is);
                let kind = EntryChangeKind::Modified;
                self.found.racy.push(EntryChange { path, kind, before: both.0, after: both.1 });
            }
            None => {}
        }
        if old.kind == EntryKind::Directory {
            self.open.push((was, is));
        }
    }

    fn add_deleted(&mut self, was: EntryId) {
        if is_unknown(self.before.node(was)) {
            return;
        }
        if !self.before.node(was).is_passage {
            self.push(EntryChangeKind::Deleted, (Some(was), None));
        }
        self.add_below(was, None);
    }

    fn add_created(&mut self, is: EntryId, is_partial: bool) {
        if !self.after.node(is).is_passage {
            self.push_created(is, is_partial);
        }
        self.add_below(is, Some(is_partial));
    }

    /// Everything in a directory that is on one side only: `None` for the earlier one; for the later one whether nobody
    /// knows if it is new.
    fn add_below(&mut self, id: EntryId, created: Option<bool>) {
        let side = if created.is_some() { self.after } else { self.before };
        let mut ids = Vec::new();
        side.for_each_below(id, &mut Vec::new(), &mut |_, id| ids.push(id));
        for id in ids {
            match created {
                Some(is_partial) => self.push_created(id, is_partial),
                None if is_unknown(self.before.node(id)) => {}
                None => self.push(EntryChangeKind::Deleted, (Some(id), None)),
            }
        }
    }

    fn push_created(&mut self, is: EntryId, is_partial: bool) {
        if !is_partial {
            return self.push(EntryChangeKind::Created, (None, Some(is)));
        }
        let (path, kind) = (self.after.path(is), EntryChangeKind::Created);
        self.found.unknown.push(EntryChange { path, kind, before: None, after: Some(is) });
    }

    fn push(&mut self, kind: EntryChangeKind, (before, after): (Option<EntryId>, Option<EntryId>)) {
        let path = match (before, after) {
            (Some(id), _) => self.before.path(id),
            (None, Some(id)) => self.after.path(id),
            (None, None) => return,
        };
        self.found.changes.push(EntryChange { path, kind, before, after });
    }
}
