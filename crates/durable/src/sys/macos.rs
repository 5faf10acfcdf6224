//! macOS: no `openat2`, no `syncfs`; a full sync is a call of its own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::fs::{FsStamp, FsStat};
use crate::real::kind_of;

/// `UF_IMMUTABLE`, `UF_APPEND`, `SF_IMMUTABLE` and `SF_APPEND` of `<sys/stat.h>`: what `chflags uchg` and its kin set.
const UNCHANGEABLE: u32 = 0x2 | 0x4 | 0x2_0000 | 0x4_0000;

pub(crate) fn stat_entry(at: &OwnedFd, name: &[u8]) -> io::Result<FsStat> {
    Ok(stat_from(&rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(crate) fn stat_from(stat: &Stat) -> FsStat {
    FsStat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: u32::from(stat.st_mode) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: stat.st_nlink.into(),
        // A number of 32 bits; as one that is never negative it stays the same for the same device.
        dev: u64::from(stat.st_dev.cast_unsigned()),
        ino: stat.st_ino,
        modified: stat.st_mtime,
        immutable: stat.st_flags & UNCHANGEABLE != 0,
    }
}

pub(crate) fn birth_time(dir: &OwnedFd) -> io::Result<Option<(i64, u32)>> {
    let stat = rustix::fs::fstat(dir)?;
    Ok(Some((stat.st_birthtime, u32::try_from(stat.st_birthtime_nsec).unwrap_or(0))))
}

pub(crate) fn stamp_from(stat: &Stat) -> FsStamp {
    let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or(0);
    FsStamp {
        special: super::special_stamp(
            FileType::from_raw_mode(stat.st_mode),
            u64::from(stat.st_mode),
            u64::from(stat.st_rdev.cast_unsigned()),
        ),
        stat: stat_from(stat),
        modified: (stat.st_mtime, nanos(stat.st_mtime_nsec)),
        changed: (stat.st_ctime, nanos(stat.st_ctime_nsec)),
    }
}

/// APFS does, but nobody tried what else may be there.
pub(crate) fn keeps_directory_times(_: &OwnedFd) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn set_unreadable_dir_mode(at: &OwnedFd, name: &[u8], mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::chmodat(at, name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// There is no such call; the caller opens each component in turn.
pub(crate) fn open_beneath(_: &OwnedFd, _: &[u8], _: OFlags) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}

pub(crate) fn sync_descriptor(fd: &OwnedFd) -> io::Result<()> {
    // Plain fsync leaves the bytes in the drive's cache. It is all there is on file systems that have no full one; after
    // any other error it would only hide that bytes were lost.
    match rustix::fs::fcntl_fullfsync(fd) {
        Err(Errno::NOTSUP | Errno::INVAL | Errno::NOTTY) => Ok(rustix::fs::fsync(fd)?),
        other => Ok(other?),
    }
}

/// One file system cannot be synced alone: all are asked to.
///
/// `sync` of macOS may return before the bytes are written, so the directory itself is synced as well, which waits for
/// the drive's cache.
pub(crate) fn sync_file_system(dir: &OwnedFd) -> io::Result<()> {
    rustix::fs::sync();
    sync_descriptor(dir)
}

/// Never shared: `fclonefileat` takes over mode, owner and attributes of the source, and for a moment the new file would
/// not be private. A copy is always right.
pub(crate) fn share_bytes(_: impl AsFd, _: &OwnedFd, _: &str) -> io::Result<bool> {
    Ok(false)
}
