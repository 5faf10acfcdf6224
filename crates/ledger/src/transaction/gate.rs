//! While the project's own commands judge a transaction: what they change in its files (a formatter
//! does) belongs to it, and is put back or recorded with it.
//!
//! What stands on disk afterwards is what is recorded, also where the commands removed a file or made
//! one again. Something that is no regular file cannot be recorded: then nothing is taken over, and a
//! put-back moves it aside.

use std::io;

use relaycode_change::diff;
use relaycode_durable::fs::FileMode;

use super::Open;
use crate::error::{LedgerError, Refusal, Rule, cannot};
use crate::journal::{Stage, Step};
use crate::moves;
use crate::paths::Found;
use crate::record::{FileRecord, Image};
use crate::recover;

/// Files that a gate makes longer than this are not taken over.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A regular file, as it stands there now.
type Now = Option<(Image, Vec<u8>)>;

impl Open<'_> {
    /// Writes down that the project's commands run now.
    ///
    /// # Errors
    /// If the journal cannot be written; the transaction is still open.
    pub fn gate_running(&mut self) -> Result<(), LedgerError> {
        self.set_stage(Stage::GateRunning)
    }

    /// Takes over what the commands changed in the transaction's files, and says in which. A file that
    /// they removed is recorded as gone, one that they made again as being there; both with a note.
    ///
    /// # Errors
    /// `Refused` if something that is no regular file stands where one of its files should: that
    /// cannot be kept. `Io` if a file cannot be read or the journal cannot be written. The transaction is
    /// still open then, and putting it back moves aside whatever the commands left.
    pub fn gate_done(&mut self) -> Result<Vec<String>, LedgerError> {
        // The commands may have made directories anew: handles from before are of those that are gone.
        self.places = self.ledger.root.places();
        self.only_files()?;
        let mut changed = Vec::new();
        for at in 0..self.transaction.steps.len() {
            let path = match self.transaction.steps[at].clone() {
                Step::Replace { path, slot, before, after } => match self.now(&path)? {
                    Some((image, _)) if image == after => None,
                    Some((image, bytes)) => {
                        self.transaction.steps[at] =
                            Step::Replace { path: path.clone(), slot, before, after: image };
                        self.written(path, image, &bytes)?
                    }
                    None => {
                        self.transaction.steps[at] = Step::Remove { path: path.clone(), slot, before };
                        self.lost(path)?
                    }
                },
                Step::Create { path, slot, after } => match self.now(&path)? {
                    Some((image, _)) if image == after => None,
                    Some((image, bytes)) => {
                        self.transaction.steps[at] = Step::Create { path: path.clone(), slot, after: image };
                        self.written(path, image, &bytes)?
                    }
                    None => self.lost(path)?,
                },
                Step::Remove { path, slot, before } => match self.now(&path)? {
                    Some((image, bytes)) => {
                        self.transaction.steps[at] =
                            Step::Replace { path: path.clone(), slot, before, after: image };
                        self.made_again(path, image, &bytes)?
                    }
                    None => None,
                },
                Step::Move { path, to, slot, image } => {
                    let (old, new) = (self.now(&path)?, self.now(&to)?);
                    if old.is_none() && new.as_ref().is_some_and(|(now, _)| *now == image) {
                        continue;
                    }
                    self.no_longer_moved(at, (&path, &to), &slot, image, (old, new), &mut changed)?;
                    None
                }
            };
            changed.extend(path);
        }
        self.set_stage(Stage::Applying)?;
        Ok(changed)
    }

    /// Nothing but regular files, or nothing at all, may stand where the transaction put its files.
    fn only_files(&self) -> Result<(), LedgerError> {
        let mut refusals = Vec::new();
        for step in &self.transaction.steps {
            let path = match step {
                Step::Replace { path, .. } | Step::Create { path, .. } => path,
                Step::Move { to, .. } => to,
                // Whatever has taken its place since, the file is gone.
                Step::Remove { .. } => continue,
            };
            if let Found::Other(what) = self.places.find(path).map_err(cannot("look at", path))? {
                refusals.push(Refusal { path: path.clone(), rule: Rule::NotAFile(what) });
            }
        }
        if refusals.is_empty() { Ok(()) } else { Err(LedgerError::Refused(refusals)) }
    }

    fn now(&self, path: &str) -> Result<Now, LedgerError> {
        if let Found::File(_) = self.places.find(path).map_err(cannot("look at", path))? {
            let read = self.places.read(path, MOST_BYTES).map_err(cannot("read", path))?;
            return Ok(read.map(|(bytes, stat)| (Image::of(&bytes, stat.mode), bytes)));
        }
        Ok(None)
    }

    /// A file that was only given another name was changed there, or its old name is taken again: from
    /// now on it is one that goes and one that comes.
    fn no_longer_moved(
        &mut self,
        at: usize,
        (path, to): (&str, &str),
        slot: &str,
        image: Image,
        (old, new): (Now, Now),
        changed: &mut Vec<String>,
    ) -> Result<(), LedgerError> {
        self.keep_in_slot(path, slot, image)?;
        let after = new.as_ref().map_or(image, |(image, _)| *image);
        let fresh = self.fresh_slot(slot);
        self.transaction.steps.push(Step::Create { path: to.to_string(), slot: fresh, after });
        self.transaction.steps[at] = match &old {
            None => Step::Remove { path: path.to_string(), slot: slot.to_string(), before: image },
            Some((after, _)) => {
                let (path, slot) = (path.to_string(), slot.to_string());
                Step::Replace { path, slot, before: image, after: *after }
            }
        };
        match new {
            Some((now, bytes)) if now != image => {
                changed.extend(self.written(to.to_string(), now, &bytes)?);
            }
            Some(_) => {}
            None => changed.extend(self.lost(to.to_string())?),
        }
        if let Some((now, bytes)) = old {
            changed.extend(self.made_again(path.to_string(), now, &bytes)?);
        }
        Ok(())
    }

    /// Writes what a file was into its slot, where a removed file is looked for.
    fn keep_in_slot(&self, path: &str, slot: &str, image: Image) -> Result<(), LedgerError> {
        let bytes = recover::before_bytes(&self.state, &self.record, path)?;
        moves::remove(&self.places, slot).map_err(cannot("remove", slot))?;
        let written = || -> io::Result<()> {
            let (place, fs) = (self.places.place(slot)?, self.places.fs());
            let file = fs.create(&place.dir, place.name, FileMode::Private)?;
            fs.write(&file, &bytes)?;
            fs.set_mode(&file, image.mode)?;
            fs.sync_file(&file)?;
            fs.sync_dir(&place.dir)
        };
        written().map_err(cannot("write", slot))
    }

    /// A slot that no step has, beside this one.
    fn fresh_slot(&self, beside: &str) -> String {
        let digits = |slot: &str| slot.len() - slot.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = |slot: &str| slot[slot.len() - digits(slot)..].parse::<usize>().unwrap_or(0);
        let slots = self.transaction.steps.iter().map(Step::slot);
        let next = slots.map(number).max().unwrap_or(0) + 1;
        format!("{}{next}", &beside[..beside.len() - digits(beside)])
    }

    /// The commands wrote into a file.
    fn written(&mut self, path: String, image: Image, bytes: &[u8]) -> Result<Option<String>, LedgerError> {
        let content = self.store(bytes)?;
        let mut result = self.record.result.iter_mut();
        if let Some(file) = result.find(|file| file.path == path && file.after.is_some()) {
            file.after = Some(image);
            file.content = Some(content);
        }
        self.recount(&path, bytes)?;
        Ok(Some(path))
    }

    /// The commands removed a file: what is recorded is that it went, or nothing if it was new.
    fn lost(&mut self, path: String) -> Result<Option<String>, LedgerError> {
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
            self.recount(&old, b"")?;
        }
        self.record.notes.push(format!("the project's commands removed {path}"));
        Ok(Some(path))
    }

    /// The commands made a file again that the transaction takes away.
    fn made_again(
        &mut self,
        path: String,
        image: Image,
        bytes: &[u8],
    ) -> Result<Option<String>, LedgerError> {
        let content = Some(self.store(bytes)?);
        let mut result = self.record.result.iter_mut();
        match result.find(|file| file.path == path && file.after.is_none()) {
            Some(file) => {
                file.after = Some(image);
                file.content = content;
            }
            // What it was has another name now.
            None => self.record.result.push(FileRecord {
                path: path.clone(),
                renamed_from: None,
                before: None,
                after: Some(image),
                added: 0,
                removed: 0,
                content,
            }),
        }
        self.recount(&path, bytes)?;
        self.record.notes.push(format!("the project's commands made {path} again"));
        Ok(Some(path))
    }

    /// Counts the lines of a file anew, whose bytes are these now.
    fn recount(&mut self, path: &str, bytes: &[u8]) -> Result<(), LedgerError> {
        let is_it = |file: &FileRecord| file.path == path && (file.after.is_some() || bytes.is_empty());
        let Some(at) = self.record.result.iter().position(is_it) else { return Ok(()) };
        let file = &self.record.result[at];
        let before = match file.before {
            Some(_) => recover::before_bytes(&self.state, &self.record, file.old_path())?,
            None => Vec::new(),
        };
        let (added, removed) = diff::count(&before, bytes);
        let file = &mut self.record.result[at];
        (file.added, file.removed) = (added, removed);
        Ok(())
    }

    fn set_stage(&mut self, stage: Stage) -> Result<(), LedgerError> {
        self.transaction.stage = stage;
        self.write_journal()
    }
}
