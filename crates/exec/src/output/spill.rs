//! The file for output that does not fit into memory.
//!
//! It is made anew with mode 0600, never over or through something that exists, holds at most as many
//! bytes as it may, and every line in it has passed [`Redactor::redact_line`]. When it cannot be written it goes
//! away again: a caller sees either a file that says what it holds, or none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use relaycode_text::redact::Redactor;
use rustix::fs::OFlags;

/// The longest line that is looked at as one. A longer one is looked at in pieces, cut at a blank where
/// there is one.
const MOST_LINE: usize = 64 << 10;

/// What is collected before it is written.
const BATCH: usize = 64 << 10;

/// The last line of a file that was full.
const CUT: &[u8] = "\n… the file was full, the rest is missing …\n".as_bytes();

/// A spill file while it is written.
#[derive(Debug)]
pub(crate) struct SpillFile {
    path: PathBuf,
    file: File,
    /// Bytes that it may still take, the last line not counted.
    room: u64,
    /// The last line if it gets full; empty where not even that has room.
    full_notice: &'static [u8],
    full: bool,
    /// Blacks out secrets.
    redactor: Redactor,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    batch: Vec<u8>,
    failed: bool,
}

impl SpillFile {
    /// Makes the file.
    pub(crate) fn create(path: PathBuf, most: u64) -> io::Result<SpillFile> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)?;
        Ok(SpillFile::with_file(path, file, most))
    }

    fn with_file(path: PathBuf, file: File, most: u64) -> SpillFile {
        let (room, mark) = most.checked_sub(CUT.len() as u64).map_or((most, &CUT[..0]), |room| (room, CUT));
        SpillFile {
            path,
            file,
            room,
            full_notice: mark,
            full: false,
            redactor: Redactor::default(),
            line: Vec::new(),
            batch: Vec::new(),
            failed: false,
        }
    }

    /// More has come.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while !self.done() && !bytes.is_empty() {
            let room = MOST_LINE - self.line.len();
            let look = &bytes[..bytes.len().min(room)];
            match look.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    self.line.extend_from_slice(&bytes[..=at]);
                    bytes = &bytes[at + 1..];
                    self.take_line(self.line.len());
                }
                None => {
                    self.line.extend_from_slice(look);
                    bytes = &bytes[look.len()..];
                    if self.line.len() == MOST_LINE {
                        let blank = self.line.iter().rposition(|byte| matches!(byte, b' ' | b'\t'));
                        self.take_line(blank.map_or(MOST_LINE, |at| at + 1));
                    }
                }
            }
        }
    }

    /// All has come. The file's name, if it could be written.
    pub(crate) fn finish(mut self) -> Option<PathBuf> {
        if !self.done() {
            self.take_line(self.line.len());
        }
        self.write_batch();
        if self.failed {
            // It says less than it seems to; better none.
            let _ = fs::remove_file(&self.path);
            return None;
        }
        Some(self.path)
    }

    fn done(&self) -> bool {
        self.full || self.failed
    }

    /// Moves the first bytes of the line, blacked out, to what is to be written.
    fn take_line(&mut self, length: usize) {
        let clean = self.redactor.redact_line(&self.line[..length]);
        let fits = clean.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.batch.extend_from_slice(&clean[..fits]);
        self.full = fits < clean.len();
        self.room -= fits as u64;
        self.line.drain(..length);
        if self.full {
            self.batch.extend_from_slice(self.full_notice);
        }
        if self.batch.len() >= BATCH {
            self.write_batch();
        }
    }

    fn write_batch(&mut self) {
        self.failed = self.failed || self.file.write_all(&self.batch).is_err();
        self.batch.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn spill(most: u64, pieces: &[&[u8]]) -> Vec<u8> {
        let place = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create(place.path().join("all"), most).unwrap();
        pieces.iter().for_each(|piece| file.push(piece));
        let path = file.finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::read(path).unwrap()
    }

    #[test]
    fn everything_is_in_it_however_it_came() {
        let text = b"one\ntwo\n\nand no end".repeat(20_000);
        let size = text.len() as u64 + 100;
        for chunk in [7, 1000, MOST_LINE, MOST_LINE + 1, text.len()] {
            let pieces: Vec<&[u8]> = text.chunks(chunk).collect();
            assert_eq!(spill(size, &pieces), text);
        }
        let long = b"x".repeat(3 * MOST_LINE + 5);
        assert_eq!(spill(size, &[&long]), long);
    }

    #[test]
    fn it_never_grows_beyond_its_limit_and_says_that_it_was_cut() {
        let most = 1000;
        let all = spill(most, &[&b"0123456789abcde\n".repeat(100)]);
        assert_eq!(all.len() as u64, most);
        assert!(all.ends_with(CUT));
        assert_eq!(spill(3, &[b"longer than three\n"]), b"lon");
    }

    #[test]
    fn it_is_never_made_over_or_through_something() {
        let place = tempfile::tempdir().unwrap();
        let (there, link) = (place.path().join("there"), place.path().join("link"));
        fs::write(&there, "mine").unwrap();
        symlink(place.path().join("elsewhere"), &link).unwrap();
        assert!(SpillFile::create(there.clone(), 10).is_err());
        assert!(SpillFile::create(link, 10).is_err());
        assert_eq!(fs::read(there).unwrap(), b"mine");
        assert!(!place.path().join("elsewhere").exists());
    }

    #[test]
    fn a_file_that_cannot_be_written_goes_away() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("all");
        fs::write(&path, "").unwrap();
        // Opened for reading: every write fails, as on a full disk.
        let file = File::open(&path).unwrap();
        let mut spill = SpillFile::with_file(path.clone(), file, 100);
        spill.push(b"text\n");
        assert_eq!(spill.finish(), None);
        assert!(!path.exists());
    }
}
