//! What is remembered of a file.

use rustix::fs::{FileType, Stat};
use sha2::{Digest, Sha256};

use super::staged::Staged;

/// A digest: long enough that nobody finds another content with the same one.
pub(super) type Short = [u8; 16];

/// What the system says of a file, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    /// Permission bits.
    pub(super) mode: u32,
    /// User and group.
    pub(super) owner: (u32, u32),
    pub(super) size: u64,
    /// Which file it is: device and number.
    which: (u64, u64),
    /// How many names it has.
    names: u64,
    /// When it was last written, in seconds and nanoseconds.
    pub(super) written: (i64, i64),
    /// When anything about it last changed. Nobody can set this.
    changed: (i64, i64),
    pub(super) content: Content,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    /// A pipe, a socket, a device: which of them, and for a device which one.
    Special(u32, u64),
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing that could be read: it is no file and no link.
    None,
    /// It was not read.
    Unread,
    /// A digest of it.
    Known(Short),
    /// It is an index: what is staged there.
    Staged(Staged),
}

impl Seen {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields have other types on other systems"
    )]
    pub(super) fn of(stat: &Stat) -> Seen {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special(u32::from(stat.st_mode) & !0o7777, stat.st_rdev as u64),
        };
        Seen {
            kind,
            mode: u32::from(stat.st_mode) & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            size: if kind == Kind::Directory { 0 } else { stat.st_size as u64 },
            which: (stat.st_dev as u64, stat.st_ino as u64),
            names: stat.st_nlink as u64,
            written: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            content: if matches!(kind, Kind::File | Kind::Link) { Content::Unread } else { Content::None },
        }
    }

    /// Whether the system's record is the same: then nothing was done to it.
    pub(super) fn same_record(&self, other: &Seen) -> bool {
        (self.size, self.which, self.written, self.changed)
            == (other.size, other.which, other.written, other.changed)
    }

    /// Whether it is the same file on disk.
    pub(super) fn is_the_file(&self, other: &Seen) -> bool {
        self.kind == other.kind && self.which == other.which
    }

    /// Whether another file took its place that has a further name: whoever writes there, writes here.
    pub(super) fn is_tied_elsewhere(&self, before: &Seen) -> bool {
        self.kind == Kind::File && self.which != before.which && self.names > 1
    }
}

/// The digest in the length that is kept.
pub(super) fn short(hash: Sha256) -> Short {
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}
