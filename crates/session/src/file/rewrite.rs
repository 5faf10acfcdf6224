//! Replacing a session file: written beside it, synced, and renamed into its place.
//!
//! Invariant: under the file's name there is always the old file or the new one, whole; and whoever writes
//! the session holds the lock of the one that is there.

use std::io;
use std::sync::Arc;

use relaycode_durable::atomic::{PieceSink, PieceSource};
use relaycode_durable::{Fs, FsDir, RenameMode};

use super::lines::{PIECE, ReadAtFn};
use super::{SessionFile, file_stem};
use crate::SessionError;

/// The file must have nothing unsaved. The lock of the old one is kept until the session is closed: it
/// keeps out whoever opened that file just before.
pub(crate) fn replace_file(tape: &mut SessionFile, make: &mut PieceSource<'_>) -> Result<(), SessionError> {
    let scratch = format!("{}.rewrite", file_stem(&tape.name));
    let name = tape.name.clone();
    let failed = |source| SessionError::io(&name, "rewrite")(source);
    let fs = tape.fs.clone();
    remove_if_exists(&*fs, &tape.dir, &scratch).map_err(failed)?;
    let made = (|| {
        let lock = fs.try_lock(&tape.dir, &scratch)?.ok_or(io::ErrorKind::WouldBlock)?;
        let file = fs.open_append(&tape.dir, &scratch)?;
        make(&mut |piece| fs.write(&file, piece))?;
        fs.sync_file(&file)?;
        let len = fs.stat_file(&file)?.len;
        let source = fs.open_file(&tape.dir, &scratch)?;
        fs.rename(&tape.dir, &scratch, &tape.dir, &name, RenameMode::Replace)?;
        Ok((lock, file, source, len))
    })();
    let (lock, file, source, len) = made.map_err(|error| {
        // The partial file is of no use; the next attempt would remove it too.
        let _ = remove_if_exists(&*fs, &tape.dir, &scratch);
        failed(error)
    })?;
    tape.locks.push(lock);
    tape.file = Some(file);
    tape.source = Some(Arc::new(source));
    tape.saved = len;
    (tape.has_excess, tape.torn, tape.sync_failed) = (false, false, false);
    let synced = fs.sync_dir(&tape.dir);
    tape.name_unsynced = synced.is_err();
    synced.map_err(|source| SessionError::NotDurable { name: tape.name.clone(), source })
}

/// Copies a range of a file, piece by piece.
pub(crate) fn copy_range(
    read: &mut ReadAtFn<'_>,
    from: u64,
    to: u64,
    put: &mut PieceSink<'_>,
) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let want = usize::try_from(to - at).unwrap_or(usize::MAX).min(PIECE);
        let piece = read(at, want)?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        put(&piece)?;
        at += piece.len() as u64;
    }
    Ok(())
}

pub(crate) fn exists(fs: &dyn Fs, dir: &FsDir, name: &str) -> io::Result<bool> {
    match fs.stat(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|_| true),
    }
}

pub(crate) fn remove_if_exists(fs: &dyn Fs, dir: &FsDir, name: &str) -> io::Result<()> {
    match fs.remove_file(dir, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a whole file to a free name and syncs the copy. Returns that name.
pub(crate) fn keep_copy(
    fs: &dyn Fs,
    dir: &FsDir,
    name: &str,
    as_name: &dyn Fn(u32) -> String,
) -> Result<String, SessionError> {
    /// Most copies kept of one file.
    const COPIES_MOST: u32 = 1000;
    let failed = |source| SessionError::io(name, "keep a copy of")(source);
    let file = fs.open_file(dir, name).map_err(failed)?;
    let len = fs.stat_file(&file).map_err(failed)?.len;
    for number in 1..=COPIES_MOST {
        let copy = as_name(number);
        if exists(fs, dir, &copy).map_err(failed)? {
            continue;
        }
        let scratch = format!("{copy}.part");
        relaycode_durable::atomic::write_pieces(fs, (dir, &scratch), (dir, &copy), &mut |put| {
            copy_range(&mut |at, most| fs.read_at(&file, at, most), 0, len, put)
        })
        .map_err(|error| failed(error.source))?;
        return Ok(copy);
    }
    Err(SessionError::Exists { name: as_name(COPIES_MOST) })
}
