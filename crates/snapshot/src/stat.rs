//! What the file system says of an entry.

use relaycode_durable::{FsKind, FsStamp, FsStat};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EntryKind {
    /// A regular file.
    #[default]
    File,
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// What the file system says of an entry. Two that are [the same](EntryStat::is_same_record) are of an entry that nobody
/// touched, but for what happened within the [grain](EntryStat::is_racy) of the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryStat {
    /// What it is.
    #[serde(default)]
    pub kind: EntryKind,
    /// The device that it is on.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// Its length in bytes; of a link that of its target.
    pub size: u64,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    /// User and group.
    #[serde(default)]
    pub owner: (u32, u32),
    /// How many names it has.
    #[serde(default = "one")]
    pub links: u32,
    /// Of a special file which pipe, socket or device it is; of anything else 0.
    #[serde(default)]
    pub special: u64,
    /// When it was last written: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// When anything of it last changed. Nobody can set this.
    pub changed: (i64, u32),
}

fn one() -> u32 {
    1
}

/// Seconds within which the clocks of file systems may not tell two moments apart.
const GRAIN: i64 = 2;

impl EntryStat {
    /// What a stamp says.
    pub fn from_stamp(stamp: &FsStamp) -> EntryStat {
        let FsStamp { stat, modified, changed, special } = stamp;
        EntryStat { modified: *modified, changed: *changed, special: *special, ..EntryStat::from_stat(stat) }
    }

    /// The same of an entry of which the times do not matter.
    pub fn from_stat(stat: &FsStat) -> EntryStat {
        let kind = match stat.kind {
            FsKind::File => EntryKind::File,
            FsKind::Dir => EntryKind::Directory,
            FsKind::Link => EntryKind::Link,
            FsKind::Other => EntryKind::Special,
        };
        EntryStat {
            kind,
            dev: stat.dev,
            ino: stat.ino,
            size: stat.len,
            mode: stat.mode,
            owner: (stat.uid, stat.gid),
            links: u32::try_from(stat.links).unwrap_or(u32::MAX),
            ..EntryStat::default()
        }
    }

    /// Whether the file system's record of the two is the same: then nothing was done in between.
    pub fn is_same_record(&self, other: &EntryStat) -> bool {
        (self.kind, self.dev, self.ino, self.size, self.mode, self.modified, self.changed)
            == (other.kind, other.dev, other.ino, other.size, other.mode, other.modified, other.changed)
    }

    /// Whether the two are things of one kind.
    pub fn is_same_kind(&self, other: &EntryStat) -> bool {
        (self.kind, self.special) == (other.kind, other.special)
    }

    /// Whether the two are the same entry on disk.
    pub fn is_same_inode(&self, other: &EntryStat) -> bool {
        (self.kind, self.dev, self.ino) == (other.kind, other.dev, other.ino)
    }

    /// Whether only permission bits or the owner differ: it was not written and is the same entry.
    pub fn differs_by_mode(&self, other: &EntryStat) -> bool {
        self.is_same_inode(other)
            && (self.size, self.modified) == (other.size, other.modified)
            && (self.mode, self.owner) != (other.mode, other.owner)
    }

    /// Whether it was changed so shortly before `began` that a change right afterwards may not show in its times.
    pub fn is_racy(&self, began: (i64, u32)) -> bool {
        self.changed.0.max(self.modified.0) >= began.0.saturating_sub(GRAIN)
    }
}
