//! Writing a file so that whoever looks sees the old one or the new one, also after a power cut.

use std::io;

use crate::fs::{Dir, FileMode, Fs, Rename};

/// Writes `bytes` to `scratch`/`scratch_name`, makes them durable, and moves them to `dir`/`name`.
/// The directory is synced: when this returns, the new file is there to stay. What a crash leaves
/// behind is in `scratch` alone.
///
/// # Errors
/// The system's; [`AtomicError::moved`] says whether the new file is in place already.
pub fn write(
    fs: &dyn Fs,
    scratch: (&Dir, &str),
    target: (&Dir, &str),
    bytes: &[u8],
) -> Result<(), AtomicError> {
    let before = |source| AtomicError { moved: false, source };
    stage(fs, scratch, bytes).map_err(before)?;
    fs.rename(scratch.0, scratch.1, target.0, target.1, Rename::Replace).map_err(before)?;
    fs.sync_dir(target.0).map_err(|source| AtomicError { moved: true, source })
}

/// Writes a private file and makes its bytes durable, not yet its name. An older file of that name
/// goes first: it is what an earlier attempt left.
///
/// # Errors
/// The system's.
pub fn stage(fs: &dyn Fs, (dir, name): (&Dir, &str), bytes: &[u8]) -> io::Result<()> {
    match fs.remove_file(dir, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = fs.create(dir, name, FileMode::Private)?;
    fs.write(&file, bytes)?;
    fs.sync_file(&file)
}

/// Why an atomic write failed.
#[derive(Debug)]
pub struct AtomicError {
    /// The new file stands in its place, but it is not certain to stay after a power cut.
    pub moved: bool,
    /// What the system said.
    pub source: io::Error,
}
