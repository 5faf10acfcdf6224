//! Copying files, one at a time, never through a link: directories are opened beneath the project's root and
//! kept, files by their last name alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use rustix::fs::{self as sys, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{
    CopiedEntry, CopyBaseline, MAX_BASELINE_FILE, ScratchCaps, ScratchError, ScratchOptions, system_error,
};

/// The bits of a file's mode that are copied; its owner may always read and write the copy.
const MODE: u32 = 0o777;
const OWNER: u32 = 0o600;
/// The bit that lets a file's owner run it.
const OWNER_RUNS: u32 = 0o100;
/// So many links are followed from one, as systems do.
const FOLLOWED: usize = 40;
/// So many of the largest files are named.
const NAMED: usize = 3;

/// What tells whether a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyStamp {
    pub(crate) inode: u64,
    pub(crate) len: u64,
    pub(crate) modified: Duration,
    /// When anything of it changed, its mode included. Nobody can set it.
    pub(crate) changed: Duration,
    pub(crate) mode: u32,
}

impl CopyStamp {
    pub(crate) fn is_executable(&self) -> bool {
        self.mode & OWNER_RUNS != 0
    }

    fn from_stat(stat: &sys::Stat) -> CopyStamp {
        let time = |seconds: i64, nanos: i64| {
            Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0))
        };
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types differ by system")]
        CopyStamp {
            inode: stat.st_ino as u64,
            len: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: time(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            mode: (stat.st_mode as u32) & 0o7777,
        }
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScratchPathEntry {
    Missing,
    File(CopyStamp),
    Link(PathBuf),
    Directory,
    /// A pipe, a socket, a device.
    Special,
    /// A link stands on the way.
    BehindLink,
}

/// Files beneath a directory, by their paths; the directory that was used last stays open.
pub(crate) struct OpenDirCache {
    root: OwnedFd,
    last: Option<(String, OwnedFd)>,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

impl OpenDirCache {
    pub(crate) fn new(root: &Path) -> io::Result<OpenDirCache> {
        Ok(OpenDirCache { root: sys::open(root, DIRECTORY, Mode::empty())?, last: None })
    }

    /// The directory of a path, and the last name; makes what is missing if asked to.
    fn open_parent<'p>(&mut self, path: &'p str, make: bool) -> Result<(&OwnedFd, &'p str), Errno> {
        let Some((directory, name)) = path.rsplit_once('/') else { return Ok((&self.root, path)) };
        if self.last.as_ref().is_none_or(|(last, _)| last != directory) {
            self.last = None;
            let mut at: Option<OwnedFd> = None;
            for part in directory.split('/') {
                let from = at.as_ref().unwrap_or(&self.root);
                let opened = match sys::openat(from, part, DIRECTORY, Mode::empty()) {
                    Err(Errno::NOENT) if make => {
                        sys::mkdirat(from, part, Mode::from_raw_mode(0o755))?;
                        sys::openat(from, part, DIRECTORY, Mode::empty())?
                    }
                    // With `DIRECTORY`, a link is reported as "not a directory".
                    Err(Errno::NOTDIR) => {
                        let stat = sys::statat(from, part, AtFlags::SYMLINK_NOFOLLOW)?;
                        let link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
                        return Err(if link { Errno::LOOP } else { Errno::NOTDIR });
                    }
                    other => other?,
                };
                at = Some(opened);
            }
            self.last = at.map(|at| (directory.to_string(), at));
        }
        let fd = self.last.as_ref().map_or(&self.root, |(_, fd)| fd);
        Ok((fd, name))
    }

    /// What stands at a path.
    pub(crate) fn entry_at(&mut self, path: &str) -> io::Result<ScratchPathEntry> {
        let (dir, name) = match self.open_parent(path, false) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(ScratchPathEntry::Missing),
            Err(Errno::LOOP) => return Ok(ScratchPathEntry::BehindLink),
            other => other?,
        };
        let stat = match sys::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(ScratchPathEntry::Missing),
            other => other?,
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => ScratchPathEntry::File(CopyStamp::from_stat(&stat)),
            FileType::Directory => ScratchPathEntry::Directory,
            FileType::Symlink => {
                use std::os::unix::ffi::OsStringExt;
                let target = sys::readlinkat(dir, name, Vec::new())?;
                ScratchPathEntry::Link(std::ffi::OsString::from_vec(target.into_bytes()).into())
            }
            _ => ScratchPathEntry::Special,
        })
    }

    /// A file, opened to read, as it is now.
    fn open_file(&mut self, path: &str) -> io::Result<(File, CopyStamp)> {
        let (dir, name) = self.open_parent(path, false)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = sys::openat(dir, name, flags, Mode::empty())?;
        let stat = sys::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok((file.into(), CopyStamp::from_stat(&stat)))
    }

    /// The bytes of a file of at most `most`.
    pub(crate) fn read(&mut self, path: &str, most: u64) -> io::Result<(Vec<u8>, CopyStamp)> {
        let (file, stamp) = self.open_file(path)?;
        if stamp.len > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.len).unwrap_or(0).saturating_add(1));
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok((bytes, stamp))
    }

    /// A new file with this mode.
    fn create(&mut self, path: &str, mode: u32) -> io::Result<File> {
        let (dir, name) = self.open_parent(path, true)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = sys::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
        sys::fchmod(&file, Mode::from_raw_mode((mode & MODE | OWNER) as sys::RawMode))?;
        Ok(file.into())
    }
}

/// What came of the copying.
pub(super) struct ScratchCopyResult {
    pub(super) files: BTreeMap<String, CopiedEntry>,
    pub(super) baseline_file: File,
    pub(super) left_out: Vec<String>,
}

/// Copies.
pub(super) struct ScratchCopier<'a> {
    root: &'a Path,
    to: PathBuf,
    caps: ScratchCaps,
    source: OpenDirCache,
    target: OpenDirCache,
    files: BTreeMap<String, CopiedEntry>,
    links: Vec<(String, PathBuf)>,
    baseline_file: BufWriter<File>,
    baseline_bytes: u64,
    pub(super) bytes: u64,
    largest: BTreeSet<(u64, String)>,
    outside: Vec<String>,
    special: Vec<String>,
    long: Vec<String>,
    unread: Vec<String>,
}

impl<'a> ScratchCopier<'a> {
    pub(super) fn new(
        making: &ScratchOptions<'a>,
        to: &Path,
        place: &Path,
    ) -> Result<ScratchCopier<'a>, ScratchError> {
        let aside = place.join("aside");
        let file = File::options().read(true).write(true).create_new(true).open(&aside);
        let file = file.map_err(system_error(&aside, "made"))?;
        // Without a name, nobody but this process finds it, and it cannot outlive it.
        fs::remove_file(&aside).map_err(system_error(&aside, "removed"))?;
        Ok(ScratchCopier {
            root: making.root,
            to: to.to_path_buf(),
            caps: making.caps,
            source: OpenDirCache::new(making.root).map_err(system_error(making.root, "read"))?,
            target: OpenDirCache::new(to).map_err(system_error(to, "used"))?,
            files: BTreeMap::new(),
            links: Vec::new(),
            baseline_file: BufWriter::with_capacity(1 << 20, file),
            baseline_bytes: 0,
            bytes: 0,
            largest: BTreeSet::new(),
            outside: Vec::new(),
            special: Vec::new(),
            long: Vec::new(),
            unread: Vec::new(),
        })
    }

    /// Copies what is at `path`. What is not there is not there in the copy either.
    pub(super) fn copy(&mut self, path: &str) -> Result<(), ScratchError> {
        let found = self.source.entry_at(path).map_err(system_error(&self.root.join(path), "read"))?;
        match found {
            ScratchPathEntry::Missing | ScratchPathEntry::Directory => Ok(()),
            ScratchPathEntry::Special => {
                self.special.push(path.to_string());
                Ok(())
            }
            ScratchPathEntry::BehindLink => {
                self.outside.push(path.to_string());
                Ok(())
            }
            ScratchPathEntry::Link(target) => {
                self.links.push((path.to_string(), target));
                self.within_count()
            }
            ScratchPathEntry::File(stamp) if stamp.len > self.caps.file_bytes => {
                self.long.push(path.to_string());
                Ok(())
            }
            ScratchPathEntry::File(stamp) => self.copy_file(path, &stamp),
        }
    }

    fn copy_file(&mut self, path: &str, stamp: &CopyStamp) -> Result<(), ScratchError> {
        self.within_count()?;
        self.within_bytes(path, stamp.len)?;
        let failed = system_error(&self.root.join(path), "copied");
        let base = if stamp.len <= MAX_BASELINE_FILE { self.copy_small(path) } else { self.copy_large(path) };
        let (base, len) = match base {
            Ok(Some(done)) => done,
            // It went meanwhile, or is for others to read.
            Ok(None) => {
                self.unread.push(path.to_string());
                return Ok(());
            }
            Err(error) => return Err(failed(error)),
        };
        self.bytes += len;
        let found = self.target.entry_at(path).map_err(&failed)?;
        if let ScratchPathEntry::File(stamp) = found {
            self.files.insert(path.to_string(), CopiedEntry::File { stamp, base });
        }
        Ok(())
    }

    /// A file that is read whole, and kept aside as well.
    fn copy_small(&mut self, path: &str) -> io::Result<Option<(CopyBaseline, u64)>> {
        let read = self.source.read(path, MAX_BASELINE_FILE);
        let Some((bytes, stamp)) = skip_unreadable(read)? else { return Ok(None) };
        self.target.create(path, stamp.mode)?.write_all(&bytes)?;
        self.baseline_file.write_all(&bytes)?;
        let base = CopyBaseline::Aside { at: self.baseline_bytes, len: bytes.len() };
        self.baseline_bytes += bytes.len() as u64;
        Ok(Some((base, bytes.len() as u64)))
    }

    /// A file that shares its blocks with the copy where the file system can.
    fn copy_large(&mut self, path: &str) -> io::Result<Option<(CopyBaseline, u64)>> {
        let Some((mut file, stamp)) = skip_unreadable(self.source.open_file(path))? else { return Ok(None) };
        let mut copy = self.target.create(path, stamp.mode)?;
        let len = match reflink(&copy, &file) {
            Ok(()) => stamp.len,
            Err(_) => io::copy(&mut file, &mut copy)?,
        };
        Ok(Some((CopyBaseline::Project(stamp), len)))
    }

    /// A directory that is in the copy, and empty.
    pub(super) fn make_dir(&mut self, path: &str) {
        // Only so that git does not miss it.
        let _ = fs::create_dir_all(self.to.join(path));
    }

    /// Makes the links, and says what is not there.
    pub(super) fn finish(mut self) -> Result<ScratchCopyResult, ScratchError> {
        let links: BTreeMap<String, PathBuf> = std::mem::take(&mut self.links).into_iter().collect();
        for (path, target) in &links {
            if !stays_inside(path, &links) {
                self.outside.push(path.clone());
                continue;
            }
            let failed = system_error(&self.root.join(path), "copied");
            let (dir, name) =
                self.target.open_parent(path, true).map_err(io::Error::from).map_err(&failed)?;
            sys::symlinkat(target, dir, name).map_err(io::Error::from).map_err(&failed)?;
            self.files.insert(path.clone(), CopiedEntry::Link { target: target.clone() });
        }
        let mut left_out = Vec::new();
        let kinds = [
            (&self.outside, "links that lead out of the project are not in the copy"),
            (&self.special, "pipes, sockets and devices are not in the copy"),
            (&self.long, "files over the limit of one file are not in the copy"),
            (&self.unread, "files that cannot be read are not in the copy"),
        ];
        for (paths, what) in kinds {
            left_out.extend(super::file_list::left_out_sentence(what, paths));
        }
        let aside = self
            .baseline_file
            .into_inner()
            .map_err(|error| system_error(&self.to, "copied")(error.into_error()))?;
        Ok(ScratchCopyResult { files: self.files, baseline_file: aside, left_out })
    }

    fn within_count(&self) -> Result<(), ScratchError> {
        if self.files.len() + self.links.len() < self.caps.files {
            return Ok(());
        }
        Err(ScratchError::TooMuch { most: format!("{} files", self.caps.files), largest: String::new() })
    }

    fn within_bytes(&mut self, path: &str, len: u64) -> Result<(), ScratchError> {
        self.largest.insert((len, path.to_string()));
        if self.largest.len() > NAMED {
            self.largest.pop_first();
        }
        if self.bytes + len <= self.caps.bytes {
            return Ok(());
        }
        let named: Vec<String> =
            self.largest.iter().rev().map(|(len, path)| format!("{path} ({})", size(*len))).collect();
        let largest = format!("; the largest so far: {}", named.join(", "));
        Err(ScratchError::TooMuch { most: format!("{} of files", size(self.caps.bytes)), largest })
    }
}

/// Whether a link, followed through all others, stays in the project, whether there is anything at its end or
/// not. An absolute one would lead to the project itself at best, not to the copy.
fn stays_inside(path: &str, links: &BTreeMap<String, PathBuf>) -> bool {
    let mut at: Vec<String> = Vec::new();
    let mut waiting: Vec<String> = path.split('/').rev().map(str::to_string).collect();
    let mut followed = 0;
    while let Some(part) = waiting.pop() {
        if part == ".." {
            if at.pop().is_none() {
                return false;
            }
            continue;
        }
        at.push(part);
        let Some(target) = links.get(&at.join("/")) else { continue };
        at.pop();
        followed += 1;
        if followed > FOLLOWED {
            return false;
        }
        for part in target.components().rev() {
            match part {
                Component::Normal(name) => waiting.push(name.to_string_lossy().into_owned()),
                Component::ParentDir => waiting.push("..".to_string()),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return false,
            }
        }
    }
    true
}

/// What was read; `None` for what is gone, or not for this user.
fn skip_unreadable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::FileTooLarge => {
                Ok(None)
            }
            _ => Err(error),
        },
    }
}

/// Lets the copy share the blocks of the file.
#[cfg(target_os = "linux")]
fn reflink(copy: &File, file: &File) -> io::Result<()> {
    Ok(sys::ioctl_ficlone(copy, file)?)
}

#[cfg(not(target_os = "linux"))]
fn reflink(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
