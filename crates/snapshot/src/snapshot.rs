//! What a walk found: every entry with what the file system says of it.
//!
//! The entries of a directory stand together and in the order of their names, and no entry has its path: one is put
//! together for those that somebody asks for. That keeps a snapshot small, and comparing two of them one pass.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::stat::EntryStat;

/// An entry of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryId(pub(crate) u32);

/// The root itself.
pub(crate) const ROOT: EntryId = EntryId(0);

#[derive(Debug, Clone, Default)]
pub(crate) struct SnapshotNode {
    pub(crate) stat: EntryStat,
    /// Where its name begins.
    pub(crate) name: u32,
    pub(crate) name_length: u16,
    /// Only what is in it counts, not itself.
    pub(crate) is_passage: bool,
    /// It could not be looked at, or into.
    pub(crate) is_unread: bool,
    /// What the caller's rule said of it.
    pub(crate) mark: u32,
    pub(crate) parent: u32,
    pub(crate) children: Range<u32>,
    /// How many names in it were not looked at, because there were too many in all.
    pub(crate) skipped: u32,
}

/// A tree as it was at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub(crate) names: Vec<u8>,
    pub(crate) nodes: Vec<SnapshotNode>,
    /// The time when the walk began.
    pub(crate) began: (i64, u32),
    /// What could not be looked at, or into, and what the system said.
    pub(crate) unread: Vec<(u32, String)>,
}

impl Snapshot {
    pub(crate) fn new(root: EntryStat, mark: u32, began: (i64, u32)) -> Snapshot {
        let mut snapshot = Snapshot { names: Vec::new(), nodes: Vec::new(), began, unread: Vec::new() };
        snapshot.nodes.push(node(root, (0, 0), mark, 0));
        snapshot
    }

    pub(crate) fn node(&self, id: EntryId) -> &SnapshotNode {
        &self.nodes[id.0 as usize]
    }

    pub(crate) fn node_mut(&mut self, id: EntryId) -> &mut SnapshotNode {
        &mut self.nodes[id.0 as usize]
    }

    /// How many entries there are; the root is none.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether the tree is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The root itself.
    pub fn root(&self) -> EntryId {
        ROOT
    }

    /// The time when the walk began, as the caller gave it.
    pub fn began(&self) -> (i64, u32) {
        self.began
    }

    /// The same tree was there at another time, too.
    pub fn set_began(&mut self, began: (i64, u32)) {
        self.began = began;
    }

    /// Whether there is something that could not be looked at, or into, or was not.
    pub fn has_gaps(&self) -> bool {
        self.nodes.iter().any(|node| node.is_unread || node.skipped > 0)
    }

    /// Says something else of an entry than the caller's rule did.
    pub fn set_mark(&mut self, id: EntryId, mark: u32) {
        self.node_mut(id).mark = mark;
    }

    /// Every entry but the root: those of one directory together.
    pub fn ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (1..self.nodes.len() as u32).map(EntryId)
    }

    /// What the file system says of an entry.
    pub fn stat(&self, id: EntryId) -> &EntryStat {
        &self.node(id).stat
    }

    /// What the caller's rule said of it.
    pub fn mark(&self, id: EntryId) -> u32 {
        self.node(id).mark
    }

    /// The directory that it is in; `None`: it is the root.
    pub fn parent(&self, id: EntryId) -> Option<EntryId> {
        (id != ROOT).then(|| EntryId(self.node(id).parent))
    }

    /// Its last name. Foreign text.
    pub fn name(&self, id: EntryId) -> &[u8] {
        let node = self.node(id);
        &self.names[node.name as usize..][..usize::from(node.name_length)]
    }

    /// Its path beneath the root, which itself has none. Foreign text.
    pub fn path(&self, id: EntryId) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at.filter(|id| *id != ROOT) {
            parts.push(self.name(id));
            at = self.parent(id);
        }
        parts.reverse();
        parts.join(&b'/')
    }

    /// What is in a directory, by name.
    pub fn children(&self, id: EntryId) -> impl ExactSizeIterator<Item = EntryId> + use<> {
        self.node(id).children.clone().map(EntryId)
    }

    /// The entry of this name in a directory.
    pub fn child(&self, id: EntryId, name: &[u8]) -> Option<EntryId> {
        let children = self.node(id).children.clone();
        let (mut low, mut high) = (children.start, children.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(EntryId(middle)).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(EntryId(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The entry at a path beneath the root.
    pub fn find(&self, path: &[u8]) -> Option<EntryId> {
        path.split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty())
            .try_fold(ROOT, |at, name| self.child(at, name))
    }

    /// Every entry but the root, a directory before what is in it, with its path.
    pub fn for_each(&self, see: &mut dyn FnMut(&[u8], EntryId)) {
        self.for_each_below(ROOT, &mut Vec::new(), see);
    }

    pub(crate) fn for_each_below(
        &self,
        at: EntryId,
        path: &mut Vec<u8>,
        see: &mut dyn FnMut(&[u8], EntryId),
    ) {
        // By hand: a tree may be deeper than a thread's stack.
        let mut open: Vec<(Range<u32>, usize)> = vec![(self.node(at).children.clone(), path.len())];
        while let Some((rest, length)) = open.last_mut() {
            path.truncate(*length);
            let Some(next) = rest.next() else {
                open.pop();
                continue;
            };
            let id = EntryId(next);
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(self.name(id));
            if !self.node(id).is_passage {
                see(path, id);
            }
            let children = self.node(id).children.clone();
            if !children.is_empty() {
                open.push((children, path.len()));
            }
        }
    }

    /// What could not be looked at, or into: its path, and what the system said. Foreign text.
    pub fn unread(&self) -> impl Iterator<Item = (Vec<u8>, &str)> {
        self.unread.iter().map(|(id, reason)| (self.path(EntryId(*id)), reason.as_str()))
    }

    /// Whether an entry could not be looked at, or into.
    pub fn is_unread(&self, id: EntryId) -> bool {
        self.node(id).is_unread
    }

    /// Directories of which not every name was looked at, and how many were not.
    pub fn partial(&self) -> impl Iterator<Item = (Vec<u8>, usize)> {
        let all = self.nodes.iter().enumerate().filter(|(_, node)| node.skipped > 0);
        all.map(|(at, node)| (self.path(EntryId(at as u32)), node.skipped as usize))
    }

    /// Whether what was written down can be one: every entry stands where it says.
    pub(crate) fn is_sound(&self) -> bool {
        let count = self.nodes.len() as u32;
        let is_sound = |(at, node): (usize, &SnapshotNode)| {
            let end = node.name as usize + usize::from(node.name_length);
            let children = &node.children;
            end <= self.names.len()
                && (at == 0 || (node.parent as usize) < at)
                && children.start <= children.end
                && (children.is_empty() || (children.start as usize > at && children.end <= count))
        };
        !self.nodes.is_empty()
            && self.nodes.iter().enumerate().all(is_sound)
            && self.unread.iter().all(|(id, _)| *id < count)
    }

    /// Corrects what is known of an entry that was looked at again.
    pub fn set_stat(&mut self, id: EntryId, stat: EntryStat) {
        self.node_mut(id).stat = stat;
    }

    /// Nothing is known of an entry any more: it is neither new nor gone.
    pub fn forget(&mut self, id: EntryId) {
        self.node_mut(id).is_unread = true;
    }

    /// An entry could not be looked at, or into.
    pub fn set_unread(&mut self, id: EntryId, reason: String) {
        self.node_mut(id).is_unread = true;
        self.unread.push((id.0, reason));
    }
}

pub(crate) fn node(stat: EntryStat, name: (u32, u16), mark: u32, parent: u32) -> SnapshotNode {
    let (name, name_length) = name;
    SnapshotNode { stat, name, name_length, mark, parent, ..SnapshotNode::default() }
}
