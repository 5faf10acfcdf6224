//! A log that is only ever appended to: one line of text per entry, `crc32 length payload`.
//!
//! It is read from its end, in bounded pieces, so that the newest entries of a huge log cost what they
//! are and no more. A last line that is incomplete or wrong is what a crash leaves: it does not count, and
//! the next append cuts it off. A wrong line anywhere else is damage, and is reported with its place.
//! Invariant: an entry is shown as it was appended, or not at all.

use std::io;
use std::ops::ControlFlow;

use crate::fs::{Fs, FsDir, FsStat, if_found};

/// The longest payload, in bytes.
pub const PAYLOAD_MOST: usize = 1 << 20;

/// A checksum, a length, and the blanks and the line end between them.
const FRAME_MOST: usize = 8 + 1 + 20 + 1 + 1;

/// Bytes without a line end that a crash can leave, and far more: what is longer is no log, and is not read through.
const TAIL_MOST: u64 = 16 << 20;

/// How much is read at once when entries are shown.
const PAGE: usize = 64 << 10;

/// How much is read at once when only the last line is looked at.
const GLANCE: usize = 4 << 10;

/// A log: a file of a directory.
#[derive(Clone, Copy)]
pub struct AppendLog<'a> {
    fs: &'a dyn Fs,
    dir: &'a FsDir,
    name: &'a str,
}

/// What was at the end of a log that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AppendLogTail {
    /// Where an incomplete or wrong last line begins, if there is one.
    pub torn_at: Option<u64>,
}

/// Why a log could not be read or appended to.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The payload has a line end in it, or is longer than [`PAYLOAD_MOST`].
    #[error("an entry is one line of at most {PAYLOAD_MOST} bytes")]
    InvalidPayload,
    /// The line that begins at this byte is not what was appended, and is not the last one.
    #[error("the line at byte {offset} is damaged")]
    Damaged {
        /// Where it begins.
        offset: u64,
    },
    /// What the system said.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<'a> AppendLog<'a> {
    /// The log in the file `name` of `dir`; it need not be there.
    pub fn new(fs: &'a dyn Fs, dir: &'a FsDir, name: &'a str) -> AppendLog<'a> {
        AppendLog { fs, dir, name }
    }

    /// Appends one entry, a single line; before that, a torn tail is cut off. With `durable`, the entry is
    /// there to stay when this returns.
    ///
    /// # Errors
    /// [`LogError::InvalidPayload`], or the system's; then some of the entry may have been written, as a torn tail.
    pub fn append(&self, payload: &[u8], durable: bool) -> Result<(), LogError> {
        if payload.len() > PAYLOAD_MOST || payload.contains(&b'\n') {
            return Err(LogError::InvalidPayload);
        }
        let file = self.fs.open_append(self.dir, self.name)?;
        let len = self.fs.stat_file(&file)?.len;
        if let Some(last) = self.backward_reader(len, GLANCE).previous_line()?
            && last.payload().is_none()
        {
            self.fs.truncate(&file, last.start)?;
        }
        self.fs.write(&file, &encode_entry(payload))?;
        if durable {
            self.fs.sync_file(&file)?;
            if len == 0 {
                // It may be new: then its name is not durable either.
                self.fs.sync_dir(self.dir)?;
            }
        }
        Ok(())
    }

    /// Shows the entries, the newest first, until `see` breaks off. No file is an empty log.
    ///
    /// # Errors
    /// [`LogError::Damaged`] as soon as a wrong line is met that is not the last one, or the system's.
    pub fn read_backwards(
        &self,
        see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<AppendLogTail, LogError> {
        let mut tail = AppendLogTail::default();
        let Some(FsStat { len, .. }) = if_found(self.fs.stat(self.dir, self.name))? else { return Ok(tail) };
        let mut lines = self.backward_reader(len, PAGE);
        let mut is_last = true;
        while let Some(line) = lines.previous_line()? {
            match line.payload() {
                Some(payload) => {
                    if see(payload).is_break() {
                        return Ok(tail);
                    }
                }
                None if is_last => tail.torn_at = Some(line.start),
                None => return Err(LogError::Damaged { offset: line.start }),
            }
            is_last = false;
        }
        Ok(tail)
    }

    fn backward_reader(&self, len: u64, chunk: usize) -> AppendLogReader<'a> {
        AppendLogReader { log: *self, chunk, position: len, held: Vec::new() }
    }
}

/// An entry as it stands in the file: what writes a whole log at once puts these one after the other.
pub fn encode_entry(payload: &[u8]) -> Vec<u8> {
    let mut line = format!("{:08x} {} ", crc32fast::hash(payload), payload.len()).into_bytes();
    line.extend_from_slice(payload);
    line.push(b'\n');
    line
}

/// The lines of a log from its end on. Holds at most one line and one chunk.
struct AppendLogReader<'a> {
    log: AppendLog<'a>,
    chunk: usize,
    /// Where `held` begins; everything behind `held` was given out already.
    position: u64,
    held: Vec<u8>,
}

/// A line as it stands, with its line end if it has one.
struct AppendLogLine {
    start: u64,
    /// `None`: it is longer than any entry.
    bytes: Option<Vec<u8>>,
}

impl AppendLogReader<'_> {
    /// The line before the one that was given out last.
    fn previous_line(&mut self) -> Result<Option<AppendLogLine>, LogError> {
        if self.held.is_empty() && !self.load_chunk()? {
            return Ok(None);
        }
        // The last byte is this line's end, or part of a torn tail: never the end of the line before.
        let mut searched_behind = self.held.len() - 1;
        let mut overlong = false;
        let behind = self.position + self.held.len() as u64;
        loop {
            if let Some(end) = self.held[..searched_behind].iter().rposition(|byte| *byte == b'\n') {
                let bytes = self.held.split_off(end + 1);
                let start = self.position + end as u64 + 1;
                return Ok(Some(AppendLogLine { start, bytes: (!overlong).then_some(bytes) }));
            }
            if self.held.len() > PAYLOAD_MOST + FRAME_MOST {
                overlong = true;
            }
            if behind - self.position > TAIL_MOST {
                return Err(LogError::Damaged { offset: self.position });
            }
            if overlong {
                // Nothing of it is needed but where it begins.
                self.held.clear();
            }
            let held = self.held.len();
            if !self.load_chunk()? {
                let bytes = std::mem::take(&mut self.held);
                return Ok(Some(AppendLogLine { start: 0, bytes: (!overlong).then_some(bytes) }));
            }
            searched_behind = self.held.len() - held;
        }
    }

    /// Puts the chunk before what is held in front of it; false at the beginning of the file.
    fn load_chunk(&mut self) -> Result<bool, LogError> {
        let size = self.position.min(self.chunk as u64);
        if size == 0 {
            return Ok(false);
        }
        let from = self.position - size;
        let size = usize::try_from(size).unwrap_or(self.chunk);
        let mut chunk = self.log.fs.read_range(self.log.dir, self.log.name, from, size)?;
        if chunk.len() != size {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        chunk.append(&mut self.held);
        (self.held, self.position) = (chunk, from);
        Ok(true)
    }
}

impl AppendLogLine {
    /// The payload, if the line is an entry as it was appended.
    fn payload(&self) -> Option<&[u8]> {
        let line = self.bytes.as_deref()?.strip_suffix(b"\n")?;
        let (sum, rest) = line.split_at_checked(8)?;
        let rest = rest.strip_prefix(b" ")?;
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let (length, payload) = (&rest[..blank], &rest[blank + 1..]);
        let is_whole = length == payload.len().to_string().as_bytes()
            && sum == format!("{:08x}", crc32fast::hash(payload)).as_bytes();
        is_whole.then_some(payload)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::real::RealFs;

    #[test]
    fn a_file_that_is_nearly_all_hole_is_damaged_and_not_read_through() {
        let place = tempfile::tempdir().unwrap();
        let fs = RealFs::default();
        let dir = fs.open_root(place.path()).unwrap();
        let log = AppendLog::new(&fs, &dir, "log");
        let file = std::fs::File::create(place.path().join("log")).unwrap();
        for (length, is_log) in [(TAIL_MOST / 2, true), (50 << 30, false)] {
            file.set_len(length).unwrap();
            let read = log.read_backwards(&mut |_| ControlFlow::Continue(()));
            assert_eq!(read.is_ok(), is_log, "{length}");
            assert_eq!(log.append(b"entry", false).is_ok(), is_log, "{length}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_was_appended_is_read_back_for_any_piece_size(
            payloads in proptest::collection::vec("[ -~]{0,40}", 0..20),
            chunk in 1usize..64,
            garbage in proptest::collection::vec(any::<u8>().prop_filter("no line end", |b| *b != b'\n'), 0..30),
        ) {
            let place = tempfile::tempdir().unwrap();
            let fs = RealFs::default();
            let dir = fs.open_root(place.path()).unwrap();
            let log = AppendLog::new(&fs, &dir, "log");
            let whole: Vec<u8> = payloads.iter().flat_map(|payload| encode_entry(payload.as_bytes())).collect();
            let bytes = [&whole[..], &garbage].concat();
            for payload in &payloads {
                log.append(payload.as_bytes(), false).unwrap();
            }
            prop_assert_eq!(std::fs::read(place.path().join("log")).unwrap_or_default(), &whole[..]);
            std::fs::write(place.path().join("log"), &bytes).unwrap();
            let mut lines = log.backward_reader(bytes.len() as u64, chunk);
            let mut seen = Vec::new();
            while let Some(line) = lines.previous_line().unwrap() {
                match line.payload() {
                    Some(payload) => seen.push(String::from_utf8(payload.to_vec()).unwrap()),
                    None => prop_assert_eq!(line.start, whole.len() as u64),
                }
            }
            seen.reverse();
            prop_assert_eq!(seen, payloads);
        }
    }
}
