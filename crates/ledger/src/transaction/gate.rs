//! While the project's own commands judge a transaction: what they change in its files (a formatter
//! does) belongs to it, and is put back or recorded with it.
//!
//! What stands on disk afterwards is what is recorded, also where the commands removed a file or made
//! one again. Something that is no regular file cannot be recorded: then nothing is taken over, and a
//! put-back moves it aside.

use relaycode_change::diff;

use crate::disk::PathEntry;
use crate::record::{FileImage, FileRecord};
use crate::transaction::{OpenTransaction, TransactionStage, TransactionStep, recover};
use crate::{IoContext, LedgerError, LedgerRefusal, LedgerResult, LedgerRule};

/// Files that a gate makes longer than this are not taken over.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A regular file, as it stands there now.
type GateFileState = Option<(FileImage, Vec<u8>)>;

impl OpenTransaction<'_> {
    /// Writes down that the project's commands run now.
    ///
    /// # Errors
    /// If the journal cannot be written; the transaction is still open.
    pub fn begin_gate(&mut self) -> LedgerResult<()> {
        self.set_stage(TransactionStage::GateRunning)
    }

    /// Takes over what the commands changed in the transaction's files, and says in which. A file that
    /// they removed is recorded as gone, one that they made again as being there; both with a note.
    ///
    /// # Errors
    /// `Refused` if something that is no regular file stands where one of its files should: that
    /// cannot be kept. `Io` if a file cannot be read or the journal cannot be written. The transaction is
    /// still open then, and putting it back moves aside whatever the commands left.
    pub fn finish_gate(&mut self) -> LedgerResult<Vec<String>> {
        // The commands may have made directories anew: handles from before are of those that are gone.
        self.paths = self.ledger.root.resolver();
        self.require_regular_files()?;
        let mut changed = Vec::new();
        for at in 0..self.transaction.steps.len() {
            let path = match self.transaction.steps[at].clone() {
                TransactionStep::Replace { path, slot, before, after } => match self.current_file(&path)? {
                    Some((image, _)) if image == after => None,
                    Some((image, bytes)) => {
                        self.transaction.steps[at] =
                            TransactionStep::Replace { path: path.clone(), slot, before, after: image };
                        self.record_written(path, image, &bytes)?
                    }
                    None => {
                        self.transaction.steps[at] =
                            TransactionStep::Remove { path: path.clone(), slot, before };
                        self.record_removed(path)?
                    }
                },
                TransactionStep::Create { path, slot, after } => match self.current_file(&path)? {
                    Some((image, _)) if image == after => None,
                    Some((image, bytes)) => {
                        self.transaction.steps[at] =
                            TransactionStep::Create { path: path.clone(), slot, after: image };
                        self.record_written(path, image, &bytes)?
                    }
                    None => self.record_removed(path)?,
                },
                TransactionStep::Remove { path, slot, before } => match self.current_file(&path)? {
                    Some((image, bytes)) => {
                        self.transaction.steps[at] =
                            TransactionStep::Replace { path: path.clone(), slot, before, after: image };
                        self.record_remade(path, image, &bytes)?
                    }
                    None => None,
                },
                TransactionStep::Move { path, to, slot, image } => {
                    let (old, new) = (self.current_file(&path)?, self.current_file(&to)?);
                    if old.is_none() && new.as_ref().is_some_and(|(now, _)| *now == image) {
                        continue;
                    }
                    self.split_move(at, (&path, &to), &slot, image, (old, new), &mut changed)?;
                    None
                }
            };
            changed.extend(path);
        }
        self.set_stage(TransactionStage::GateFinished)?;
        Ok(changed)
    }

    /// Nothing but regular files, or nothing at all, may stand where the transaction put its files.
    fn require_regular_files(&self) -> LedgerResult<()> {
        let mut refusals = Vec::new();
        for step in &self.transaction.steps {
            // Whatever has taken the place of a file that was removed, the file is gone.
            let Some((path, _)) = step.after() else { continue };
            if let PathEntry::Other(what) = self.paths.entry_at(path).context("look at", path)? {
                refusals.push(LedgerRefusal { path: path.to_string(), rule: LedgerRule::NotAFile(what) });
            }
        }
        if refusals.is_empty() { Ok(()) } else { Err(LedgerError::Refused(refusals)) }
    }

    fn current_file(&self, path: &str) -> LedgerResult<GateFileState> {
        if let PathEntry::File(_) = self.paths.entry_at(path).context("look at", path)? {
            let read = self.paths.read(path, MOST_BYTES).context("read", path)?;
            return Ok(read.map(|(bytes, stat)| (FileImage::of(&bytes, stat.mode), bytes)));
        }
        Ok(None)
    }

    /// A file that was only given another name was changed there, or its old name is taken again: from
    /// now on it is one that goes and one that comes.
    fn split_move(
        &mut self,
        at: usize,
        (path, to): (&str, &str),
        slot: &str,
        image: FileImage,
        (old, new): (GateFileState, GateFileState),
        changed: &mut Vec<String>,
    ) -> LedgerResult<()> {
        self.keep_in_slot(path, slot, image)?;
        let after = new.as_ref().map_or(image, |(image, _)| *image);
        let fresh = self.fresh_slot(slot);
        self.transaction.steps.push(TransactionStep::Create { path: to.to_string(), slot: fresh, after });
        self.transaction.steps[at] = match &old {
            None => TransactionStep::Remove { path: path.to_string(), slot: slot.to_string(), before: image },
            Some((after, _)) => {
                let (path, slot) = (path.to_string(), slot.to_string());
                TransactionStep::Replace { path, slot, before: image, after: *after }
            }
        };
        match new {
            Some((now, bytes)) if now != image => {
                changed.extend(self.record_written(to.to_string(), now, &bytes)?);
            }
            Some(_) => {}
            None => changed.extend(self.record_removed(to.to_string())?),
        }
        if let Some((now, bytes)) = old {
            changed.extend(self.record_remade(path.to_string(), now, &bytes)?);
        }
        Ok(())
    }

    /// Writes what a file was into its slot, where a removed file is looked for.
    fn keep_in_slot(&self, path: &str, slot: &str, image: FileImage) -> LedgerResult<()> {
        let bytes = recover::before_bytes(&self.state, &self.record, path)?;
        self.paths.remove_file(slot).context("remove", slot)?;
        let written = self.paths.write_new(slot, &bytes, image.mode);
        let synced = written.and_then(|()| self.paths.fs().sync_dir(&self.paths.resolve(slot)?.dir));
        synced.context("write", slot)
    }

    /// A slot that no step has, beside this one.
    fn fresh_slot(&self, beside: &str) -> String {
        let digits = |slot: &str| slot.len() - slot.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = |slot: &str| slot[slot.len() - digits(slot)..].parse::<usize>().unwrap_or(0);
        let slots = self.transaction.steps.iter().map(TransactionStep::slot);
        let next = slots.map(number).max().unwrap_or(0) + 1;
        format!("{}{next}", &beside[..beside.len() - digits(beside)])
    }

    /// The commands wrote into a file.
    fn record_written(&mut self, path: String, now: FileImage, bytes: &[u8]) -> LedgerResult<Option<String>> {
        let content = self.store_content(bytes)?;
        let mut result = self.record.result.iter_mut();
        if let Some(file) = result.find(|file| file.path == path && file.after.is_some()) {
            file.after = Some(now);
            file.content = Some(content);
        }
        self.recount_lines(&path, bytes)?;
        Ok(Some(path))
    }

    /// The commands removed a file: what is recorded is that it went, or nothing if it was new.
    fn record_removed(&mut self, path: String) -> LedgerResult<Option<String>> {
        let is_it = |file: &FileRecord| file.path == path && file.after.is_some();
        let Some(at) = self.record.result.iter().position(is_it) else { return Ok(None) };
        if self.record.snapshot.get(&path).is_some_and(Option::is_none) {
            self.record.snapshot.remove(&path);
        }
        let file = &mut self.record.result[at];
        if file.before.is_none() {
            self.record.result.remove(at);
        } else {
            file.path = file.old_path().to_string();
            file.renamed_from = None;
            file.after = None;
            file.content = None;
            let old = file.path.clone();
            self.recount_lines(&old, b"")?;
        }
        self.record.notes.push(format!("the project's commands removed {path}"));
        Ok(Some(path))
    }

    /// The commands made a file again that the transaction takes away.
    fn record_remade(&mut self, path: String, now: FileImage, bytes: &[u8]) -> LedgerResult<Option<String>> {
        let content = Some(self.store_content(bytes)?);
        let mut result = self.record.result.iter_mut();
        match result.find(|file| file.path == path && file.after.is_none()) {
            Some(file) => {
                file.after = Some(now);
                file.content = content;
            }
            // What it was has another name now.
            None => {
                let (path, after) = (path.clone(), Some(now));
                self.record.result.push(FileRecord { path, after, content, ..FileRecord::default() });
            }
        }
        self.recount_lines(&path, bytes)?;
        self.record.notes.push(format!("the project's commands made {path} again"));
        Ok(Some(path))
    }

    /// Counts the lines of a file anew, whose bytes are these now.
    fn recount_lines(&mut self, path: &str, bytes: &[u8]) -> LedgerResult<()> {
        let is_it = |file: &FileRecord| file.path == path && (file.after.is_some() || bytes.is_empty());
        let Some(at) = self.record.result.iter().position(is_it) else { return Ok(()) };
        let file = &self.record.result[at];
        let before = match file.before {
            Some(_) => recover::before_bytes(&self.state, &self.record, file.old_path())?,
            None => Vec::new(),
        };
        let (added, removed) = diff::count_changed_lines(&before, bytes);
        let file = &mut self.record.result[at];
        (file.added, file.removed) = (added, removed);
        Ok(())
    }

    fn set_stage(&mut self, stage: TransactionStage) -> LedgerResult<()> {
        self.transaction.stage = stage;
        self.write_journal()
    }
}
