//! Contents that are too long or too strange for a record: private files in `blobs/`, each named by
//! the digest of its bytes.
//!
//! A blob is written once, under its final name only when it is whole. It is checked whenever it is
//! read: bytes that do not match their name are never handed out.

use std::io;

use relaycode_durable::{Fs, FsDir, FsKind, RenameMode, atomic, if_found, is_too_long, pick_entries};

use crate::disk::Digest;
use crate::record::{INLINE_BYTES, RecordContent};
use crate::{LedgerError, LedgerResult, io_error};

/// A blob of more bytes is not read.
pub const BLOB_BYTES: u64 = 1024 * 1024 * 1024;

/// A blob that is so much older than the transaction that needs it again is written again, so that
/// it does not go by its age while it is needed.
const STALE_SECONDS: i64 = 7 * 24 * 60 * 60;

/// A blob and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blob {
    /// Its name.
    pub digest: Digest,
    /// How many bytes it has.
    pub size: u64,
    /// When it was written, in seconds since 1970.
    pub modified: i64,
}

/// How `bytes` stand in a record: as text if they are one and short enough, else as a blob, which
/// [`put`] has to write.
pub fn content_of(bytes: &[u8]) -> RecordContent {
    if bytes.len() <= INLINE_BYTES
        && !bytes.contains(&0)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return RecordContent::Text(text.to_string());
    }
    RecordContent::Blob { blob: Digest::of(bytes), size: bytes.len() as u64 }
}

/// Writes a blob by way of `scratch`, a directory on the same file system and a name in it. The
/// bytes are durable when this returns, the name is not before `blobs` is synced. Says whether
/// anything was written: a blob that is there already, with these very bytes, is left alone.
pub fn put(fs: &dyn Fs, blobs: &FsDir, scratch: (&FsDir, &str), bytes: &[u8]) -> io::Result<bool> {
    let name = Digest::of(bytes).to_string();
    if let Some(stat) = if_found(fs.stat(blobs, &name))? {
        let recent = stat.modified.saturating_add(STALE_SECONDS) > fs.stat_dir(scratch.0)?.modified;
        // Its name is only what it should be: damaged or planted bytes are written over.
        if recent && stat.kind == FsKind::File && holds(fs, blobs, &name, bytes)? {
            return Ok(false);
        }
    }
    atomic::stage(fs, scratch, bytes)?;
    fs.rename(scratch.0, scratch.1, blobs, &name, RenameMode::Replace)?;
    Ok(true)
}

fn holds(fs: &dyn Fs, blobs: &FsDir, name: &str, bytes: &[u8]) -> io::Result<bool> {
    match fs.read(blobs, name, bytes.len() as u64) {
        Ok((there, _)) => Ok(there == bytes),
        Err(error) if is_too_long(&error) || error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of a blob; `None`: it is gone.
///
/// # Errors
/// `Damaged` if the bytes are not the ones of its name; the system's.
pub fn get(fs: &dyn Fs, blobs: &FsDir, digest: Digest) -> LedgerResult<Option<Vec<u8>>> {
    let name = digest.to_string();
    let path = || format!("blobs/{name}");
    let damaged = |reason: &str| LedgerError::Damaged { path: path(), reason: reason.to_string() };
    match fs.read(blobs, &name, BLOB_BYTES) {
        Ok((bytes, _)) if Digest::of(&bytes) == digest => Ok(Some(bytes)),
        Ok(_) => Err(damaged("its bytes are not the ones that were kept")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if is_too_long(&error) => Err(damaged("it is longer than anything that was kept")),
        Err(error) => Err(io_error("read", &path())(error)),
    }
}

/// Whether a blob is there, without reading it.
pub fn has(fs: &dyn Fs, blobs: &FsDir, digest: Digest) -> io::Result<bool> {
    Ok(if_found(fs.stat(blobs, &digest.to_string()))?.is_some_and(|stat| stat.kind == FsKind::File))
}

/// Every blob, oldest first.
pub fn list(fs: &dyn Fs, blobs: &FsDir) -> io::Result<Vec<Blob>> {
    let digests = pick_entries(fs, blobs, |name, kind| {
        Digest::parse(name).filter(|digest| kind == FsKind::File && digest.to_string() == name)
    })?;
    let mut found = Vec::with_capacity(digests.len());
    for digest in digests {
        let stat = if_found(fs.stat(blobs, &digest.to_string()))?;
        found.extend(stat.map(|stat| Blob { digest, size: stat.len, modified: stat.modified }));
    }
    found.sort_by_key(|blob| (blob.modified, blob.digest));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use relaycode_durable::RealFs;

    #[test]
    fn short_texts_stand_in_the_record_and_the_rest_beside_it() {
        assert_eq!(content_of("é\n".as_bytes()), RecordContent::Text("é\n".into()));
        assert_eq!(content_of(&vec![b'a'; INLINE_BYTES]), RecordContent::Text("a".repeat(INLINE_BYTES)));
        for bytes in [vec![b'a'; INLINE_BYTES + 1], b"a\0b".to_vec(), b"\xff".to_vec()] {
            let size = bytes.len() as u64;
            assert_eq!(content_of(&bytes), RecordContent::Blob { blob: Digest::of(&bytes), size });
        }
    }

    #[test]
    fn a_blob_is_kept_checked_and_missed() {
        let temp = tempfile::tempdir().unwrap();
        let fs = RealFs::default();
        let root = fs.open_root(temp.path()).unwrap();
        fs.make_dir(&root, "blobs", relaycode_durable::fs::DirMode::Private).unwrap();
        let blobs = fs.open_dir(&root, "blobs").unwrap();
        assert!(put(&fs, &blobs, (&root, "scratch"), b"bytes").unwrap());
        assert!(!put(&fs, &blobs, (&root, "scratch"), b"bytes").unwrap());
        let digest = Digest::of(b"bytes");
        assert_eq!(get(&fs, &blobs, digest).unwrap().as_deref(), Some(&b"bytes"[..]));
        assert_eq!(list(&fs, &blobs).unwrap().iter().map(|blob| blob.size).collect::<Vec<_>>(), [5]);
        let file = temp.path().join("blobs").join(digest.to_string());
        std::fs::write(&file, b"other").unwrap();
        assert!(matches!(get(&fs, &blobs, digest), Err(LedgerError::Damaged { .. })));
        assert!(put(&fs, &blobs, (&root, "scratch"), b"bytes").unwrap(), "wrong bytes are not trusted");
        assert_eq!(get(&fs, &blobs, digest).unwrap().as_deref(), Some(&b"bytes"[..]));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(get(&fs, &blobs, digest).unwrap(), None);
        assert!(!has(&fs, &blobs, digest).unwrap());
    }
}
