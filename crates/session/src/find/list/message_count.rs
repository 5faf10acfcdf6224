//! Counts the messages of a session by scanning its lines: bounded memory, however long a line is.

use std::io;
use std::path::Path;

use memchr::{memchr, memmem};
use relaycode_durable::Fs;

use crate::home::layout::open_parent;

/// Bytes per read.
const CHUNK: usize = 256 * 1024;
/// Largest file that is counted.
const MOST: u64 = 1024 * 1024 * 1024;
/// Bytes of a line that are checked: the type comes first.
const BEGINNING: usize = 512;

/// `None` if the file is too large.
pub(super) fn count_file_messages(fs: &dyn Fs, path: &Path) -> io::Result<Option<u64>> {
    let (dir, name) = open_parent(fs, path)?;
    let (mut from, mut count) = (0, 0);
    let mut beginning: Vec<u8> = Vec::with_capacity(BEGINNING);
    loop {
        let chunk = fs.read_range(&dir, name, from, CHUNK)?;
        if chunk.is_empty() {
            return Ok(Some(count));
        }
        from += chunk.len() as u64;
        if from > MOST {
            return Ok(None);
        }
        let mut rest = chunk.as_slice();
        while !rest.is_empty() {
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            beginning.extend_from_slice(&line[..line.len().min(BEGINNING - beginning.len())]);
            let Some(end) = end else { break };
            count += u64::from(is_message(&beginning));
            beginning.clear();
            rest = &rest[end + 1..];
        }
    }
}

fn is_message(beginning: &[u8]) -> bool {
    let Some(at) = memmem::find(beginning, b"\"type\"") else { return false };
    let after = beginning[at + b"\"type\"".len()..].trim_ascii_start();
    let Some(value) = after.strip_prefix(b":") else { return false };
    value.trim_ascii_start().starts_with(b"\"message\"")
}
