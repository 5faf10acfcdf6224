//! The file as a session sees it: what is on disk, followed by what is still to be written.
//!
//! A line has its offset from the moment it is appended, whether it is on disk, waits for the first prompt,
//! or waits for a full disk. Everything that waits is written with the next line, in one call. Invariant:
//! up to [`SessionFile::saved`] the file holds whole, valid lines; whatever a failed write left after that
//! is cut off before anything else is written.

use std::io;
use std::sync::Arc;

use relaycode_durable::fs::FileMode;
use relaycode_durable::{Fs, FsDir, FsFile, FsLock};

use crate::SessionError;

/// Most bytes that wait for a disk that accepts none.
pub(crate) const MAX_UNSAVED_BYTES: usize = 32 << 20;

/// Most bytes kept of one torn tail, and of all of them.
const DAMAGED_MOST: u64 = 1 << 20;
const DAMAGED_FILE_MOST: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileTarget {
    /// Nowhere: the session lives as long as the process.
    Memory,
    /// Nowhere yet: the file is created with the first prompt.
    Deferred,
    File,
}

/// The file, and what is to be written to it.
pub(crate) struct SessionFile {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) dir: FsDir,
    pub(crate) name: String,
    pub(crate) target: FileTarget,
    pub(crate) file: Option<FsFile>,
    /// The same file, opened for reading: it stays readable when it is replaced or removed.
    pub(crate) source: Option<Arc<FsFile>>,
    /// Newest last; older ones belong to files that this one replaced.
    pub(crate) locks: Vec<FsLock>,
    /// How many bytes of the file count.
    pub(crate) saved: u64,
    /// What follows them.
    pub(crate) unsaved: Vec<u8>,
    pub(crate) unsaved_entries: usize,
    /// The file may be longer than [`SessionFile::saved`].
    pub(crate) has_excess: bool,
    /// The excess is not ours: keep it beside the file before cutting it off.
    pub(crate) torn: bool,
    /// The file's name may not be durable yet: it is new, or its creator may have died before a sync.
    pub(crate) name_unsynced: bool,
    /// A sync failed: its data is in doubt, and a retry does not help.
    pub(crate) sync_failed: bool,
}

impl SessionFile {
    pub(crate) fn new(fs: Arc<dyn Fs>, dir: FsDir, name: &str, place: FileTarget) -> SessionFile {
        SessionFile {
            fs,
            dir,
            name: name.to_string(),
            target: place,
            file: None,
            source: None,
            locks: Vec::new(),
            saved: 0,
            unsaved: Vec::new(),
            unsaved_entries: 0,
            has_excess: false,
            torn: false,
            name_unsynced: false,
            sync_failed: false,
        }
    }

    /// Where the next line begins.
    pub(crate) fn end(&self) -> u64 {
        self.saved + self.unsaved.len() as u64
    }

    /// Reads a range that does not span the file and the unsaved bytes.
    pub(crate) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let Some(waiting) = offset.checked_sub(self.saved) else {
            return match &self.source {
                Some(source) => self.fs.read_at(source, offset, len),
                None => self.fs.read_range(&self.dir, &self.name, offset, len),
            };
        };
        let from = usize::try_from(waiting).unwrap_or(usize::MAX).min(self.unsaved.len());
        Ok(self.unsaved[from..from.saturating_add(len).min(self.unsaved.len())].to_vec())
    }

    /// Reads the present file, even while it is being replaced.
    pub(crate) fn reader(&self) -> impl Fn(u64, usize) -> io::Result<Vec<u8>> + use<> {
        let (fs, dir, name) = (Arc::clone(&self.fs), self.dir.clone(), self.name.clone());
        let source = self.source.clone();
        move |at, most| match &source {
            Some(source) => fs.read_at(source, at, most),
            None => fs.read_range(&dir, &name, at, most),
        }
    }

    pub(crate) fn lock(&mut self) -> Result<(), SessionError> {
        self.locks.push(lock_session_file(&*self.fs, &self.dir, &self.name)?);
        Ok(())
    }

    /// Nothing is written yet. Fails if too much waits already.
    pub(crate) fn push_line(&mut self, line: &[u8]) -> Result<u64, SessionError> {
        let bytes = self.unsaved.len() + line.len() + 1;
        if self.target != FileTarget::Memory && bytes > MAX_UNSAVED_BYTES.max(line.len() + 1) {
            return Err(SessionError::TooMuchUnsaved { name: self.name.clone(), bytes: self.unsaved.len() });
        }
        let offset = self.end();
        self.unsaved.extend_from_slice(line);
        self.unsaved.push(b'\n');
        self.unsaved_entries += 1;
        Ok(offset)
    }

    /// Writes what waits.
    pub(crate) fn save(&mut self) -> Result<(), SessionError> {
        if self.target != FileTarget::File || self.unsaved.is_empty() {
            return Ok(());
        }
        let attempt = self.try_save();
        if attempt.is_ok() {
            self.saved = self.end();
            self.unsaved_entries = 0;
            // Give back the memory of one large entry.
            self.unsaved.clear();
            self.unsaved.shrink_to(1 << 20);
        }
        attempt
    }

    fn try_save(&mut self) -> Result<(), SessionError> {
        self.prepare_write()?;
        let Some(file) = &self.file else { return Err(SessionError::Gone { name: self.name.clone() }) };
        if let Err(source) = self.fs.write(file, &self.unsaved) {
            // The partial write must not stay; if it cannot be cut off now, it is before the next write.
            self.has_excess = self.fs.truncate(file, self.saved).is_err();
            return Err(self.not_saved(source));
        }
        Ok(())
    }

    fn not_saved(&self, source: io::Error) -> SessionError {
        let (name, entries) = (self.name.clone(), self.unsaved_entries);
        SessionError::NotSaved { name, id: String::new(), entries, source }
    }

    /// Opens the file and makes sure that it ends at `saved`: what a crash left there is kept beside it and
    /// cut off; what somebody else wrote is left alone and reported.
    pub(crate) fn prepare_write(&mut self) -> Result<(), SessionError> {
        if self.file.is_none() {
            self.open_file().map_err(|error| match error {
                SessionError::Io { source, .. } => self.not_saved(source),
                other => other,
            })?;
        }
        let Some(file) = &self.file else { return Err(SessionError::Gone { name: self.name.clone() }) };
        let stat = self.fs.stat_file(file).map_err(|source| self.not_saved(source))?;
        if stat.links == 0 {
            return Err(SessionError::Gone { name: self.name.clone() });
        }
        if stat.len != self.saved {
            if !self.has_excess || stat.len < self.saved {
                return Err(SessionError::Changed { name: self.name.clone() });
            }
            if self.torn {
                self.save_torn_tail(stat.len).map_err(|source| self.not_saved(source))?;
            }
            self.fs.truncate(file, self.saved).map_err(|source| self.not_saved(source))?;
        }
        self.has_excess = false;
        self.torn = false;
        Ok(())
    }

    /// Opens the file for writing, creating it if needed.
    fn open_file(&mut self) -> Result<(), SessionError> {
        if self.locks.is_empty() {
            match self.fs.create(&self.dir, &self.name, FileMode::Private) {
                Ok(_) => self.name_unsynced = true,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let stat = self.fs.stat(&self.dir, &self.name);
                    // An attempt that failed halfway left it empty.
                    if !stat.is_ok_and(|stat| stat.len == 0) {
                        return Err(SessionError::Exists { name: self.name.clone() });
                    }
                    self.name_unsynced = true;
                }
                Err(error) => return Err(SessionError::io(&self.name, "make")(error)),
            }
            self.lock()?;
        }
        let file = self.fs.open_append(&self.dir, &self.name);
        self.file = Some(file.map_err(SessionError::io(&self.name, "write"))?);
        if self.source.is_none() {
            self.source = self.fs.open_file(&self.dir, &self.name).ok().map(Arc::new);
        }
        Ok(())
    }

    /// Keeps the torn line of a crash in a file beside it, before it is cut off.
    fn save_torn_tail(&self, end: u64) -> io::Result<()> {
        let name = format!("{}.damaged", file_stem(&self.name));
        let have = match self.fs.stat(&self.dir, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            stat => stat?.len,
        };
        let len = (end - self.saved).min(DAMAGED_MOST);
        if have + len > DAMAGED_FILE_MOST {
            return Ok(());
        }
        let most = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = self.fs.read_range(&self.dir, &self.name, self.saved, most)?;
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let file = self.fs.open_append(&self.dir, &name)?;
        let mut piece =
            format!("# {} bytes at byte {} of {}\n", end - self.saved, self.saved, self.name).into_bytes();
        piece.extend_from_slice(&bytes);
        piece.push(b'\n');
        self.fs.write(&file, &piece)?;
        self.fs.sync_file(&file)?;
        self.fs.sync_dir(&self.dir)
    }

    /// Makes everything durable.
    pub(crate) fn sync(&mut self) -> Result<(), SessionError> {
        self.save()?;
        if self.sync_failed {
            let source = io::Error::other("an earlier attempt failed, and what it was to save is in doubt");
            return Err(SessionError::NotDurable { name: self.name.clone(), source });
        }
        // What somebody else wrote before may not be durable either, even if nothing was added.
        if self.file.is_none() && self.target == FileTarget::File && self.saved > 0 {
            self.open_file()?;
        }
        let Some(file) = &self.file else { return Ok(()) };
        let synced = self.fs.sync_file(file).and_then(|()| match self.name_unsynced {
            true => self.fs.sync_dir(&self.dir),
            false => Ok(()),
        });
        self.name_unsynced &= synced.is_err();
        self.sync_failed = synced.is_err();
        synced.map_err(|source| SessionError::NotDurable { name: self.name.clone(), source })
    }
}

/// Locks the file that has this name now.
pub(crate) fn lock_session_file(fs: &dyn Fs, dir: &FsDir, name: &str) -> Result<FsLock, SessionError> {
    /// How often the file may be replaced meanwhile before it counts as somebody else's.
    const REPLACED_MOST: usize = 8;
    for _ in 0..REPLACED_MOST {
        let before = fs.stat(dir, name).map_err(SessionError::io(name, "look at"))?;
        let Some(lock) = fs.try_lock_existing(dir, name).map_err(SessionError::io(name, "lock"))? else {
            break;
        };
        let after = fs.stat(dir, name).map_err(SessionError::io(name, "look at"))?;
        // A file that was replaced in between is no longer the session: its lock means nothing.
        if (before.dev, before.ino) == (after.dev, after.ino) {
            return Ok(lock);
        }
    }
    Err(SessionError::InUse { name: name.to_string() })
}

/// The name without its extension.
pub(crate) fn file_stem(name: &str) -> &str {
    name.strip_suffix(".jsonl").unwrap_or(name)
}
