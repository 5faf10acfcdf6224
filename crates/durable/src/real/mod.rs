//! The file system of the machine.
//!
//! Directories are opened with `openat2`, which refuses links and ways out of the root by itself;
//! where the kernel has none, or a sandbox forbids it (`EPERM`), each component is opened in turn
//! without following links.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RawMode, RenameFlags};
use rustix::io::Errno;

use crate::fs::{
    DirMode, FileMode, Fs, FsAttribute, FsDir, FsFile, FsFileEnds, FsKind, FsLock, FsStamp, FsStat,
    RenameMode, not_regular_error, too_long_error,
};
use crate::name_text::name_bytes;
use crate::sys::{
    birth_time, keeps_directory_times, open_beneath, set_unreadable_dir_mode, share_bytes, stamp_from,
    stat_entry, stat_from, sync_descriptor, sync_file_system,
};

/// The file system of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs {
    /// Walk component by component even where `openat2` would do.
    walk: bool,
}

impl RealFs {
    /// The same file system without `openat2`, as on kernels that have none.
    pub fn without_openat2() -> RealFs {
        RealFs { walk: true }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
pub(crate) const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Without `NONBLOCK`, opening a pipe would wait for somebody to write into it.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

fn fd(dir: &FsDir) -> io::Result<&OwnedFd> {
    dir.handle::<OwnedFd>()
}

fn file_fd(file: &FsFile) -> io::Result<&OwnedFd> {
    file.handle::<OwnedFd>()
}

/// An entry's name as [text](name_bytes), as one component: what every implementation of [`Fs`] accepts.
pub fn component(name: &str) -> io::Result<&str> {
    if name.is_empty() || name == "." || name == ".." || name.contains('/') || name_bytes(name).is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is no name of an entry")));
    }
    Ok(name)
}

/// The bytes of such a name.
fn bytes_of(name: &str) -> io::Result<Cow<'_, [u8]>> {
    name_bytes(component(name)?).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The same for a name that need not be UTF-8.
fn any_component(name: &OsStr) -> io::Result<&[u8]> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(bytes)
}

impl Fs for RealFs {
    fn open_root(&self, path: &Path) -> io::Result<FsDir> {
        Ok(FsDir::new(rustix::fs::open(path, DIRECTORY, Mode::empty())?))
    }

    fn open_dir(&self, at: &FsDir, path: &str) -> io::Result<FsDir> {
        let at = fd(at)?;
        path.split('/').try_for_each(|name| component(name).map(drop))?;
        let bytes = name_bytes(path).ok_or(io::ErrorKind::InvalidInput)?;
        if !self.walk
            && let Some(opened) = open_beneath(at, &bytes, DIRECTORY)?
        {
            return Ok(FsDir::new(opened));
        }
        open_by_component(at, path).map(FsDir::new)
    }

    fn open_child(&self, at: &FsDir, name: &OsStr) -> io::Result<FsDir> {
        let bytes = any_component(name)?;
        Ok(FsDir::new(rustix::fs::openat(fd(at)?, bytes, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?))
    }

    fn set_dir_mode(&self, at: &FsDir, name: &str, mode: u32) -> io::Result<()> {
        let (at, mode) = (fd(at)?, mode_from_bits(mode));
        if name == "." {
            return Ok(rustix::fs::fchmod(at, mode)?);
        }
        let name = bytes_of(name)?;
        match rustix::fs::openat(at, &*name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(opened) => Ok(rustix::fs::fchmod(&opened, mode)?),
            Err(Errno::ACCESS) => set_unreadable_dir_mode(at, &name, mode),
            Err(error) => Err(error.into()),
        }
    }

    fn make_link(&self, at: &FsDir, name: &str, target: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, fd(at)?, &*bytes_of(name)?)?)
    }

    fn read_link(&self, at: &FsDir, name: &str) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(fd(at)?, &*bytes_of(name)?, Vec::new())?.into_bytes())
    }

    fn make_dir(&self, at: &FsDir, name: &str, mode: DirMode) -> io::Result<()> {
        let (at, name) = (fd(at)?, bytes_of(name)?);
        let name = &*name;
        match mode {
            DirMode::Private => rustix::fs::mkdirat(at, name, Mode::RWXU)?,
            DirMode::Usual => rustix::fs::mkdirat(at, name, Mode::from_raw_mode(0o777))?,
            DirMode::Exact(bits) => {
                rustix::fs::mkdirat(at, name, Mode::RWXU)?;
                let opened = rustix::fs::openat(at, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
                rustix::fs::fchmod(&opened, mode_from_bits(bits))?;
            }
        }
        Ok(())
    }

    fn remove_dir(&self, at: &FsDir, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(fd(at)?, &*bytes_of(name)?, AtFlags::REMOVEDIR)?)
    }

    fn stat(&self, at: &FsDir, name: &str) -> io::Result<FsStat> {
        stat_entry(fd(at)?, &bytes_of(name)?)
    }

    fn stamp(&self, at: &FsDir, name: &OsStr) -> io::Result<FsStamp> {
        let found = rustix::fs::statat(fd(at)?, any_component(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stamp_from(&found))
    }

    fn stat_dir(&self, dir: &FsDir) -> io::Result<FsStat> {
        Ok(stat_from(&rustix::fs::fstat(fd(dir)?)?))
    }

    fn birth_time(&self, dir: &FsDir) -> io::Result<Option<(i64, u32)>> {
        birth_time(fd(dir)?)
    }

    fn keeps_directory_times(&self, dir: &FsDir) -> io::Result<bool> {
        keeps_directory_times(fd(dir)?)
    }

    fn read(&self, at: &FsDir, name: &str, most: u64) -> io::Result<(Vec<u8>, FsStat)> {
        let (file, stat) = open_regular(at, name)?;
        if stat.len > most {
            return Err(too_long_error());
        }
        let bytes = read_all(file, stat.len, most)?;
        if bytes.len() as u64 > most {
            return Err(too_long_error());
        }
        Ok((bytes, stat))
    }

    fn read_range(&self, at: &FsDir, name: &str, from: u64, most: usize) -> io::Result<Vec<u8>> {
        // A listing reads thousands of beginnings: one call each, not one for every doubling of the room.
        let (file, stat) = open_regular(at, name)?;
        read_at(&file, stat.len, from, most)
    }

    fn read_ends(&self, at: &FsDir, name: &str, head: usize, tail: usize) -> io::Result<FsFileEnds> {
        let (file, stat) = open_regular(at, name)?;
        let first = read_at(&file, stat.len, 0, head)?;
        let from = if stat.len > head as u64 { stat.len.saturating_sub(tail as u64) } else { stat.len };
        Ok(FsFileEnds { head: first, tail: read_at(&file, stat.len, from, tail)?, stat })
    }

    fn open_file(&self, at: &FsDir, name: &str) -> io::Result<FsFile> {
        open_regular(at, name).map(|(file, _)| FsFile::new(OwnedFd::from(file)))
    }

    fn read_at(&self, file: &FsFile, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let fd = file_fd(file)?;
        read_at(fd, stat_from(&rustix::fs::fstat(fd)?).len, from, most)
    }

    fn attributes(&self, at: &FsDir, name: &str) -> io::Result<Vec<FsAttribute>> {
        let (file, _) = open_regular(at, name)?;
        attributes(&file)
    }

    fn create(&self, at: &FsDir, name: &str, mode: FileMode) -> io::Result<FsFile> {
        let bits = match mode {
            FileMode::Private => 0o600,
            FileMode::Usual { executable: false } => 0o666,
            FileMode::Usual { executable: true } => 0o777,
        };
        Ok(FsFile::new(rustix::fs::openat(fd(at)?, &*bytes_of(name)?, NEW_FILE, mode_from_bits(bits))?))
    }

    fn open_append(&self, at: &FsDir, name: &str) -> io::Result<FsFile> {
        Ok(FsFile::new(open_or_make(at, name, OFlags::WRONLY | OFlags::APPEND)?))
    }

    fn write(&self, file: &FsFile, mut bytes: &[u8]) -> io::Result<()> {
        let fd = file_fd(file)?;
        while !bytes.is_empty() {
            match rustix::io::write(fd, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn truncate(&self, file: &FsFile, len: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(file_fd(file)?, len)?)
    }

    fn stat_file(&self, file: &FsFile) -> io::Result<FsStat> {
        Ok(stat_from(&rustix::fs::fstat(file_fd(file)?)?))
    }

    fn set_mode(&self, file: &FsFile, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file_fd(file)?, mode_from_bits(mode))?)
    }

    fn set_owner(&self, file: &FsFile, uid: u32, gid: u32) -> io::Result<()> {
        let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
        Ok(rustix::fs::fchown(file_fd(file)?, Some(uid), Some(gid))?)
    }

    fn set_attribute(&self, file: &FsFile, name: &str, value: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::fsetxattr(file_fd(file)?, name, value, rustix::fs::XattrFlags::empty())?)
    }

    fn sync_file(&self, file: &FsFile) -> io::Result<()> {
        sync_descriptor(file_fd(file)?)
    }

    fn sync_dir(&self, dir: &FsDir) -> io::Result<()> {
        sync_descriptor(fd(dir)?)
    }

    fn sync_all(&self, dir: &FsDir) -> io::Result<()> {
        sync_file_system(fd(dir)?)
    }

    fn rename(&self, from: &FsDir, old: &str, to: &FsDir, new: &str, how: RenameMode) -> io::Result<()> {
        let (from, old) = (fd(from)?, bytes_of(old)?);
        let (to, new) = (fd(to)?, bytes_of(new)?);
        let (old, new) = (&*old, &*new);
        match how {
            RenameMode::Replace => rustix::fs::renameat(from, old, to, new)?,
            RenameMode::NoReplace => rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE)?,
            RenameMode::Exchange => rustix::fs::renameat_with(from, old, to, new, RenameFlags::EXCHANGE)?,
        }
        Ok(())
    }

    fn remove_file(&self, at: &FsDir, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(fd(at)?, &*bytes_of(name)?, AtFlags::empty())?)
    }

    fn for_each_name(&self, at: &FsDir, see: &mut dyn FnMut(&str, FsKind)) -> io::Result<()> {
        self.for_each_entry(at, &mut |name, kind| {
            if let Some(name) = name.to_str() {
                see(name, kind);
            }
        })
    }

    fn for_each_entry(&self, at: &FsDir, see: &mut dyn FnMut(&OsStr, FsKind)) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(fd(at)?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.stamp(at, name)?.stat.kind,
                known => kind_of(known),
            };
            see(name, kind);
        }
        Ok(())
    }

    fn reflink(&self, from: &FsDir, name: &str, to: &FsDir, new: &str) -> io::Result<bool> {
        let (source, _) = open_regular(from, name)?;
        share_bytes(source, fd(to)?, component(new)?)
    }

    fn try_lock(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>> {
        try_flock(open_or_make(at, name, OFlags::RDWR)?)
    }

    fn try_lock_existing(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>> {
        try_flock(open_to_write(at, name, OFlags::RDWR)?)
    }

    fn free_bytes(&self, at: &FsDir) -> io::Result<u64> {
        let space = rustix::fs::fstatvfs(fd(at)?)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }
}

/// Opens a directory beneath `at` component by component, following no link.
fn open_by_component(at: &OwnedFd, path: &str) -> io::Result<OwnedFd> {
    let mut current: Option<OwnedFd> = None;
    for name in path.split('/') {
        let from = current.as_ref().unwrap_or(at);
        let next =
            match rustix::fs::openat(from, &*bytes_of(name)?, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
                // With DIRECTORY, a link is reported as "not a directory".
                Err(Errno::NOTDIR) if stat_entry(from, &bytes_of(name)?)?.kind == FsKind::Link => {
                    return Err(Errno::LOOP.into());
                }
                other => other?,
            };
        current = Some(next);
    }
    current.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Reads all of a file that has `len` bytes by what the system says, and at most one more than `most`.
fn read_all(mut file: std::fs::File, len: u64, most: u64) -> io::Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| too_long_error())?;
    // One byte more is asked for than there should be. If exactly that one is missing, this is the
    // end, and no further call has to say so.
    let mut bytes = vec![0; len.saturating_add(1)];
    let first = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    bytes.truncate(first);
    if first != len {
        let left = most.saturating_add(1).saturating_sub(first as u64);
        file.take(left).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads at most `most` bytes from `from` on, of a file of that length.
fn read_at(file: impl AsFd, len: u64, from: u64, most: usize) -> io::Result<Vec<u8>> {
    // No more room than there are bytes: who asks for much need not get it.
    let left = usize::try_from(len.saturating_sub(from)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; left.min(most)];
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(&file, &mut bytes[done..], from + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

fn open_regular(at: &FsDir, name: &str) -> io::Result<(std::fs::File, FsStat)> {
    open_checked(at, name, READ).map(|(opened, stat)| (opened.into(), stat))
}

/// Opens a regular file; one that is made is private.
fn open_checked(at: &FsDir, name: &str, how: OFlags) -> io::Result<(OwnedFd, FsStat)> {
    let opened = match rustix::fs::openat(fd(at)?, &*bytes_of(name)?, how, Mode::from_raw_mode(0o600)) {
        Err(Errno::NXIO) => return Err(not_regular_error()),
        other => other?,
    };
    let stat = stat_from(&rustix::fs::fstat(&opened)?);
    if stat.kind == FsKind::File { Ok((opened, stat)) } else { Err(not_regular_error()) }
}

/// A file that is locked. Closing it is not enough to let go: a program that another thread starts just now has a copy
/// of every descriptor for a moment, and with it the lock.
struct FlockGuard(OwnedFd);

impl Drop for FlockGuard {
    fn drop(&mut self) {
        // If that fails, closing it lets go all the same, a moment later.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

fn try_flock(file: OwnedFd) -> io::Result<Option<FsLock>> {
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            let shared = file.try_clone()?;
            Ok(Some(FsLock::with_descriptor(FlockGuard(file), shared)))
        }
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a regular file to write, making it (private) if need be.
fn open_or_make(at: &FsDir, name: &str, how: OFlags) -> io::Result<OwnedFd> {
    open_to_write(at, name, how | OFlags::CREATE)
}

/// Opens a regular file to write.
fn open_to_write(at: &FsDir, name: &str, how: OFlags) -> io::Result<OwnedFd> {
    // Without `NONBLOCK`, opening a pipe would wait for somebody to read from it.
    open_checked(at, name, how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).map(|(file, _)| file)
}

fn attributes(file: &std::fs::File) -> io::Result<Vec<FsAttribute>> {
    let mut names = vec![0; 4096];
    let length = match rustix::fs::flistxattr(file, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP) => return Ok(Vec::new()),
        Err(Errno::RANGE) => {
            names = vec![0; rustix::fs::flistxattr_query(file)?];
            rustix::fs::flistxattr(file, &mut names[..])?
        }
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        let size = rustix::fs::fgetxattr_query(file, name)?;
        let mut value = vec![0; size];
        let size = rustix::fs::fgetxattr(file, name, &mut value[..])?;
        value.truncate(size);
        found.push((name.to_string(), value));
    }
    Ok(found)
}

pub(crate) fn kind_of(kind: FileType) -> FsKind {
    match kind {
        FileType::RegularFile => FsKind::File,
        FileType::Directory => FsKind::Dir,
        FileType::Symlink => FsKind::Link,
        _ => FsKind::Other,
    }
}

/// Permission bits, at most `0o7777`. Their type has 16 bits on some systems, which are enough.
fn mode_from_bits(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o7777) as RawMode)
}
