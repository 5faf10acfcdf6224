//! Which files were seen with setuid, setgid or sticky bits, in the user's own directory beside the copy of the ledger.
//!
//! A record lies in the project, and whoever made the project may have put it there: at its word alone nobody gets the
//! powers of a file's owner. What this relay saw itself while it recorded a command, a revert may bring back.

use std::collections::HashSet;
use std::io;

use relaycode_durable::is_too_long;

use crate::disk::Digest;
use crate::record::{FileImage, Record};
use crate::{IoContext, Ledger, LedgerResult, io_error};

/// The file's name.
const NAME: &str = "special-modes";
/// Bytes of it; of what does not fit nothing is known.
const BYTES: u64 = 8 * 1024 * 1024;

/// Whether an image has bits that let others run a file as its owner or group.
pub(crate) fn is_special(image: &FileImage) -> bool {
    !image.is_link() && image.mode & 0o7000 != 0
}

/// What stands for a file with these bytes and bits at a path.
fn line(path: &str, image: &FileImage) -> String {
    Digest::of(format!("{path}\0{}\0{:04o}", image.hash, image.mode).as_bytes()).to_string()
}

impl Ledger {
    /// Notes the files of a recording that were seen with such bits.
    ///
    /// # Errors
    /// The system's: a revert does not give the bits back then, and says so.
    pub(crate) fn note_special_modes(&self, record: &Record) -> LedgerResult<()> {
        let sides = record
            .result
            .iter()
            .flat_map(|file| [(file.old_path(), file.before), (file.path.as_str(), file.after)]);
        let special = sides.filter_map(|(path, image)| Some((path, image.filter(is_special)?)));
        let mut lines: Vec<String> = special.map(|(path, image)| line(path, &image)).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let Some((dir, path)) = self.copy_directory(true)? else { return Ok(()) };
        let known = self.special_modes()?;
        lines.retain(|line| !known.contains(line));
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let written = || -> io::Result<()> {
            let file = self.fs.open_append(&dir, NAME)?;
            if self.fs.stat_file(&file)?.len + text.len() as u64 > BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.fs.write(&file, text.as_bytes())?;
            self.fs.sync_file(&file)?;
            self.fs.sync_dir(&dir)
        };
        written().context("write", &format!("{path}/{NAME}"))
    }

    /// Those of `files` that were seen like that on this machine, by path.
    pub(crate) fn seen_with_special_modes(&self, files: &[(String, FileImage)]) -> LedgerResult<Vec<String>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.special_modes()?;
        let seen = files.iter().filter(|(path, image)| known.contains(&line(path, image)));
        Ok(seen.map(|(path, _)| path.clone()).collect())
    }

    fn special_modes(&self) -> LedgerResult<HashSet<String>> {
        let Some((dir, path)) = self.copy_directory(false)? else { return Ok(HashSet::new()) };
        match self.fs.read(&dir, NAME, BYTES) {
            Ok((bytes, _)) => Ok(String::from_utf8_lossy(&bytes).lines().map(String::from).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound || is_too_long(&error) => {
                Ok(HashSet::new())
            }
            Err(error) => Err(io_error("read", &format!("{path}/{NAME}"))(error)),
        }
    }
}
