//! A record as the bytes of a file, and back.
//!
//! A file ends with a line `checksum: …` over every byte before that line: what was damaged is
//! never taken for something else. Before it stands a line `seal: …` over every byte before that one ([`crate::seal`]): an older
//! relay takes it for a field that it does not know. A file of a newer format is refused before anything in it is
//! interpreted.

use std::borrow::Cow;
use std::io;

use relaycode_durable::atomic::PieceSink;
use serde::Deserialize;

use crate::disk::{Digest, DigestHasher};
use crate::record::{FORMAT, Record, yaml};
use crate::seal::SealHasher;
use crate::{LedgerError, LedgerResult, TxId};

/// A record or journal of more bytes is neither written nor read.
pub const RECORD_BYTES: usize = 256 * 1024 * 1024;

const CHECKSUM: &str = "checksum: ";
const SEAL: &str = "seal: ";
const VERSION: &str = "version: ";
const NUMBER: &str = "number: ";

/// The fields of which every record of ours has all and one of the original tool has none: a single
/// damaged byte does not turn one into the other.
const OURS: [&str; 4] = [VERSION, NUMBER, "origin: ", CHECKSUM];

/// The bytes of a record's file, without a seal.
pub fn write(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    #[expect(clippy::expect_used, reason = "every type in a record is one that is written")]
    write_to(record, None, &mut put).expect("a record can be written");
    bytes
}

/// Puts the bytes of a record's file, piece after piece: all of them together may be as long as the whole
/// change once more.
///
/// # Errors
/// The first of `put`.
pub(crate) fn write_to(
    record: &Record,
    mut seal: Option<SealHasher>,
    put: &mut PieceSink<'_>,
) -> io::Result<()> {
    let mut hashing = DigestHasher::default();
    yaml::emit(record, &mut |piece| {
        hashing.update(piece);
        seal.iter_mut().for_each(|seal| seal.update(piece));
        put(piece)
    })?;
    if let Some(seal) = seal {
        let line = format!("{SEAL}{}\n", seal.finish());
        hashing.update(line.as_bytes());
        put(line.as_bytes())?;
    }
    put(format!("{CHECKSUM}{}\n", hashing.digest()).as_bytes())
}

/// Whether a file has the seal that `hasher` makes of what stands before it.
pub(crate) fn has_seal(bytes: &[u8], mut hasher: SealHasher) -> bool {
    let Some((before_checksum, _)) = split_last_line(bytes) else { return false };
    let Some((body, seal)) = split_last_line(before_checksum) else { return false };
    let seal = seal.strip_prefix(SEAL.as_bytes()).and_then(|seal| std::str::from_utf8(seal).ok());
    let Some(seal) = seal.and_then(Digest::parse) else { return false };
    hasher.update(body);
    hasher.matches(&seal)
}

/// What stands before the last line, and that line without its end.
fn split_last_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let lines = bytes.strip_suffix(b"\n")?;
    let at = lines.iter().rposition(|byte| *byte == b'\n')? + 1;
    Some(lines.split_at(at))
}

/// Reads the record of transaction `id` from the bytes of the file at `path` (beneath the root, for
/// messages).
///
/// # Errors
/// `NewerFormat` for a format that this relay does not know, `Damaged` for anything that was not written
/// by [`write()`] for this transaction.
pub fn read(bytes: &[u8], path: &str, id: TxId) -> LedgerResult<Record> {
    let damaged = |reason: Cow<'static, str>| LedgerError::Damaged {
        path: path.to_string(),
        reason: reason.into_owned(),
    };
    if let Some(version) = version(bytes).filter(|version| *version > FORMAT) {
        return Err(LedgerError::NewerFormat { path: path.to_string(), version, known: FORMAT });
    }
    if bytes.len() > RECORD_BYTES {
        return Err(damaged(format!("it has more than {RECORD_BYTES} bytes").into()));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text".into()))?;
    let body = verify_checksum(text).map_err(|reason| damaged(reason.into()))?;
    let record: Record = yaml::parse(body).map_err(|reason| damaged(reason.into()))?;
    if record.uuid != id {
        return Err(damaged(format!("it is the record of {}", record.uuid).into()));
    }
    if record.version == 0 || record.version > FORMAT {
        return Err(damaged("its format has no such version".into()));
    }
    Ok(record)
}

/// Whether a file was written by [`write()`], damaged or not, and not by the original tool.
pub(crate) fn is_relay_record(bytes: &[u8]) -> bool {
    lines(bytes).any(|line| OURS.iter().any(|field| line.starts_with(field.as_bytes())))
}

/// The lines that are not indented: fields of the record itself.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| line.first().is_some_and(u8::is_ascii_lowercase))
}

/// The version that a file says it has, without understanding anything else of it.
fn version(bytes: &[u8]) -> Option<u32> {
    // A number that is too large is a version, and surely a newer one.
    Some(digits(bytes, VERSION)?.parse().unwrap_or(u32::MAX))
}

/// The transaction's number that a file says it has, damaged or not.
pub(crate) fn record_number(bytes: &[u8]) -> Option<u64> {
    digits(bytes, NUMBER)?.parse().ok()
}

fn digits<'b>(bytes: &'b [u8], field: &str) -> Option<&'b str> {
    let line = lines(bytes).find_map(|line| line.strip_prefix(field.as_bytes()))?;
    let digits = std::str::from_utf8(line).ok()?.trim();
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The text before the checksum, if that is right.
fn verify_checksum(text: &str) -> Result<&str, &'static str> {
    const CUT: &str = "its end is missing";
    let lines = text.strip_suffix('\n').ok_or(CUT)?;
    let at = lines.rfind('\n').ok_or(CUT)? + 1;
    let (body, last) = lines.split_at(at);
    let given = last.strip_prefix(CHECKSUM).ok_or(CUT)?;
    let is = Digest::of(body.as_bytes());
    if given != is.to_string() {
        return Err("its checksum does not match");
    }
    Ok(body)
}

/// Reads the YAML of some file that is no record of ours.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn read_foreign<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    if bytes.len() > RECORD_BYTES {
        return Err(format!("it has more than {RECORD_BYTES} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_string())?;
    yaml::parse(text)
}
