//! A snapshot as bytes, for whoever writes one down before each command: numbers of as many bytes as they need, and times and
//! devices as how they differ from what stands beside them. What is read may be anybody's, so nothing of it is taken on trust.

use crate::snapshot::{EntryId, Snapshot, SnapshotNode};
use crate::stat::{EntryKind, EntryStat};

/// Bytes of a number at most.
const MOST_BYTES: u32 = 10;
/// Bits of what stands first of a node: two for what it is, and these.
const PASSAGE: u64 = 4;
const UNREAD: u64 = 8;
/// It was changed when it was last written.
const ONE_TIME: u64 = 16;

/// Puts numbers and bytes one behind the other.
#[derive(Debug, Default)]
pub struct PackedWriter(pub Vec<u8>);

impl PackedWriter {
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// One that may be below zero, but is mostly near it.
    pub fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Takes them apart again; `None` where that is not what stands there.
#[derive(Debug)]
pub struct PackedReader<'b>(pub &'b [u8]);

impl<'b> PackedReader<'b> {
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for at in 0..MOST_BYTES {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(first & 0x7f).checked_shl(7 * at)?;
            if first & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// How many of something follow, of which each has a byte at least.
    pub fn count(&mut self) -> Option<usize> {
        self.small().filter(|count| *count <= self.0.len())
    }
}

impl EntryId {
    /// Where it stands in its snapshot.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl Snapshot {
    /// Puts it behind what is there.
    pub fn pack(&self, to: &mut PackedWriter) {
        to.signed(self.began.0);
        to.number(self.began.1.into());
        to.bytes(&self.names);
        to.number(self.nodes.len() as u64);
        let mut before = EntryStat::default();
        for node in &self.nodes {
            pack_node(node, &before, to);
            before = node.stat;
        }
        to.number(self.unread.len() as u64);
        for (id, reason) in &self.unread {
            to.number((*id).into());
            to.bytes(reason.as_bytes());
        }
    }

    /// Takes one; `None` if what stands there is none.
    pub fn unpack(from: &mut PackedReader<'_>) -> Option<Snapshot> {
        let began = (from.signed()?, from.small()?);
        let names = from.bytes()?.to_vec();
        let mut nodes: Vec<SnapshotNode> = Vec::new();
        let mut before = EntryStat::default();
        for _ in 0..from.count()? {
            let node = unpack_node(&before, from)?;
            before = node.stat;
            nodes.push(node);
        }
        let mut unread = Vec::new();
        for _ in 0..from.count()? {
            unread.push((from.small()?, String::from_utf8(from.bytes()?.to_vec()).ok()?));
        }
        Some(Snapshot { names, nodes, began, unread }).filter(Snapshot::is_sound)
    }

    /// The entry that stands at this place.
    pub fn entry(&self, number: u32) -> Option<EntryId> {
        ((number as usize) < self.nodes.len()).then_some(EntryId(number))
    }
}

fn pack_node(node: &SnapshotNode, before: &EntryStat, to: &mut PackedWriter) {
    let SnapshotNode { stat, name, name_length, is_passage, is_unread, mark, parent, children, skipped } =
        node;
    let EntryStat { kind, dev, ino, size, mode, owner, links, special, modified, changed } = *stat;
    let kind = match kind {
        EntryKind::File => 0,
        EntryKind::Directory => 1,
        EntryKind::Link => 2,
        EntryKind::Special => 3,
    };
    let flags = [(*is_passage, PASSAGE), (*is_unread, UNREAD), (modified == changed, ONE_TIME)];
    to.number(kind + flags.iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit).sum::<u64>());
    to.number(dev ^ before.dev);
    to.signed(ino.wrapping_sub(before.ino).cast_signed());
    to.number(size);
    to.number((mode ^ before.mode).into());
    to.number((owner.0 ^ before.owner.0).into());
    to.number((owner.1 ^ before.owner.1).into());
    to.number(links.into());
    to.number(special);
    to.signed(changed.0.wrapping_sub(before.changed.0));
    to.number(changed.1.into());
    if modified != changed {
        to.signed(modified.0.wrapping_sub(changed.0));
        to.number(modified.1.into());
    }
    for number in [*name, (*name_length).into(), *mark, *parent, children.start, children.end, *skipped] {
        to.number(number.into());
    }
}

fn unpack_node(before: &EntryStat, from: &mut PackedReader<'_>) -> Option<SnapshotNode> {
    let flags = from.number()?;
    let kind =
        [EntryKind::File, EntryKind::Directory, EntryKind::Link, EntryKind::Special][(flags & 3) as usize];
    let mut stat = EntryStat {
        kind,
        dev: from.number()? ^ before.dev,
        ino: before.ino.wrapping_add(from.signed()?.cast_unsigned()),
        size: from.number()?,
        mode: from.small::<u32>()? ^ before.mode,
        owner: (from.small::<u32>()? ^ before.owner.0, from.small::<u32>()? ^ before.owner.1),
        links: from.small()?,
        special: from.number()?,
        changed: (from.signed()?.wrapping_add(before.changed.0), from.small()?),
        modified: (0, 0),
    };
    stat.modified = match flags & ONE_TIME {
        0 => (from.signed()?.wrapping_add(stat.changed.0), from.small()?),
        _ => stat.changed,
    };
    Some(SnapshotNode {
        stat,
        is_passage: flags & PASSAGE != 0,
        is_unread: flags & UNREAD != 0,
        name: from.small()?,
        name_length: from.small()?,
        mark: from.small()?,
        parent: from.small()?,
        children: from.small()?..from.small()?,
        skipped: from.small()?,
    })
}
