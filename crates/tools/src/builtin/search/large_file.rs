//! Of a file that is too large to be edited only what stands around its matches is read: all of it would take longer than the
//! search, and its lines get no anchors anyway.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::scan::FileMatches;
use super::{CONTEXT_AFTER, CONTEXT_BEFORE};
use crate::file_text::{MAX_FILE_BYTES, open_regular};
use crate::workspace::ToolWorkspace;

/// Bytes that are read before a match, and from it on. A line that does not fit in there is cut, and one before a match left out.
const BYTES_BEFORE: u64 = 16 << 10;
const BYTES_FROM: usize = 64 << 10;

/// What a text of UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines (from 0) at and around matches (from 1). `None`: the file is not so large, or has to be read as a whole, as it is not
/// plain UTF-8 or changes. Where it is too large for that, what is no UTF-8 is replaced.
pub(super) fn read_around(
    workspace: &ToolWorkspace,
    found: &FileMatches,
    matches: &BTreeSet<usize>,
) -> Option<BTreeMap<usize, String>> {
    let (file, size) = open_regular(&found.path).ok()?;
    let begin = read_at(&file, 0, BYTE_ORDER_MARK.len()).ok()?;
    let is_wide = matches!(begin[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    if size <= workspace.door.limits().file_bytes as u64 || is_wide {
        return None;
    }
    let can_be_read = size <= MAX_FILE_BYTES;
    let text = |line: &[u8]| match line_text(line) {
        None if !can_be_read => Some(String::from_utf8_lossy(line).into_owned()),
        text => text,
    };
    // It is no part of the first line, and was not counted in the offsets.
    let text_start = if begin == BYTE_ORDER_MARK { BYTE_ORDER_MARK.len() as u64 } else { 0 };
    let mut around = BTreeMap::new();
    for number in matches {
        let offset = text_start + *found.offsets.get(found.lines.binary_search(number).ok()?)?;
        let start = offset.saturating_sub(BYTES_BEFORE).max(text_start);
        let above = read_at(&file, start, usize::try_from(offset - start).ok()?).ok()?;
        // Where the file does not begin there, the first line does not either.
        let mut above: Vec<&[u8]> = above.split_inclusive(|byte| *byte == b'\n').collect();
        if start > text_start && !above.is_empty() {
            above.remove(0);
        }
        let first = above.len().saturating_sub(CONTEXT_BEFORE);
        let before = above[first..].iter().rev().zip((0..number - 1).rev());
        for (line, at) in before {
            around.insert(at, text(line)?);
        }
        let from = read_at(&file, offset, BYTES_FROM).ok()?;
        let below = from.split_inclusive(|byte| *byte == b'\n').take(CONTEXT_AFTER + 1);
        for (line, at) in below.zip(number - 1..) {
            around.entry(at).or_insert(text(line)?);
        }
    }
    Some(around)
}

/// A line without its end. One that was cut may end within a character.
fn line_text(line: &[u8]) -> Option<String> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(text) => Some(text.to_string()),
        Err(error) if error.error_len().is_none() => {
            Some(String::from_utf8_lossy(&line[..error.valid_up_to()]).into_owned())
        }
        Err(_) => None,
    }
}

fn read_at(file: &File, offset: u64, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; most];
    let mut length = 0;
    while length < most {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}
