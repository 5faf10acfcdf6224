//! What is remembered of a file.

use rustix::fs::{FileType, Stat};
use sha2::{Digest, Sha256};

use super::git_index::StagedContent;

/// A digest: long enough that nobody finds another content with the same one.
pub(super) type CheckDigest = [u8; 16];

/// What the system says of a file, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedEntry {
    pub(super) kind: CheckedEntryKind,
    /// Permission bits.
    pub(super) mode: u32,
    /// User and group.
    pub(super) owner: (u32, u32),
    pub(super) size: u64,
    /// Which file it is: device and number.
    file_id: (u64, u64),
    /// How many names it has.
    link_count: u64,
    /// When it was last written, in seconds and nanoseconds.
    pub(super) modified_at: (i64, i64),
    /// When anything about it last changed. Nobody can set this.
    changed_at: (i64, i64),
    pub(super) content: CheckedEntryContent,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckedEntryKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket, a device: which of them, and for a device which one.
    Special(u32, u64),
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CheckedEntryContent {
    /// Nothing that could be read: it is no file and no link.
    None,
    /// It was not read.
    Unread,
    /// A digest of it.
    Known(CheckDigest),
    /// It is an index: what is staged there.
    Staged(StagedContent),
}

impl CheckedEntry {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields have other types on other systems"
    )]
    pub(super) fn from_stat(stat: &Stat) -> CheckedEntry {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => CheckedEntryKind::File,
            FileType::Directory => CheckedEntryKind::Directory,
            FileType::Symlink => CheckedEntryKind::Link,
            _ => CheckedEntryKind::Special(u32::from(stat.st_mode) & !0o7777, stat.st_rdev as u64),
        };
        CheckedEntry {
            kind,
            mode: u32::from(stat.st_mode) & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            size: if kind == CheckedEntryKind::Directory { 0 } else { stat.st_size as u64 },
            file_id: (stat.st_dev as u64, stat.st_ino as u64),
            link_count: stat.st_nlink as u64,
            modified_at: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed_at: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            content: if matches!(kind, CheckedEntryKind::File | CheckedEntryKind::Link) {
                CheckedEntryContent::Unread
            } else {
                CheckedEntryContent::None
            },
        }
    }

    /// Whether the system's record is the same: then nothing was done to it.
    pub(super) fn same_record(&self, other: &CheckedEntry) -> bool {
        (self.size, self.file_id, self.modified_at, self.changed_at)
            == (other.size, other.file_id, other.modified_at, other.changed_at)
    }

    /// Whether it is the same file on disk.
    pub(super) fn is_same_file(&self, other: &CheckedEntry) -> bool {
        self.kind == other.kind && self.file_id == other.file_id
    }

    /// Whether another file took its place that has a further name: whoever writes there, writes here.
    pub(super) fn is_new_hardlink(&self, before: &CheckedEntry) -> bool {
        self.kind == CheckedEntryKind::File && self.file_id != before.file_id && self.link_count > 1
    }
}

/// The digest in the length that is kept.
pub(super) fn finish_digest(hash: Sha256) -> CheckDigest {
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}
