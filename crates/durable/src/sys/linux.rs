//! Linux: `statx`, `openat2`, `syncfs` and shared blocks. Of these only `fsync` is older than the kernels in use, so each
//! of the others has an answer for a kernel, a sandbox or a file system without it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags, makedev};
use rustix::io::Errno;

use crate::fs::{FsStamp, FsStat};
use crate::real::{NEW_FILE, kind_of};

pub(crate) fn stat_entry(at: &OwnedFd, name: &[u8]) -> io::Result<FsStat> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let x = match rustix::fs::statx(at, name, flags, StatxFlags::BASIC_STATS) {
        Err(Errno::NOSYS) => return Ok(stat_from(&rustix::fs::statat(at, name, flags)?)),
        other => other?,
    };
    let unchangeable = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    Ok(FsStat {
        kind: kind_of(FileType::from_raw_mode(x.stx_mode.into())),
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

pub(crate) fn birth_time(dir: &OwnedFd) -> io::Result<Option<(i64, u32)>> {
    match rustix::fs::statx(dir, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME) {
        Err(Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(x) => {
            let is_known = StatxFlags::from_bits_retain(x.stx_mask).contains(StatxFlags::BTIME);
            Ok(is_known.then_some((x.stx_btime.tv_sec, x.stx_btime.tv_nsec)))
        }
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the fields' types differ by processor"
)]
pub(crate) fn stat_from(stat: &Stat) -> FsStat {
    FsStat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: stat.st_nlink as u64,
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        modified: stat.st_mtime as i64,
        immutable: false,
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the fields' types differ by processor"
)]
pub(crate) fn stamp_from(stat: &Stat) -> FsStamp {
    let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or(0);
    FsStamp {
        special: super::special_stamp(
            FileType::from_raw_mode(stat.st_mode),
            u64::from(stat.st_mode),
            stat.st_rdev as u64,
        ),
        stat: stat_from(stat),
        modified: (stat.st_mtime as i64, nanos(stat.st_mtime_nsec as i64)),
        changed: (stat.st_ctime as i64, nanos(stat.st_ctime_nsec as i64)),
    }
}

/// ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs, and overlays of them. What a network or a program serves may do without.
const KEEPS_DIRECTORY_TIMES: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e, 0x0102_1994, 0x794c_7630];

#[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the field's type differs by processor")]
pub(crate) fn keeps_directory_times(dir: &OwnedFd) -> io::Result<bool> {
    let kind = rustix::fs::fstatfs(dir)?.f_type as u64 & 0xffff_ffff;
    Ok(KEEPS_DIRECTORY_TIMES.contains(&kind))
}

pub(crate) fn set_unreadable_dir_mode(at: &OwnedFd, name: &[u8], mode: Mode) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(at, name, flags, Mode::empty())?;
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), mode)?)
}

pub(crate) fn open_beneath(at: &OwnedFd, path: &[u8], how: OFlags) -> io::Result<Option<OwnedFd>> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(at, path, how, Mode::empty(), resolve) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => Ok(None),
        // A way out is a link as far as callers are concerned.
        Err(Errno::XDEV) => Err(Errno::LOOP.into()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn sync_descriptor(fd: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::fsync(fd)?)
}

pub(crate) fn sync_file_system(dir: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(dir)?)
}

pub(crate) fn share_bytes(source: impl AsFd, to: &OwnedFd, new: &str) -> io::Result<bool> {
    let target = rustix::fs::openat(to, new, NEW_FILE, Mode::RUSR | Mode::WUSR)?;
    match rustix::fs::ioctl_ficlone(&target, source) {
        Ok(()) => Ok(true),
        // Another device, another file system, one without; or bytes that are not on disk in a form that can be shared.
        Err(_) => {
            rustix::fs::unlinkat(to, new, AtFlags::empty())?;
            Ok(false)
        }
    }
}
