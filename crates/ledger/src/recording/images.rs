//! The bytes of files before a command: shared with the file system where it can, else copied into one pack.
//!
//! A pack, because making ten thousand files takes longer than copying their bytes.

use std::io;

use relaycode_durable::fs::FileMode;
use relaycode_durable::{Fs, FsDir, FsFile};

use super::manifest::{ImageLocation, ManifestFile};
use super::walk::RecordingStamp;

/// The pack's name.
const PACK: &str = "pack";
/// Files of fewer bytes are copied even where they could be shared: that is quicker.
const SHARED_BYTES: u64 = 256 * 1024;
/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 20;
/// How often a file is looked at that changes all the time.
const ATTEMPTS: usize = 3;

/// Where the bytes of files go.
pub(super) struct RecordingImageWriter<'k> {
    fs: &'k dyn Fs,
    dir: &'k FsDir,
    pack: FsFile,
    at: u64,
    gathered: Vec<u8>,
    /// How many files are shared; `None`: the file system cannot.
    shared: Option<u64>,
}

/// A file that could not be secured.
pub(super) enum SecureFileError {
    /// It is not there any more.
    Gone,
    /// It changes all the time.
    KeepsChanging,
    /// The system said so.
    Failed(io::Error),
}

impl<'k> RecordingImageWriter<'k> {
    pub(super) fn new(fs: &'k dyn Fs, dir: &'k FsDir) -> io::Result<RecordingImageWriter<'k>> {
        let pack = fs.create(dir, PACK, FileMode::Private)?;
        Ok(RecordingImageWriter { fs, dir, pack, at: 0, gathered: Vec::new(), shared: Some(0) })
    }

    /// Whether bytes of a file of this size would be copied, as far as that is known.
    pub(super) fn would_copy(&self, size: u64) -> bool {
        self.shared.is_none() || size < SHARED_BYTES
    }

    /// How many bytes were copied.
    pub(super) fn copied_bytes(&self) -> u64 {
        self.at
    }

    /// Secures one file; says what it was when its bytes were taken, and where they are.
    pub(super) fn secure_file(
        &mut self,
        from: &FsDir,
        name: &str,
        mut print: RecordingStamp,
    ) -> Result<ManifestFile, SecureFileError> {
        for _ in 0..ATTEMPTS {
            let kept = self.take(from, name, print.size).map_err(secure_error)?;
            let now = RecordingStamp::from_stamp(&self.fs.stamp(from, name.as_ref()).map_err(secure_error)?);
            match kept {
                Some(kept) if now == print => return Ok(ManifestFile { print, kept: Some(kept) }),
                // What was taken of it stays in the pack, and nobody refers to it.
                _ => print = now,
            }
        }
        Err(SecureFileError::KeepsChanging)
    }

    fn take(&mut self, from: &FsDir, name: &str, size: u64) -> io::Result<Option<ImageLocation>> {
        if let Some(number) = self.shared.filter(|_| size >= SHARED_BYTES) {
            if self.fs.reflink(from, name, self.dir, &number.to_string())? {
                self.shared = Some(number + 1);
                return Ok(Some(ImageLocation::Shared(number)));
            }
            self.shared = None;
        }
        let (bytes, _) = match self.fs.read(from, name, size) {
            Err(error) if relaycode_durable::fs::is_too_long(&error) => return Ok(None),
            read => read?,
        };
        if bytes.len() as u64 != size {
            return Ok(None);
        }
        let at = self.at;
        self.at += size;
        if self.gathered.len() + bytes.len() > GATHERED {
            self.flush()?;
        }
        if bytes.len() >= GATHERED {
            self.fs.write(&self.pack, &bytes)?;
        } else {
            self.gathered.extend_from_slice(&bytes);
        }
        Ok(Some(ImageLocation::Packed(at)))
    }

    /// Everything is in its file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.fs.write(&self.pack, &gathered)
    }
}

fn secure_error(error: io::Error) -> SecureFileError {
    if error.kind() == io::ErrorKind::NotFound {
        SecureFileError::Gone
    } else {
        SecureFileError::Failed(error)
    }
}

/// The bytes that were kept.
pub(super) struct RecordingImageReader<'k> {
    fs: &'k dyn Fs,
    dir: &'k FsDir,
    pack: Option<FsFile>,
}

impl<'k> RecordingImageReader<'k> {
    pub(super) fn open(fs: &'k dyn Fs, dir: &'k FsDir) -> RecordingImageReader<'k> {
        RecordingImageReader { fs, dir, pack: fs.open_file(dir, PACK).ok() }
    }

    /// A file's bytes before; `None`: they are not there, or not all of them.
    pub(super) fn before_bytes(&self, known: &ManifestFile) -> io::Result<Option<Vec<u8>>> {
        let size = known.print.size;
        let length = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let bytes = match (known.kept, &self.pack) {
            (Some(ImageLocation::Packed(_)), _) if size == 0 => Vec::new(),
            (Some(ImageLocation::Packed(from)), Some(pack)) => self.fs.read_at(pack, from, length)?,
            (Some(ImageLocation::Shared(number)), _) => self.fs.read(self.dir, &number.to_string(), size)?.0,
            _ => return Ok(None),
        };
        Ok(Some(bytes).filter(|bytes| bytes.len() == length))
    }
}
