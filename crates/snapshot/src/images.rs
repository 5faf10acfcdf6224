//! The bytes of files as they were: shared with the file system where it can, else copied into one pack.
//!
//! A pack, because making ten thousand files takes longer than copying their bytes. Which files are kept, and how much of
//! them, is the caller's to say.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use relaycode_durable::{FileMode, Fs, FsDir, FsFile, is_too_long, name_bytes};
use serde::{Deserialize, Serialize};

use crate::stat::{EntryKind, EntryStat};

/// The pack's name.
const PACK: &str = "pack";
/// Files of fewer bytes are copied even where they could be shared: that is quicker.
const SHARED_BYTES: u64 = 256 * 1024;
/// Bytes that are gathered before they are written.
const GATHERED_BYTES: usize = 1 << 20;
/// How often a file is read that changes all the time.
const ATTEMPTS: usize = 3;

/// Where a file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageLocation {
    /// In the pack, from this byte on.
    Packed(u64),
    /// In a file of this number, shared with the one in the tree.
    Shared(u64),
}

/// A file whose bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedImage {
    /// What it was when they were taken.
    pub stat: EntryStat,
    /// Where they are.
    pub location: ImageLocation,
}

/// Why a file's bytes are not kept.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is not there any more.
    #[error("it is gone")]
    Gone,
    /// It changes all the time.
    #[error("it keeps changing")]
    KeepsChanging,
    /// The system said so.
    #[error(transparent)]
    System(io::Error),
}

/// Where the bytes of files go. It may stay open for as long as several looks at a tree take: what was kept once is
/// there for all of them.
pub struct ImageWriter {
    fs: Arc<dyn Fs>,
    dir: FsDir,
    pack: FsFile,
    written: u64,
    gathered: Vec<u8>,
    /// How many files are shared; `None`: the file system cannot.
    shared: Option<u64>,
}

impl ImageWriter {
    /// A new pack in a directory that has none.
    pub fn create(fs: Arc<dyn Fs>, dir: FsDir) -> io::Result<ImageWriter> {
        let pack = fs.create(&dir, PACK, FileMode::Private)?;
        Ok(ImageWriter { fs, dir, pack, written: 0, gathered: Vec::new(), shared: Some(0) })
    }

    /// Whether bytes of a file of this size would be copied, as far as that is known.
    pub fn would_copy(&self, size: u64) -> bool {
        self.shared.is_none() || size < SHARED_BYTES
    }

    /// How many bytes were copied.
    pub fn copied_bytes(&self) -> u64 {
        self.written
    }

    /// Keeps the bytes of a file that was `stat` when it was last looked at, if it has at most `most` of them: one may
    /// grow for ever.
    ///
    /// # Errors
    /// Why they are not kept.
    pub fn save(
        &mut self,
        from: &FsDir,
        name: &str,
        mut stat: EntryStat,
        most: u64,
    ) -> Result<SavedImage, ImageError> {
        let bytes =
            name_bytes(name).ok_or(io::ErrorKind::InvalidInput).map_err(|kind| image_error(kind.into()))?;
        for _ in 0..ATTEMPTS {
            if stat.kind != EntryKind::File || stat.size > most {
                break;
            }
            let location = self.take(from, name, stat.size).map_err(image_error)?;
            let now = self.fs.stamp(from, OsStr::from_bytes(&bytes)).map_err(image_error)?;
            let now = EntryStat::from_stamp(&now);
            match location {
                Some(location) if now.is_same_record(&stat) => return Ok(SavedImage { stat, location }),
                // What was taken of it stays in the pack, and nobody refers to it.
                _ => stat = now,
            }
        }
        Err(ImageError::KeepsChanging)
    }

    fn take(&mut self, from: &FsDir, name: &str, size: u64) -> io::Result<Option<ImageLocation>> {
        if let Some(number) = self.shared.filter(|_| size >= SHARED_BYTES) {
            if self.fs.reflink(from, name, &self.dir, &number.to_string())? {
                self.shared = Some(number + 1);
                return Ok(Some(ImageLocation::Shared(number)));
            }
            self.shared = None;
        }
        let (bytes, _) = match self.fs.read(from, name, size) {
            Err(error) if is_too_long(&error) => return Ok(None),
            read => read?,
        };
        if bytes.len() as u64 != size {
            return Ok(None);
        }
        let start = self.written;
        self.written += size;
        if self.gathered.len() + bytes.len() > GATHERED_BYTES {
            self.flush()?;
        }
        if bytes.len() >= GATHERED_BYTES {
            self.fs.write(&self.pack, &bytes)?;
        } else {
            self.gathered.extend_from_slice(&bytes);
        }
        Ok(Some(ImageLocation::Packed(start)))
    }

    /// Writes what was gathered: everything is in its file afterwards.
    pub fn flush(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.fs.write(&self.pack, &gathered)
    }
}

fn image_error(error: io::Error) -> ImageError {
    if error.kind() == io::ErrorKind::NotFound { ImageError::Gone } else { ImageError::System(error) }
}

/// The bytes that were kept.
pub struct ImageReader<'k> {
    fs: &'k dyn Fs,
    dir: &'k FsDir,
    pack: Option<FsFile>,
}

impl<'k> ImageReader<'k> {
    /// Those in a directory.
    pub fn open(fs: &'k dyn Fs, dir: &'k FsDir) -> ImageReader<'k> {
        ImageReader { fs, dir, pack: fs.open_file(dir, PACK).ok() }
    }

    /// A file's bytes; `None`: they are not there, or not all of them.
    pub fn read(&self, location: ImageLocation, size: u64) -> io::Result<Option<Vec<u8>>> {
        let length = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let bytes = match (location, &self.pack) {
            (ImageLocation::Packed(_), _) if size == 0 => Vec::new(),
            (ImageLocation::Packed(from), Some(pack)) => self.fs.read_at(pack, from, length)?,
            (ImageLocation::Shared(number), _) => self.fs.read(self.dir, &number.to_string(), size)?.0,
            (ImageLocation::Packed(_), None) => return Ok(None),
        };
        Ok(Some(bytes).filter(|bytes| bytes.len() == length))
    }
}
