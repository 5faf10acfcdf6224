//! The index beside a session, `<stem>.index`: what is known of every entry, so that opening need not read
//! them all, and in front of it what a list of sessions shows.
//!
//! It is written whole, renamed into place, and trusted only as far as it proves itself: checksums over all
//! of it, the file at least as long as what it covers, and the first and last bytes of that unchanged. An
//! index that does not match, or belongs to a damaged file, is ignored, and the file is read instead.
//! Invariant: with or without it, a session is the same.

mod format;
pub mod head;
pub mod stats;

use std::io;

use relaycode_durable::RenameMode;
use relaycode_durable::fs::FileMode;

use super::{SessionFile, file_stem, remove_if_exists};
use crate::file::EntryTable;
use crate::file::scan::{HeaderLine, SessionScanner};
use crate::format::header::VERSION;
use crate::{EntryRow, IndexHead, SessionHeader, SessionStats};
use format::{IndexContents, IndexFingerprint, MAX_INDEX_BYTES};

/// A new index is worth writing after this many new entries; for a long session, after this share of it.
const DUE_ENTRIES: usize = 256;
const DUE_PART: usize = 8;
/// Bytes compared at the beginning and at the end of what an index covers.
const SAMPLE: u64 = 4096;

pub(crate) struct LoadedIndex {
    pub(crate) scanner: SessionScanner,
    /// How many bytes of the file need not be read.
    pub(crate) covered: u64,
}

/// The index of this session file.
pub fn index_file_name(session: &str) -> String {
    format!("{}.index", file_stem(session))
}

/// Whether enough was appended for a new index.
pub(crate) fn is_due(indexed: usize, entries: usize) -> bool {
    entries.saturating_sub(indexed) >= DUE_ENTRIES.max(entries / DUE_PART)
}

/// `None` unless the index belongs to this file.
pub(crate) fn load_index(tape: &SessionFile, len: u64) -> Option<LoadedIndex> {
    let name = index_file_name(&tape.name);
    let (bytes, _) = tape.fs.read(&tape.dir, &name, MAX_INDEX_BYTES).ok()?;
    let IndexContents { head, bound, rows } = format::parse_index(&bytes)?;
    if bound.covered > len || bound != fingerprint(tape, bound.covered).ok()? {
        return None;
    }
    // The header is read from the file itself.
    let line = tape.read(0, usize::try_from(head.header_len).ok()?).ok()?;
    let header: SessionHeader = serde_json::from_slice(&line).ok()?;
    if header != head.header || header.version != VERSION {
        return None;
    }
    let mut table = EntryTable::default();
    for row in rows {
        let end = row.offset.checked_add(u64::from(row.len))?;
        if row.offset <= head.header_len || end >= bound.covered || table.find(&row.id).is_some() {
            return None;
        }
        table.push(row);
    }
    let line = HeaderLine { header, offset: 0, len: head.header_len, end: head.header_len + 1 };
    let scanner = SessionScanner::resume(table, head.facts, line);
    Some(LoadedIndex { scanner, covered: bound.covered })
}

/// Ties an index to the first `covered` bytes of a file.
fn fingerprint(tape: &SessionFile, covered: u64) -> io::Result<IndexFingerprint> {
    let size = covered.min(SAMPLE);
    let most = usize::try_from(size).unwrap_or(usize::MAX);
    let first = tape.read(0, most)?;
    let last = tape.read(covered - size, most)?;
    if last.last().is_some_and(|byte| *byte != b'\n') {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(IndexFingerprint { covered, first: crc32fast::hash(&first), last: crc32fast::hash(&last) })
}

/// The session must be saved completely.
pub(crate) fn write_index(
    tape: &SessionFile,
    (header, header_len): (&SessionHeader, u64),
    facts: &SessionStats,
    rows: &[EntryRow],
) -> io::Result<()> {
    let (fs, dir) = (&*tape.fs, &tape.dir);
    let stat = fs.stat(dir, &tape.name)?;
    let ours = tape.source.as_ref().map(|source| fs.stat_file(source)).transpose()?;
    let is_ours = ours.is_some_and(|ours| (ours.dev, ours.ino) == (stat.dev, stat.ino));
    if stat.len != tape.saved || !is_ours {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let bound = fingerprint(tape, tape.saved)?;
    let (header, facts) = (header.clone(), facts.clone());
    let (modified, covered) = (stat.modified, bound.covered);
    let head = IndexHead { header, facts, header_len, modified, covered };
    let bytes = format::encode(&head, &bound, rows)?;
    let (name, scratch) = (index_file_name(&tape.name), format!("{}.index-new", file_stem(&tape.name)));
    remove_if_exists(fs, dir, &scratch)?;
    let file = fs.create(dir, &scratch, FileMode::Private)?;
    // Not synced: after a power cut it proves itself or is ignored.
    let written = fs.write(&file, &bytes);
    let written = written.and_then(|()| fs.rename(dir, &scratch, dir, &name, RenameMode::Replace));
    if written.is_err() {
        let _ = remove_if_exists(fs, dir, &scratch);
    }
    written
}
