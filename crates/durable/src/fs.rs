//! The file-system trait. Every operation names one entry of an open directory, so that a path is
//! resolved once and what was checked is what is used; only [`Fs::open_dir`] takes several
//! components, and never leaves the directory it starts from.
//!
//! Invariant: no operation follows a symbolic link, except for the path given to
//! [`Fs::open_root`].

use std::any::Any;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// An open directory.
#[derive(Debug, Clone)]
pub struct FsDir(Arc<dyn Any + Send + Sync>);

/// A file that is open.
#[derive(Debug)]
pub struct FsFile(Box<dyn Any + Send + Sync>);

/// A lock that is held; dropping it lets go, and so does the death of the process.
#[derive(Debug)]
pub struct FsLock {
    #[expect(dead_code, reason = "it is held, never looked at")]
    guard: Box<dyn Any + Send + Sync>,
    descriptor: Option<OwnedFd>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A socket, a pipe, a device.
    Other,
}

/// What the file system knows of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsStat {
    pub kind: FsKind,
    pub len: u64,
    /// Permission bits, `0o7777` at most.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// How many names it has.
    pub links: u64,
    /// The device it is on.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// When it was last written, in seconds since 1970.
    pub modified: i64,
    /// It is marked as never to be changed (`chattr +i` or `+a`).
    pub immutable: bool,
}

/// What tells whether an entry was touched: if two of these are equal, it was not, but for what happened
/// within the grain of the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsStamp {
    /// What the file system knows of it.
    pub stat: FsStat,
    /// When it was last written: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// When anything of it last changed. Nobody can set this.
    pub changed: (i64, u32),
    /// Of a pipe, a socket or a device which of them it is, and which device; of anything else 0.
    pub special: u64,
}

/// The two ends of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsFileEnds {
    /// Its first bytes.
    pub head: Vec<u8>,
    /// Its last bytes; empty if the first are all.
    pub tail: Vec<u8>,
    /// What the file system knew of it then.
    pub stat: FsStat,
}

/// How a rename treats what stands at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameMode {
    /// It is replaced.
    Replace,
    /// The rename fails with `AlreadyExists`.
    NoReplace,
    /// The two change places, in one step.
    Exchange,
}

/// An extended attribute: its name and its value.
pub type FsAttribute = (String, Vec<u8>);

/// A file system. Errors are the system's own: only `NotFound` means that something is absent.
pub trait Fs: Send + Sync {
    /// Opens the directory at `path`, links followed.
    fn open_root(&self, path: &Path) -> io::Result<FsDir>;

    /// Opens the directory `path` (components separated by `/`) beneath `at`.
    ///
    /// # Errors
    /// [`is_link`] tells a symbolic link on the way.
    fn open_dir(&self, at: &FsDir, path: &str) -> io::Result<FsDir>;

    /// Opens the directory `name` in `at`. Its name need not be UTF-8.
    fn open_child(&self, at: &FsDir, name: &OsStr) -> io::Result<FsDir> {
        self.open_dir(at, name.to_str().ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Makes a directory. The mode is not subject to the umask.
    fn make_dir(&self, at: &FsDir, name: &str, mode: DirMode) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// The system's; `DirectoryNotEmpty` where something is in it.
    fn remove_dir(&self, at: &FsDir, name: &str) -> io::Result<()>;

    /// Sets the permission bits of the directory `name` in `at`, also of one that may not be read; `.` is `at` itself.
    /// [`Fs::sync_dir`] of that directory makes them durable.
    ///
    /// # Errors
    /// The system's; `NotADirectory` for anything else.
    fn set_dir_mode(&self, at: &FsDir, name: &str, mode: u32) -> io::Result<()>;

    /// Makes a symbolic link to `target`, which need not be there.
    ///
    /// # Errors
    /// The system's; `AlreadyExists` where something stands.
    fn make_link(&self, at: &FsDir, name: &str, target: &[u8]) -> io::Result<()>;

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for anything else than a link.
    fn read_link(&self, at: &FsDir, name: &str) -> io::Result<Vec<u8>>;

    /// Looks at an entry itself.
    fn stat(&self, at: &FsDir, name: &str) -> io::Result<FsStat>;

    /// Looks at an open directory.
    fn stat_dir(&self, dir: &FsDir) -> io::Result<FsStat>;

    /// When an open directory was made: seconds since 1970 and nanoseconds. A name and an inode are given out again, this
    /// is not. `None` where the file system does not keep it.
    fn birth_time(&self, dir: &FsDir) -> io::Result<Option<(i64, u32)>> {
        let _ = dir;
        Ok(None)
    }

    /// Whether the times of a directory here change with every name that comes into it or goes out of it, as far as is
    /// known of the file system that it is on.
    fn keeps_directory_times(&self, dir: &FsDir) -> io::Result<bool> {
        let _ = dir;
        Ok(false)
    }

    /// Looks at an entry itself, with its times. Its name need not be UTF-8.
    fn stamp(&self, at: &FsDir, name: &OsStr) -> io::Result<FsStamp> {
        let stat = self.stat(at, name.to_str().ok_or(io::ErrorKind::InvalidInput)?)?;
        Ok(FsStamp { stat, modified: (stat.modified, 0), changed: (stat.modified, 0), special: 0 })
    }

    /// Reads a regular file, at most `most` bytes of it.
    ///
    /// # Errors
    /// The system's; [`is_too_long`] beyond `most`, [`is_not_regular`] for anything else than a file.
    fn read(&self, at: &FsDir, name: &str, most: u64) -> io::Result<(Vec<u8>, FsStat)>;

    /// Reads at most `most` bytes of a regular file, from byte `from` on.
    fn read_range(&self, at: &FsDir, name: &str, from: u64, most: usize) -> io::Result<Vec<u8>>;

    /// Opens a regular file to be read. What it holds can be read on when it has another name by then, or none.
    ///
    /// # Errors
    /// The system's; [`is_not_regular`] for anything else than a file.
    fn open_file(&self, at: &FsDir, name: &str) -> io::Result<FsFile>;

    /// Reads at most `most` bytes of a file that was opened to be read, from byte `from` on.
    fn read_at(&self, file: &FsFile, from: u64, most: usize) -> io::Result<Vec<u8>>;

    /// Reads at most `head` bytes of the beginning of a regular file and, if it is longer than that, at most `tail` of its end.
    fn read_ends(&self, at: &FsDir, name: &str, head: usize, tail: usize) -> io::Result<FsFileEnds> {
        let file = self.open_file(at, name)?;
        let stat = self.stat_file(&file)?;
        let first = self.read_at(&file, 0, head)?;
        let from = stat.len.saturating_sub(tail as u64);
        let last = if stat.len > head as u64 { self.read_at(&file, from, tail)? } else { Vec::new() };
        Ok(FsFileEnds { head: first, tail: last, stat })
    }

    /// The extended attributes of a regular file; none where the file system has none.
    fn attributes(&self, at: &FsDir, name: &str) -> io::Result<Vec<FsAttribute>>;

    /// Makes a new, empty file.
    ///
    /// # Errors
    /// The system's; `AlreadyExists` where something stands.
    fn create(&self, at: &FsDir, name: &str, mode: FileMode) -> io::Result<FsFile>;

    /// Opens a file to write behind its end, making it (private) if need be.
    fn open_append(&self, at: &FsDir, name: &str) -> io::Result<FsFile>;

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// The system's; some of the bytes may have been written.
    fn write(&self, file: &FsFile, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file off.
    fn truncate(&self, file: &FsFile, len: u64) -> io::Result<()>;

    /// Looks at an open file.
    fn stat_file(&self, file: &FsFile) -> io::Result<FsStat>;

    /// Sets the permission bits of an open file.
    fn set_mode(&self, file: &FsFile, mode: u32) -> io::Result<()>;

    /// Sets owner and group of an open file.
    fn set_owner(&self, file: &FsFile, uid: u32, gid: u32) -> io::Result<()>;

    /// Sets an extended attribute of an open file.
    fn set_attribute(&self, file: &FsFile, name: &str, value: &[u8]) -> io::Result<()>;

    /// Makes a file's bytes and attributes durable. Never repeated after an error: the system may
    /// have dropped what it could not write.
    fn sync_file(&self, file: &FsFile) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    fn sync_dir(&self, dir: &FsDir) -> io::Result<()>;

    /// Makes everything on the directory's file system durable.
    fn sync_all(&self, dir: &FsDir) -> io::Result<()>;

    /// Gives an entry another name.
    ///
    /// # Errors
    /// The system's; [`is_unsupported`] where the file system cannot do it that way.
    fn rename(&self, from: &FsDir, old: &str, to: &FsDir, new: &str, how: RenameMode) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, at: &FsDir, name: &str) -> io::Result<()>;

    /// Shows every entry of a directory, in no order. Names that are not UTF-8 are left out.
    fn for_each_name(&self, at: &FsDir, see: &mut dyn FnMut(&str, FsKind)) -> io::Result<()>;

    /// Shows every entry of a directory, in no order, whatever its name is.
    fn for_each_entry(&self, at: &FsDir, see: &mut dyn FnMut(&OsStr, FsKind)) -> io::Result<()> {
        self.for_each_name(at, &mut |name, kind| see(OsStr::new(name), kind))
    }

    /// Makes a new, private file that shares its bytes with a regular one until either is written (a reflink); `false`,
    /// and nothing is made, where the file system cannot.
    fn reflink(&self, from: &FsDir, name: &str, to: &FsDir, new: &str) -> io::Result<bool> {
        let _ = (from, name, to, new);
        Ok(false)
    }

    /// Takes the lock that the (private) file `name` stands for, making the file if need be;
    /// `None`: somebody else has it.
    fn try_lock(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>>;

    /// The same for a file that is there already: none is made.
    fn try_lock_existing(&self, at: &FsDir, name: &str) -> io::Result<Option<FsLock>>;

    /// Whether an entry of that name stands in a directory.
    fn exists(&self, at: &FsDir, name: &str) -> io::Result<bool> {
        Ok(if_found(self.stat(at, name))?.is_some())
    }

    /// Removes a file unless it is gone already.
    fn remove_if_exists(&self, at: &FsDir, name: &str) -> io::Result<()> {
        if_found(self.remove_file(at, name)).map(drop)
    }

    /// Makes a directory unless something has its name; says whether it did.
    fn make_dir_if_missing(&self, at: &FsDir, name: &str, mode: DirMode) -> io::Result<bool> {
        Ok(if_new(self.make_dir(at, name, mode))?.is_some())
    }

    /// Bytes that may still be written.
    fn free_bytes(&self, at: &FsDir) -> io::Result<u64>;

    /// The names in a directory with their kinds, sorted.
    fn list(&self, at: &FsDir) -> io::Result<Vec<(String, FsKind)>> {
        let mut names = Vec::new();
        self.for_each_name(at, &mut |name, kind| names.push((name.to_string(), kind)))?;
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }
}

/// The permission bits that a new file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// `0600`: for its owner alone.
    Private,
    /// What the user's umask leaves of `0666`, or of `0777` for a program.
    Usual {
        /// It can be run.
        executable: bool,
    },
}

/// The permission bits that a new directory gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirMode {
    /// `0700`: for its owner alone.
    Private,
    /// What the user's umask leaves of `0777`.
    Usual,
    /// Exactly these bits.
    Exact(u32),
}

impl FsDir {
    /// Wraps an implementation's own handle.
    pub fn new(handle: impl Any + Send + Sync) -> FsDir {
        FsDir(Arc::new(handle))
    }

    /// The handle, if it is of the implementation that asks.
    ///
    /// # Errors
    /// `InvalidInput` for a handle of another implementation.
    pub fn handle<T: Any>(&self) -> io::Result<&T> {
        self.0.downcast_ref().ok_or_else(foreign_handle_error)
    }
}

impl FsFile {
    /// Wraps an implementation's own handle.
    pub fn new(handle: impl Any + Send + Sync) -> FsFile {
        FsFile(Box::new(handle))
    }

    /// The handle, if it is of the implementation that asks.
    ///
    /// # Errors
    /// `InvalidInput` for a handle of another implementation.
    pub fn handle<T: Any>(&self) -> io::Result<&T> {
        self.0.downcast_ref().ok_or_else(foreign_handle_error)
    }
}

impl FsLock {
    /// Wraps what lets go of the lock when it is dropped.
    pub fn new(guard: impl Any + Send + Sync) -> FsLock {
        FsLock { guard: Box::new(guard), descriptor: None }
    }

    /// The same, for a lock that belongs to an open file: whoever is given the descriptor holds the lock, too, until it
    /// is let go of here or both are gone.
    pub fn with_descriptor(guard: impl Any + Send + Sync, descriptor: OwnedFd) -> FsLock {
        FsLock { guard: Box::new(guard), descriptor: Some(descriptor) }
    }

    /// What to give to a process that shall hold the lock as well, should this one die.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }
}

/// What was found; `None` where nothing was.
///
/// # Errors
/// Every other error.
pub fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    none_for(io::ErrorKind::NotFound, result)
}

/// What was made; `None` where something stood already.
///
/// # Errors
/// Every other error.
pub fn if_new<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    none_for(io::ErrorKind::AlreadyExists, result)
}

fn none_for<T>(kind: io::ErrorKind, result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == kind => Ok(None),
        other => other.map(Some),
    }
}

/// The entries of a directory for which `pick` gives something, in no order.
pub fn pick_entries<T>(
    fs: &dyn Fs,
    at: &FsDir,
    mut pick: impl FnMut(&str, FsKind) -> Option<T>,
) -> io::Result<Vec<T>> {
    let mut found = Vec::new();
    fs.for_each_name(at, &mut |name, kind| found.extend(pick(name, kind)))?;
    Ok(found)
}

fn foreign_handle_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the handle belongs to another file system")
}

/// A mark inside an [`io::Error`] for what no error number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum FsErrorMark {
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it is longer than what may be read")]
    TooLong,
}

/// The error for reading something that is no regular file.
pub fn not_regular_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, FsErrorMark::NotRegular)
}

/// The error for reading more than what was allowed.
pub fn too_long_error() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, FsErrorMark::TooLong)
}

fn has_mark(error: &io::Error, mark: FsErrorMark) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<FsErrorMark>()) == Some(&mark)
}

/// Whether what was to be read is no regular file.
pub fn is_not_regular(error: &io::Error) -> bool {
    has_mark(error, FsErrorMark::NotRegular)
}

/// Whether a file has more bytes than were allowed.
pub fn is_too_long(error: &io::Error) -> bool {
    has_mark(error, FsErrorMark::TooLong)
}

fn has_errno(error: &io::Error, numbers: &[rustix::io::Errno]) -> bool {
    numbers.iter().any(|number| error.raw_os_error() == Some(number.raw_os_error()))
}

/// Whether a symbolic link stood where none may be, or a path led out of its root.
pub fn is_link(error: &io::Error) -> bool {
    has_errno(error, &[rustix::io::Errno::LOOP])
}

/// Whether the file system cannot rename in the way that was asked for.
pub fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    has_errno(error, &[Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP])
}
