//! The lines of the index as bytes: a checksum, a blank, JSON, a newline. Lines are only ever added
//! at the end, and read from there in pieces of bounded size.

use std::io;
use std::ops::ControlFlow;

use relaycode_durable::{Dir, Fs};

use super::{Line, NAME, PATH};
use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::record::shelf::failed;
use crate::state::State;

/// So much is read at once.
const CHUNK_BYTES: u64 = 64 * 1024;
/// A line that is longer is no line.
const LINE_BYTES: usize = 8 * 1024 * 1024;
/// The hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Where the lines are.
pub(super) enum Source<'l> {
    /// In a file, of which so many bytes were there when it was opened.
    File { fs: &'l dyn Fs, dir: Dir, len: u64 },
    /// In memory.
    Memory(Vec<u8>),
}

/// Adds a line at the end of the index. It is not synced: one that a power cut takes is missed.
pub(super) fn append_line(state: &State, line: &Line) -> io::Result<()> {
    let file = state.fs().append(state.dir(), NAME)?;
    state.fs().write(&file, &framed(line))
}

/// A line as it is written.
pub(super) fn framed(line: &Line) -> Vec<u8> {
    let json = line.json();
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
}

/// The JSON of a line as it was written, without its newline; `None` if it is not whole.
pub(super) fn unframed(bytes: &[u8]) -> Option<&[u8]> {
    let (checksum, json) = bytes.split_at_checked(DIGITS)?;
    let json = json.strip_prefix(b" ")?;
    let checksum = u32::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
    (crc32fast::hash(json) == checksum).then_some(json)
}

impl<'l> Source<'l> {
    /// The index of a ledger; empty if there is none.
    pub(super) fn of(ledger: &'l Ledger) -> Result<Source<'l>, LedgerError> {
        let Some(state) = ledger.state()? else { return Ok(Source::Memory(Vec::new())) };
        match ledger.fs.stat(state.dir(), NAME) {
            Ok(stat) => Ok(Source::File { fs: &*ledger.fs, dir: state.dir().clone(), len: stat.len }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Source::Memory(Vec::new())),
            Err(error) => Err(failed("cannot read", PATH)(error)),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Source::File { len, .. } => *len,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Whether there is no line at all.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The newest line, if it is whole.
    pub(super) fn last(&self) -> Option<Line> {
        let mut last = None;
        let read = self.backwards(&mut |bytes| {
            last = Line::read(bytes);
            ControlFlow::Break(())
        });
        read.ok().and(last)
    }

    fn piece(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let most = usize::try_from(to - from).unwrap_or(usize::MAX);
        match self {
            Source::File { fs, dir, .. } => fs.read_range(dir, NAME, from, most),
            Source::Memory(bytes) => {
                let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes[at(from)..at(to)].to_vec())
            }
        }
    }

    /// Shows the lines as they are written, from the last one on, until told to stop. `false`: this
    /// is no file of lines.
    pub(super) fn backwards(&self, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<bool> {
        let mut end = self.len();
        // What was read of the line that the next piece ends in, its newline with it.
        let mut rest: Vec<u8> = Vec::new();
        while end > 0 {
            let from = end.saturating_sub(CHUNK_BYTES);
            let mut bytes = self.piece(from, end)?;
            if bytes.len() as u64 != end - from || rest.len() > LINE_BYTES {
                return Ok(false);
            }
            bytes.append(&mut rest);
            if bytes.last() != Some(&b'\n') {
                return Ok(false);
            }
            let mut stop = bytes.len();
            while let Some(newline) = bytes[..stop - 1].iter().rposition(|byte| *byte == b'\n') {
                if see(&bytes[newline + 1..stop - 1]).is_break() {
                    return Ok(true);
                }
                stop = newline + 1;
            }
            bytes.truncate(stop);
            rest = bytes;
            end = from;
        }
        if let Some((_, line)) = rest.split_last() {
            let _ = see(line);
        }
        Ok(true)
    }
}
