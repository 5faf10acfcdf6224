//! Copying files, one at a time, never through a link: directories are opened beneath the project's root and
//! kept, files by their last name alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use relaycode_durable::fs::{DirMode, FileMode, is_link};
use relaycode_durable::{Fs, FsDir, FsFile, RealFs};
use relaycode_snapshot::{EntryKind, EntryStat};

use super::{
    CopiedEntry, CopyBaseline, MAX_BASELINE_FILE, ScratchCaps, ScratchError, ScratchOptions,
    left_out_sentences, system_error,
};

/// The bits of a file's mode that are copied; its owner may always read and write the copy.
const MODE: u32 = 0o777;
const OWNER: u32 = 0o600;
/// So many links are followed from one, as systems do.
const FOLLOWED: usize = 40;
/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;
/// So many of the largest files are named.
const NAMED: usize = 3;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScratchPathEntry {
    Missing,
    File(EntryStat),
    Link(PathBuf),
    Directory,
    /// A pipe, a socket, a device.
    Special,
    /// A link stands on the way.
    BehindLink,
}

/// Files beneath a directory, by their paths; the directory that was used last stays open.
pub(crate) struct OpenDirCache {
    fs: RealFs,
    root: FsDir,
    last: Option<(String, FsDir)>,
}

impl OpenDirCache {
    pub(crate) fn new(root: &Path) -> io::Result<OpenDirCache> {
        let fs = RealFs::default();
        // Whoever works in a copy may have put a link in its place.
        let root = match (root.parent(), root.file_name()) {
            (Some(parent), Some(name)) => fs.open_child(&fs.open_root(parent)?, name)?,
            _ => fs.open_root(root)?,
        };
        Ok(OpenDirCache { root, fs, last: None })
    }

    /// The directory itself.
    pub(crate) fn root(&self) -> &FsDir {
        &self.root
    }

    /// The directory of a path, and the last name; makes what is missing if asked to.
    fn open_parent<'p>(&mut self, path: &'p str, make: bool) -> io::Result<(FsDir, &'p str)> {
        let Some((directory, name)) = path.rsplit_once('/') else { return Ok((self.root.clone(), path)) };
        if let Some((last, dir)) = &self.last
            && last == directory
        {
            return Ok((dir.clone(), name));
        }
        let dir = match self.fs.open_dir(&self.root, directory) {
            Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                let mut at = self.root.clone();
                for part in directory.split('/') {
                    match self.fs.make_dir(&at, part, DirMode::Usual) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ => at = self.fs.open_dir(&at, part)?,
                    }
                }
                at
            }
            opened => opened?,
        };
        self.last = Some((directory.to_string(), dir.clone()));
        Ok((dir, name))
    }

    /// What stands at a path.
    pub(crate) fn entry_at(&mut self, path: &str) -> io::Result<ScratchPathEntry> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let (dir, name) = match self.open_parent(path, false) {
            Err(error) if is_link(&error) => return Ok(ScratchPathEntry::BehindLink),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(ScratchPathEntry::Missing);
            }
            opened => opened?,
        };
        let stat = match self.fs.stamp(&dir, name.as_ref()) {
            Err(error) if error.kind() == NotFound => return Ok(ScratchPathEntry::Missing),
            stamp => EntryStat::from_stamp(&stamp?),
        };
        Ok(match stat.kind {
            EntryKind::File => ScratchPathEntry::File(stat),
            EntryKind::Directory => ScratchPathEntry::Directory,
            EntryKind::Link => {
                ScratchPathEntry::Link(OsString::from_vec(self.fs.read_link(&dir, name)?).into())
            }
            EntryKind::Special => ScratchPathEntry::Special,
        })
    }

    /// The bytes of a file of at most `most`, and what it was before they were read.
    pub(crate) fn read(&mut self, path: &str, most: u64) -> io::Result<(Vec<u8>, EntryStat)> {
        let (dir, name) = self.open_parent(path, false)?;
        let stat = EntryStat::from_stamp(&self.fs.stamp(&dir, name.as_ref())?);
        Ok((self.fs.read(&dir, name, most)?.0, stat))
    }

    /// A new file with this mode.
    fn create(&mut self, path: &str, mode: u32) -> io::Result<FsFile> {
        let (dir, name) = self.open_parent(path, true)?;
        let file = self.fs.create(&dir, name, FileMode::Private)?;
        self.fs.set_mode(&file, mode & MODE | OWNER)?;
        Ok(file)
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
            ScratchPathEntry::Missing | ScratchPathEntry::Directory => {}
            ScratchPathEntry::Special => self.special.push(path.to_string()),
            ScratchPathEntry::BehindLink => self.outside.push(path.to_string()),
            ScratchPathEntry::Link(target) => {
                self.links.push((path.to_string(), target));
                self.within_count()?;
            }
            ScratchPathEntry::File(stat) if stat.size > self.caps.file_bytes => {
                self.long.push(path.to_string());
            }
            ScratchPathEntry::File(stat) => self.copy_file(path, &stat)?,
        }
        Ok(())
    }

    fn copy_file(&mut self, path: &str, stat: &EntryStat) -> Result<(), ScratchError> {
        self.within_count()?;
        self.within_bytes(path, stat.size)?;
        let failed = system_error(&self.root.join(path), "copied");
        let is_small = stat.size <= MAX_BASELINE_FILE;
        let base = if is_small { self.copy_small(path) } else { self.copy_large(path, stat) };
        match base.map_err(failed)? {
            Some((base, mode, len)) => {
                self.bytes += len;
                self.files.insert(path.to_string(), CopiedEntry::File { mode, base });
            }
            // It went meanwhile, or is for others to read.
            None => self.unread.push(path.to_string()),
        }
        Ok(())
    }

    /// A file that is read whole, and kept aside as well. Says with which mode, and how many bytes.
    fn copy_small(&mut self, path: &str) -> io::Result<Option<(CopyBaseline, u32, u64)>> {
        let read = self.source.read(path, MAX_BASELINE_FILE);
        let Some((bytes, stat)) = skip_unreadable(read)? else { return Ok(None) };
        let copy = self.target.create(path, stat.mode)?;
        self.target.fs.write(&copy, &bytes)?;
        self.baseline_file.write_all(&bytes)?;
        let base = CopyBaseline::Aside { at: self.baseline_bytes, len: bytes.len() };
        self.baseline_bytes += bytes.len() as u64;
        Ok(Some((base, stat.mode, bytes.len() as u64)))
    }

    /// A file that shares its blocks with the copy where the file system can.
    fn copy_large(&mut self, path: &str, stat: &EntryStat) -> io::Result<Option<(CopyBaseline, u32, u64)>> {
        let fs = self.source.fs;
        let (from, name) = self.source.open_parent(path, false)?;
        let Some(file) = skip_unreadable(fs.open_file(&from, name))? else { return Ok(None) };
        let (to, new) = self.target.open_parent(path, true)?;
        if fs.reflink(&from, name, &to, new)? {
            fs.set_mode(&fs.open_file(&to, new)?, stat.mode & MODE | OWNER)?;
            return Ok(Some((CopyBaseline::Project(*stat), stat.mode, stat.size)));
        }
        let copy = self.target.create(path, stat.mode)?;
        let mut len = 0;
        loop {
            let piece = fs.read_at(&file, len, PIECE)?;
            if piece.is_empty() {
                return Ok(Some((CopyBaseline::Project(*stat), stat.mode, len)));
            }
            fs.write(&copy, &piece)?;
            len += piece.len() as u64;
        }
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
            let (dir, name) = self.target.open_parent(path, true).map_err(&failed)?;
            self.target.fs.make_link(&dir, name, target.as_os_str().as_bytes()).map_err(&failed)?;
            self.files.insert(path.clone(), CopiedEntry::Link { target: target.clone() });
        }
        let left_out = left_out_sentences(&[
            ("links that lead out of the project are not in the copy", &self.outside),
            ("pipes, sockets and devices are not in the copy", &self.special),
            ("files over the limit of one file are not in the copy", &self.long),
            ("files that cannot be read are not in the copy", &self.unread),
        ]);
        let aside = self.baseline_file.into_inner();
        let baseline_file = aside.map_err(|error| system_error(&self.to, "copied")(error.into_error()))?;
        Ok(ScratchCopyResult { files: self.files, baseline_file, left_out })
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
    use io::ErrorKind::{FileTooLarge, NotFound, PermissionDenied};
    match read {
        Err(error) if matches!(error.kind(), NotFound | PermissionDenied | FileTooLarge) => Ok(None),
        read => read.map(Some),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
