//! The index beside a session, `<stem>.index`: what is known of every entry, so that opening need not read them all, and
//! in front of it what a list of sessions says.
//!
//! It is written whole, moved into place, and believed only as far as it proves itself: checksums over all of it, the file at least as
//! long as what it covers, and the first and the last bytes of that unchanged. Whatever does not fit, or is about a file that
//! was odd, is passed over, and the file is read instead. Invariant: with or without it, a session is the same.

pub mod facts;
mod format;
pub mod head;

use std::io;

use relaycode_durable::Rename;
use relaycode_durable::fs::FileMode;

use crate::file::rewrite::discard;
use crate::file::row::Row;
use crate::file::scan::{Found, Scanner};
use crate::file::tape::{Tape, stem};
use crate::header::{Header, VERSION};
use facts::Facts;
use format::{Bound, INDEX_MOST, Parts};

/// So many new entries make a new index worth while; with a long session, so large a part of it.
const DUE_ENTRIES: usize = 256;
const DUE_PART: usize = 8;
/// So much of the first and of the last bytes that an index covers is compared.
const SAMPLE: u64 = 4096;

/// What an index knew.
pub(crate) struct Known {
    pub(crate) scanner: Scanner,
    /// So many bytes of the file need not be read.
    pub(crate) covered: u64,
}

/// The name of a session's index.
pub fn name_of(session: &str) -> String {
    format!("{}.index", stem(session))
}

/// Whether enough was appended for a new index.
pub(crate) fn is_due(indexed: usize, entries: usize) -> bool {
    entries.saturating_sub(indexed) >= DUE_ENTRIES.max(entries / DUE_PART)
}

/// What the index says, if it is of this file.
pub(crate) fn load(tape: &Tape, len: u64) -> Option<Known> {
    let name = name_of(&tape.name);
    let (bytes, _) = tape.fs.read(&tape.dir, &name, INDEX_MOST).ok()?;
    let Parts { head, bound, rows } = format::read(&bytes)?;
    if bound.covered > len || bound != samples(tape, bound.covered).ok()? {
        return None;
    }
    // The header is taken from the file itself.
    let line = tape.read(0, usize::try_from(head.header_len).ok()?).ok()?;
    let header: Header = serde_json::from_slice(&line).ok()?;
    if header != head.header || header.version != VERSION {
        return None;
    }
    let mut table = crate::file::table::Table::default();
    for row in rows {
        let end = row.offset.checked_add(u64::from(row.len))?;
        if row.offset <= head.header_len || end >= bound.covered || table.find(&row.id).is_some() {
            return None;
        }
        table.push(row);
    }
    let scanner = Scanner::resume(
        table,
        head.facts,
        Found { header, offset: 0, len: head.header_len, end: head.header_len + 1 },
    );
    Some(Known { scanner, covered: bound.covered })
}

/// What ties an index to the first `covered` bytes of a file.
fn samples(tape: &Tape, covered: u64) -> io::Result<Bound> {
    let size = covered.min(SAMPLE);
    let most = usize::try_from(size).unwrap_or(usize::MAX);
    let first = tape.read(0, most)?;
    let last = tape.read(covered - size, most)?;
    if last.last().is_some_and(|byte| *byte != b'\n') {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Bound { covered, first: crc32fast::hash(&first), last: crc32fast::hash(&last) })
}

/// Writes the index of a session whose file holds all of it.
pub(crate) fn write(
    tape: &Tape,
    (header, header_len): (&Header, u64),
    facts: &Facts,
    rows: &[Row],
) -> io::Result<()> {
    let (fs, dir) = (&*tape.fs, &tape.dir);
    let stat = fs.stat(dir, &tape.name)?;
    let ours = tape.source.as_ref().map(|source| fs.stat_file(source)).transpose()?;
    let is_ours = ours.is_some_and(|ours| (ours.dev, ours.ino) == (stat.dev, stat.ino));
    if stat.len != tape.saved || !is_ours {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let bound = samples(tape, tape.saved)?;
    let head = head::Head {
        header: header.clone(),
        facts: facts.clone(),
        header_len,
        modified: stat.modified,
        covered: bound.covered,
    };
    let bytes = format::write(&head, &bound, rows)?;
    let (name, scratch) = (name_of(&tape.name), format!("{}.index-new", stem(&tape.name)));
    discard(fs, dir, &scratch)?;
    let file = fs.create(dir, &scratch, FileMode::Private)?;
    // Not synced: what a power cut leaves of it proves itself or is passed over.
    let written =
        fs.write(&file, &bytes).and_then(|()| fs.rename(dir, &scratch, dir, &name, Rename::Replace));
    if written.is_err() {
        let _ = discard(fs, dir, &scratch);
    }
    written
}
