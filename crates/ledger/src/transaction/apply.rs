//! Carrying out the steps of a journaled transaction. What is displaced must be what was there when
//! the change was planned; else it goes back, and the whole transaction with it.

use std::collections::HashMap;
use std::io;

use relaycode_durable::{DirMode, if_new};

use crate::disk::{DirtyDirectories, PathResolver, SwapOutcome, ancestors};
use crate::record::{FileImage, RemovedDirectory};
use crate::transaction::{TransactionJournal, TransactionStep};
use crate::{IoContext, LedgerError, LedgerResult, io_error};

/// What was done beside the steps.
#[derive(Debug, Default)]
pub(super) struct AppliedDirectories {
    pub(super) made_directories: Vec<String>,
    pub(super) removed_directories: Vec<RemovedDirectory>,
}

/// Carries out every step (directories are made with these permission bits, if theirs are known) and
/// makes it durable. After an error, whatever was done is still there: the caller puts it back.
pub(super) fn apply(
    paths: &PathResolver<'_>,
    journal: &TransactionJournal,
    modes: &HashMap<String, u32>,
    stop: &dyn Fn() -> bool,
) -> LedgerResult<AppliedDirectories> {
    let (touched, applied) = (DirtyDirectories::default(), AppliedDirectories::default());
    let mut run = ApplyRun { paths, journal, stop, touched, applied };
    run.set_modes(true)?;
    let (removals, rest): (Vec<&TransactionStep>, Vec<&TransactionStep>) =
        journal.steps.iter().partition(|step| matches!(step, TransactionStep::Remove { .. }));
    for step in removals {
        run.carry_out(step)?;
    }
    // A directory may have to go before a file takes its name, and the other way round.
    run.remove_directories(true)?;
    for path in &journal.make_directories {
        // One that its owner may not write into would keep out what belongs in it: that comes last.
        let mode = modes.get(path).map_or(DirMode::Usual, |bits| DirMode::Exact(*bits | OWNER_MAY_WRITE));
        if paths.make_directory(path, mode).context("make", path)? {
            run.touched.add_entry(path);
            run.applied.made_directories.push(path.clone());
        }
    }
    for step in rest {
        run.carry_out(step)?;
    }
    run.remove_directories(false)?;
    run.touched.sync(paths).context("write", "the changed directories")?;
    for path in run.applied.made_directories.iter().rev() {
        if let Some(mode) = modes.get(path).filter(|mode| *mode & OWNER_MAY_WRITE != OWNER_MAY_WRITE) {
            paths.set_directory_mode(path, *mode).context("set the permissions of", path)?;
        }
    }
    run.set_modes(false)?;
    Ok(run.applied)
}

/// The bits without which nothing can be changed in a directory.
pub(super) const OWNER_MAY_WRITE: u32 = 0o700;

struct ApplyRun<'a, 'r> {
    paths: &'a PathResolver<'r>,
    journal: &'a TransactionJournal,
    stop: &'a dyn Fn() -> bool,
    touched: DirtyDirectories,
    applied: AppliedDirectories,
}

impl ApplyRun<'_, '_> {
    /// Gives directories their permission bits: first those that may be changed afterwards, last those that may not.
    fn set_modes(&self, first: bool) -> LedgerResult<()> {
        let is_writable = |mode: u32| mode & OWNER_MAY_WRITE == OWNER_MAY_WRITE;
        let modes = self.journal.directory_modes.iter();
        for change in modes.filter(|change| is_writable(change.after) == first) {
            let path = &change.path;
            if self.paths.directory_mode(path).context("look at", path)? != Some(change.before) {
                return Err(conflict(path));
            }
            self.paths.set_directory_mode(path, change.after).context("set the permissions of", path)?;
        }
        Ok(())
    }

    /// Removes directories in which nothing is left: only those whose name a file takes, or all.
    fn remove_directories(&mut self, only_replaced: bool) -> LedgerResult<()> {
        for directory in &self.journal.remove_directories {
            let path = &directory.path;
            let is_early = only_replaced && !self.is_replaced(path);
            if is_early || self.applied.removed_directories.contains(directory) {
                continue;
            }
            if self.paths.remove_directory(path).context("remove", path)? {
                self.touched.add_entry(path);
                self.applied.removed_directories.push(directory.clone());
            }
        }
        Ok(())
    }

    /// Whether a file takes the name of this directory, or of one above it.
    fn is_replaced(&self, directory: &str) -> bool {
        self.journal.steps.iter().any(|step| {
            let is_new = matches!(step, TransactionStep::Create { .. } | TransactionStep::Move { .. });
            let made = step.after().filter(|_| is_new).map(|(path, _)| path);
            made.is_some() && ancestors(directory).chain([directory]).any(|above| Some(above) == made)
        })
    }

    fn carry_out(&mut self, step: &TransactionStep) -> LedgerResult<()> {
        if (self.stop)() {
            return Err(LedgerError::Interrupted);
        }
        match step {
            TransactionStep::Replace { path, slot, before, after } => {
                self.touched.add_entries(path, slot);
                self.replace(path, slot, before, after)
            }
            TransactionStep::Create { path, slot, .. } => {
                self.touched.add_entries(path, slot);
                let moved = self.paths.rename_no_replace(slot, path);
                moved.map_err(|error| name_conflict(path, "make", error))
            }
            TransactionStep::Remove { path, slot: to, before: image }
            | TransactionStep::Move { path, to, image, .. } => {
                self.touched.add_entries(path, to);
                self.move_checked(path, to, image)
            }
        }
    }

    /// The new file goes to `path`; what it displaces must be `before`, or goes back.
    fn replace(&self, path: &str, slot: &str, before: &FileImage, after: &FileImage) -> LedgerResult<()> {
        let swapped = self.paths.swap(slot, path, before);
        match swapped.map_err(|error| name_conflict(path, "change", error))? {
            SwapOutcome::Exchanged => {}
            SwapOutcome::Replaced => return Ok(()),
            SwapOutcome::Unexpected => return Err(conflict(path)),
        }
        if self.paths.probe(slot, &[before]).context("read", slot)?.matches_image(before) {
            return Ok(());
        }
        self.return_displaced(path, slot, after)?;
        Err(conflict(path))
    }

    /// Puts the file that was displaced into `slot` back to `path`. If somebody saved there once more in
    /// the meantime, that save is the newer one and stays; the older one is kept in the slot.
    fn return_displaced(&self, path: &str, slot: &str, ours: &FileImage) -> LedgerResult<()> {
        let swap = || self.paths.swap(slot, path, ours).context("put back", path);
        swap()?;
        if !self.paths.holds_bytes_of(slot, ours).context("read", slot)? {
            swap()?;
        }
        Ok(())
    }

    /// The file `path` gets the name `to`; it must be `image`, or goes back.
    fn move_checked(&self, path: &str, to: &str, image: &FileImage) -> LedgerResult<()> {
        let moved = self.paths.rename_no_replace(path, to);
        moved.map_err(|error| name_conflict(path, "move", error))?;
        if self.paths.probe(to, &[image]).context("read", to)?.matches_image(image) {
            return Ok(());
        }
        // If somebody made the name anew in the meantime, both stay: recovery names them.
        if_new(self.paths.rename_no_replace(to, path)).context("put back", path)?;
        Err(conflict(path))
    }
}

fn conflict(path: &str) -> LedgerError {
    LedgerError::Conflict { path: path.to_string(), kept: None }
}

/// Somebody took or removed the name since it was checked: a conflict, not a failure.
fn name_conflict(path: &str, verb: &'static str, error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            conflict(path)
        }
        _ => io_error(verb, path)(error),
    }
}
