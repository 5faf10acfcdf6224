//! The bytes of files before a command: shared with the file system where it can, else copied into one pack.
//!
//! A pack, because making ten thousand files takes longer than copying their bytes.

use std::io;

use relaycode_durable::fs::FileMode;
use relaycode_durable::{Dir, File, Fs};

use super::manifest::{Kept, Known};
use super::walk::Print;

/// The pack's name.
const PACK: &str = "pack";
/// Files of fewer bytes are copied even where they could be shared: that is quicker.
const SHARED_BYTES: u64 = 256 * 1024;
/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 20;
/// How often a file is looked at that changes all the time.
const ATTEMPTS: usize = 3;

/// Where the bytes of files go.
pub(super) struct Keeping<'k> {
    fs: &'k dyn Fs,
    dir: &'k Dir,
    pack: File,
    at: u64,
    gathered: Vec<u8>,
    /// How many files are shared; `None`: the file system cannot.
    shared: Option<u64>,
}

/// A file that could not be secured.
pub(super) enum Missed {
    /// It is not there any more.
    Gone,
    /// It changes all the time.
    Restless,
    /// The system said so.
    Failed(io::Error),
}

impl<'k> Keeping<'k> {
    pub(super) fn new(fs: &'k dyn Fs, dir: &'k Dir) -> io::Result<Keeping<'k>> {
        let pack = fs.create(dir, PACK, FileMode::Private)?;
        Ok(Keeping { fs, dir, pack, at: 0, gathered: Vec::new(), shared: Some(0) })
    }

    /// Whether bytes of a file of this size would be copied, as far as that is known.
    pub(super) fn copies(&self, size: u64) -> bool {
        self.shared.is_none() || size < SHARED_BYTES
    }

    /// How many bytes were copied.
    pub(super) fn copied(&self) -> u64 {
        self.at
    }

    /// Secures one file; says what it was when its bytes were taken, and where they are.
    pub(super) fn keep(&mut self, from: &Dir, name: &str, mut print: Print) -> Result<Known, Missed> {
        for _ in 0..ATTEMPTS {
            let kept = self.take(from, name, print.size).map_err(missed)?;
            let now = Print::of(&self.fs.stamp(from, name.as_ref()).map_err(missed)?);
            match kept {
                Some(kept) if now == print => return Ok(Known { print, kept: Some(kept) }),
                // What was taken of it stays in the pack, and nobody refers to it.
                _ => print = now,
            }
        }
        Err(Missed::Restless)
    }

    fn take(&mut self, from: &Dir, name: &str, size: u64) -> io::Result<Option<Kept>> {
        if let Some(number) = self.shared.filter(|_| size >= SHARED_BYTES) {
            if self.fs.share(from, name, self.dir, &number.to_string())? {
                self.shared = Some(number + 1);
                return Ok(Some(Kept::Shared(number)));
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
        Ok(Some(Kept::Packed(at)))
    }

    /// Everything is in its file.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.fs.write(&self.pack, &gathered)
    }
}

fn missed(error: io::Error) -> Missed {
    if error.kind() == io::ErrorKind::NotFound { Missed::Gone } else { Missed::Failed(error) }
}

/// The bytes that were kept.
pub(super) struct Images<'k> {
    fs: &'k dyn Fs,
    dir: &'k Dir,
    pack: Option<File>,
}

impl<'k> Images<'k> {
    pub(super) fn open(fs: &'k dyn Fs, dir: &'k Dir) -> Images<'k> {
        Images { fs, dir, pack: fs.open(dir, PACK).ok() }
    }

    /// A file's bytes before; `None`: they are not there, or not all of them.
    pub(super) fn before(&self, known: &Known) -> io::Result<Option<Vec<u8>>> {
        let size = known.print.size;
        let length = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let bytes = match (known.kept, &self.pack) {
            (Some(Kept::Packed(_)), _) if size == 0 => Vec::new(),
            (Some(Kept::Packed(from)), Some(pack)) => self.fs.read_at(pack, from, length)?,
            (Some(Kept::Shared(number)), _) => self.fs.read(self.dir, &number.to_string(), size)?.0,
            _ => return Ok(None),
        };
        Ok(Some(bytes).filter(|bytes| bytes.len() == length))
    }
}
