//! Writing a file so that whoever looks sees the old one or the new one, also after a power cut.

use std::io;

use crate::fs::{FileMode, Fs, FsDir, RenameMode};

/// Writes `bytes` to `scratch`/`scratch_name`, makes them durable, and moves them to `dir`/`name`.
/// The directory is synced: when this returns, the new file is there to stay. What a crash leaves
/// behind is in `scratch` alone.
///
/// # Errors
/// The system's; [`AtomicWriteError::is_in_place`] says whether the new file is in place already.
pub fn write(
    fs: &dyn Fs,
    scratch: (&FsDir, &str),
    target: (&FsDir, &str),
    bytes: &[u8],
) -> Result<(), AtomicWriteError> {
    write_pieces(fs, scratch, target, &mut |put| put(bytes))
}

/// Takes one piece of a file after the other.
pub type PieceSink<'p> = dyn FnMut(&[u8]) -> io::Result<()> + 'p;

/// Makes a file by putting one piece after the other.
pub type PieceSource<'m> = dyn FnMut(&mut PieceSink<'_>) -> io::Result<()> + 'm;

/// Like [`write()`], for bytes that are long and made on the way: `make` puts one piece after the other.
///
/// # Errors
/// The system's, and what `make` reports; [`AtomicWriteError::is_in_place`] says whether the new file is in place already.
pub fn write_pieces(
    fs: &dyn Fs,
    scratch: (&FsDir, &str),
    target: (&FsDir, &str),
    make: &mut PieceSource<'_>,
) -> Result<(), AtomicWriteError> {
    let before = |source| AtomicWriteError { is_in_place: false, source };
    stage_pieces(fs, scratch, make).map_err(before)?;
    fs.rename(scratch.0, scratch.1, target.0, target.1, RenameMode::Replace).map_err(before)?;
    fs.sync_dir(target.0).map_err(|source| AtomicWriteError { is_in_place: true, source })
}

/// Writes a private file and makes its bytes durable, not yet its name. An older file of that name
/// goes first: it is what an earlier attempt left.
pub fn stage(fs: &dyn Fs, scratch: (&FsDir, &str), bytes: &[u8]) -> io::Result<()> {
    stage_pieces(fs, scratch, &mut |put| put(bytes))
}

/// Like [`stage`], for bytes that are made on the way.
///
/// # Errors
/// The system's, and what `make` reports.
pub fn stage_pieces(fs: &dyn Fs, (dir, name): (&FsDir, &str), make: &mut PieceSource<'_>) -> io::Result<()> {
    fs.remove_if_exists(dir, name)?;
    let file = fs.create(dir, name, FileMode::Private)?;
    make(&mut |piece| fs.write(&file, piece))?;
    fs.sync_file(&file)
}

/// Why an atomic write failed.
#[derive(Debug)]
pub struct AtomicWriteError {
    /// The new file stands in its place, but it is not certain to stay after a power cut.
    pub is_in_place: bool,
    pub source: io::Error,
}
