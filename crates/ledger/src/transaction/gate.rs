//! While the project's own commands judge a transaction: what they change in its files (a formatter
//! does) belongs to it, and is put back or recorded with it.

use super::Open;
use crate::error::{LedgerError, cannot};
use crate::journal::{Stage, Step};
use crate::record::Image;

/// Files that a gate makes longer than this are not taken over.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Open<'_> {
    /// Writes down that the project's commands run now.
    ///
    /// # Errors
    /// If the journal cannot be written; the transaction is still open.
    pub fn gate_running(&mut self) -> Result<(), LedgerError> {
        self.set_stage(Stage::GateRunning)
    }

    /// Takes over what the commands changed in the transaction's files, and says in which.
    ///
    /// # Errors
    /// If a file cannot be read or the journal cannot be written; the transaction is still open.
    pub fn gate_done(&mut self) -> Result<Vec<String>, LedgerError> {
        let mut changed = Vec::new();
        for at in 0..self.transaction.steps.len() {
            let (path, after) = match &self.transaction.steps[at] {
                Step::Replace { path, after, .. } | Step::Create { path, after, .. } => {
                    (path.clone(), *after)
                }
                Step::Remove { .. } | Step::Move { .. } => continue,
            };
            let read = self.places.read(&path, MOST_BYTES).map_err(cannot("read", &path))?;
            let Some((bytes, stat)) = read else { continue };
            let image = Image::of(&bytes, stat.mode);
            if image != after {
                self.take_over(at, &path, image, &bytes)?;
                changed.push(path);
            }
        }
        self.set_stage(Stage::Applying)?;
        Ok(changed)
    }

    fn take_over(&mut self, at: usize, path: &str, image: Image, bytes: &[u8]) -> Result<(), LedgerError> {
        if let Step::Replace { after, .. } | Step::Create { after, .. } = &mut self.transaction.steps[at] {
            *after = image;
        }
        let content = self.store(bytes)?;
        if let Some(file) = self.record.result.iter_mut().find(|file| file.path == path) {
            file.after = Some(image);
            file.content = Some(content);
        }
        Ok(())
    }

    fn set_stage(&mut self, stage: Stage) -> Result<(), LedgerError> {
        self.transaction.stage = stage;
        self.write_journal()
    }
}
