//! The bytes of an index: a frame, the head as JSON, one row of fixed size per entry, and the ids too long
//! for their row. Numbers are little-endian. Reading trusts nothing: every length is checked before it is
//! used.
//!
//! ```text
//! magic 8 | head length 4 | head checksum 4 | rows 4 | names length 4 | rows and names checksum 4 | first 4 | last 4 | covered 8
//! head (JSON) | rows | names
//! ```

use std::io;

use crate::{EntryRole, EntryRow, EntryType, IndexHead};

/// Largest index that is read.
pub(super) const MAX_INDEX_BYTES: u64 = 256 << 20;
/// Usual size of a head.
pub(super) const USUAL_HEAD_BYTES: usize = 4096;
/// Largest head.
const HEAD_MOST: usize = 64 << 10;

const MAGIC: &[u8; 8] = b"RELAYIX\x01";
const FRAME: usize = 44;
const ROW: usize = 36;
/// Ids up to this many bytes are stored in their row.
const SHORT: usize = 8;
/// Instead of the length of a short id: the id is among the long ones.
const LONG: u8 = 255;
const NO_PARENT: u32 = u32::MAX;

/// What ties an index to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexFingerprint {
    /// How many bytes of the file are covered.
    pub(super) covered: u64,
    /// Checksum of the first of them.
    pub(super) first: u32,
    /// Checksum of the last of them.
    pub(super) last: u32,
}

pub(super) struct IndexContents {
    pub(super) head: IndexHead,
    pub(super) bound: IndexFingerprint,
    pub(super) rows: Vec<EntryRow>,
}

struct IndexFrame {
    head: usize,
    head_sum: u32,
    rows: usize,
    names: usize,
    body_sum: u32,
    bound: IndexFingerprint,
}

pub(super) fn encode(head: &IndexHead, bound: &IndexFingerprint, rows: &[EntryRow]) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(head)?;
    let too_much = || io::Error::from(io::ErrorKind::FileTooLarge);
    if head.len() > HEAD_MOST {
        return Err(too_much());
    }
    let mut body = Vec::with_capacity(rows.len() * ROW);
    let mut names: Vec<u8> = Vec::new();
    for row in rows {
        body.extend_from_slice(&row.offset.to_le_bytes());
        body.extend_from_slice(&row.len.to_le_bytes());
        body.extend_from_slice(&row.parent.unwrap_or(NO_PARENT).to_le_bytes());
        body.extend_from_slice(&row.timestamp.to_le_bytes());
        let id = row.id.as_bytes();
        let mut short = [0; SHORT];
        let length = if id.len() <= SHORT {
            short[..id.len()].copy_from_slice(id);
            u8::try_from(id.len()).unwrap_or(LONG)
        } else {
            let at = u32::try_from(names.len()).map_err(|_| too_much())?;
            let len = u32::try_from(id.len()).map_err(|_| too_much())?;
            short[..4].copy_from_slice(&at.to_le_bytes());
            short[4..].copy_from_slice(&len.to_le_bytes());
            names.extend_from_slice(id);
            LONG
        };
        body.extend_from_slice(&short);
        let flags = u8::from(row.has_text) | u8::from(row.failed) << 1;
        body.extend_from_slice(&[row.kind as u8, row.role as u8, flags, length]);
    }
    let names_len = names.len();
    body.append(&mut names);
    let mut bytes = Vec::with_capacity(FRAME + head.len() + body.len());
    bytes.extend_from_slice(MAGIC);
    let number = |value: usize| u32::try_from(value).map_err(|_| too_much());
    let (head_len, rows_len, names_len) = (number(head.len())?, number(rows.len())?, number(names_len)?);
    for value in [head_len, 0, rows_len, names_len, crc32fast::hash(&body), bound.first, bound.last] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.extend_from_slice(&bound.covered.to_le_bytes());
    let sum = head_sum(&bytes, &head);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(&head);
    bytes.append(&mut body);
    Ok(bytes)
}

/// Over the frame (without this checksum) and the head.
fn head_sum(frame: &[u8], head: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&frame[..12]);
    sum.update(&frame[16..FRAME]);
    sum.update(head);
    sum.finalize()
}

fn parse_frame(bytes: &[u8]) -> Option<IndexFrame> {
    let bytes = bytes.get(..FRAME)?;
    if &bytes[..8] != MAGIC {
        return None;
    }
    let size = |at: usize| usize::try_from(u32_at(bytes, at)?).ok();
    Some(IndexFrame {
        head: size(8)?,
        head_sum: u32_at(bytes, 12)?,
        rows: size(16)?,
        names: size(20)?,
        body_sum: u32_at(bytes, 24)?,
        bound: IndexFingerprint {
            covered: u64_at(bytes, 36)?,
            first: u32_at(bytes, 28)?,
            last: u32_at(bytes, 32)?,
        },
    })
}

/// Frame and head together, in bytes.
pub(super) fn head_len(bytes: &[u8]) -> Option<usize> {
    parse_frame(bytes).map(|frame| frame.head).filter(|head| *head <= HEAD_MOST).map(|head| FRAME + head)
}

pub(super) fn parse_head(bytes: &[u8]) -> Option<(IndexHead, IndexFingerprint)> {
    let frame = parse_frame(bytes)?;
    let head = bytes.get(FRAME..head_len(bytes)?)?;
    if head_sum(bytes, head) != frame.head_sum {
        return None;
    }
    let head: IndexHead = serde_json::from_slice(head).ok()?;
    (head.covered == frame.bound.covered).then_some((head, frame.bound))
}

pub(super) fn parse_index(bytes: &[u8]) -> Option<IndexContents> {
    let frame = parse_frame(bytes)?;
    let (head, bound) = parse_head(bytes)?;
    let body = bytes.get(FRAME + frame.head..)?;
    let rows_len = frame.rows.checked_mul(ROW)?;
    if body.len() != rows_len.checked_add(frame.names)? || crc32fast::hash(body) != frame.body_sum {
        return None;
    }
    let (rows, names) = body.split_at(rows_len);
    let rows: Option<Vec<EntryRow>> =
        rows.chunks_exact(ROW).enumerate().map(|(number, bytes)| parse_row(bytes, number, names)).collect();
    Some(IndexContents { head, bound, rows: rows? })
}

fn parse_row(bytes: &[u8], number: usize, names: &[u8]) -> Option<EntryRow> {
    let (kind, role, flags, length) = (bytes[32], bytes[33], bytes[34], bytes[35]);
    let id = if length == LONG {
        let (at, len) = (u32_at(bytes, 24)? as usize, u32_at(bytes, 28)? as usize);
        names.get(at..at.checked_add(len)?)?
    } else {
        bytes.get(24..24 + usize::from(length)).filter(|_| usize::from(length) <= SHORT)?
    };
    let parent = Some(u32_at(bytes, 12)?).filter(|parent| *parent != NO_PARENT);
    // In every file that has an index an entry follows an earlier one.
    if parent.is_some_and(|parent| parent as usize >= number) {
        return None;
    }
    Some(EntryRow {
        offset: u64_at(bytes, 0)?,
        len: u32_at(bytes, 8)?,
        parent,
        timestamp: u64_at(bytes, 16)?.cast_signed(),
        id: std::str::from_utf8(id).ok()?.into(),
        kind: EntryType::from_number(kind)?,
        role: EntryRole::from_number(role)?,
        has_text: flags & 1 != 0,
        failed: flags & 2 != 0,
    })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}
