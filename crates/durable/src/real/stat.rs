//! What the system says of an entry, in our words.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{self as sys, AtFlags};
#[cfg(target_os = "linux")]
use rustix::io::Errno;

use crate::fs::{FsKind, FsStamp, FsStat};

#[cfg(target_os = "linux")]
pub(super) fn look(at: &OwnedFd, name: &str, flags: AtFlags) -> io::Result<FsStat> {
    use rustix::fs::{StatxAttributes, StatxFlags, makedev};
    let x = match sys::statx(at, name, flags, StatxFlags::BASIC_STATS) {
        Err(Errno::NOSYS) => return Ok(stat_of(&sys::statat(at, name, flags)?)),
        other => other?,
    };
    let unchangeable = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    Ok(FsStat {
        kind: kind_of(sys::FileType::from_raw_mode(x.stx_mode.into())),
        len: x.stx_size,
        mode: u32::from(x.stx_mode) & 0o7777,
        uid: x.stx_uid,
        gid: x.stx_gid,
        links: x.stx_nlink.into(),
        dev: makedev(x.stx_dev_major, x.stx_dev_minor),
        ino: x.stx_ino,
        modified: x.stx_mtime.tv_sec,
        immutable: x.stx_attributes.intersects(unchangeable),
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn look(at: &OwnedFd, name: &str, flags: AtFlags) -> io::Result<FsStat> {
    Ok(stat_of(&sys::statat(at, name, flags)?))
}

#[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the fields' types differ by system")]
pub(super) fn stat_of(stat: &sys::Stat) -> FsStat {
    FsStat {
        kind: kind_of(sys::FileType::from_raw_mode(stat.st_mode)),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: u32::from(stat.st_mode) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: stat.st_nlink as u64,
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        modified: stat.st_mtime as i64,
        immutable: false,
    }
}

#[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the fields' types differ by system")]
pub(super) fn stamp_of(stat: &sys::Stat) -> FsStamp {
    let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or(0);
    let plain = matches!(
        sys::FileType::from_raw_mode(stat.st_mode),
        sys::FileType::RegularFile | sys::FileType::Directory | sys::FileType::Symlink
    );
    let special = (u64::from(stat.st_mode) & !0o7777) << 40 | (stat.st_rdev as u64 & ((1 << 40) - 1));
    FsStamp {
        special: if plain { 0 } else { special },
        stat: stat_of(stat),
        modified: (stat.st_mtime as i64, nanos(stat.st_mtime_nsec as i64)),
        changed: (stat.st_ctime as i64, nanos(stat.st_ctime_nsec as i64)),
    }
}

pub(super) fn kind_of(kind: sys::FileType) -> FsKind {
    match kind {
        sys::FileType::RegularFile => FsKind::File,
        sys::FileType::Directory => FsKind::Dir,
        sys::FileType::Symlink => FsKind::Link,
        _ => FsKind::Other,
    }
}
