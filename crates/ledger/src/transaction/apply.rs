//! Carrying out the steps of a journaled transaction. What is displaced must be what was there when
//! the change was planned; else it goes back, and the whole transaction with it.

use std::collections::HashMap;
use std::io;

use relaycode_durable::fs::DirMode;

use crate::disk::moves;
use crate::disk::moves::{DirtyDirectories, SwapOutcome};
use crate::disk::paths::{PathResolver, ancestors};
use crate::disk::probe;
use crate::error::{LedgerError, io_error};
use crate::record::{FileImage, RemovedDirectory};
use crate::transaction::journal::{TransactionJournal, TransactionStep};

/// What was done beside the steps.
#[derive(Debug, Default)]
pub(super) struct AppliedDirectories {
    pub(super) made_directories: Vec<String>,
    pub(super) removed_directories: Vec<RemovedDirectory>,
}

/// Carries out every step (directories are made with these permission bits, if theirs are known) and makes it durable. After an error, whatever was done is still there:
/// the caller puts it back.
pub(super) fn apply(
    places: &PathResolver<'_>,
    transaction: &TransactionJournal,
    modes: &HashMap<String, u32>,
    stop: &dyn Fn() -> bool,
) -> Result<AppliedDirectories, LedgerError> {
    let mut touched = DirtyDirectories::default();
    let mut applied = AppliedDirectories::default();
    set_modes(places, transaction, true)?;
    let (removals, rest): (Vec<&TransactionStep>, Vec<&TransactionStep>) =
        transaction.steps.iter().partition(|step| matches!(step, TransactionStep::Remove { .. }));
    for step in removals {
        carry_out(places, step, stop, &mut touched)?;
    }
    // A directory may have to go before a file takes its name, and the other way round.
    remove_directories(places, transaction, true, &mut applied, &mut touched)?;
    for path in &transaction.make_directories {
        // One that its owner may not write into would keep out what belongs in it: that comes last.
        let mode = modes.get(path).map_or(DirMode::Usual, |bits| DirMode::Exact(*bits | OWNER_MAY_WRITE));
        if moves::make_directory(places, path, mode).map_err(io_error("make", path))? {
            touched.add_entry(path);
            applied.made_directories.push(path.clone());
        }
    }
    for step in rest {
        carry_out(places, step, stop, &mut touched)?;
    }
    remove_directories(places, transaction, false, &mut applied, &mut touched)?;
    touched.sync(places).map_err(io_error("write", "the changed directories"))?;
    for path in applied.made_directories.iter().rev() {
        if let Some(mode) = modes.get(path).filter(|mode| *mode & OWNER_MAY_WRITE != OWNER_MAY_WRITE) {
            places.set_directory_mode(path, *mode).map_err(io_error("set the permissions of", path))?;
        }
    }
    set_modes(places, transaction, false)?;
    Ok(applied)
}

/// The bits without which nothing can be changed in a directory.
pub(super) const OWNER_MAY_WRITE: u32 = 0o700;

/// Gives directories their permission bits: first those that may be changed afterwards, last those that may not.
fn set_modes(
    places: &PathResolver<'_>,
    transaction: &TransactionJournal,
    first: bool,
) -> Result<(), LedgerError> {
    let is_writable = |mode: u32| mode & OWNER_MAY_WRITE == OWNER_MAY_WRITE;
    for change in transaction.directory_modes.iter().filter(|change| is_writable(change.after) == first) {
        let path = &change.path;
        let now = places.directory_mode(path).map_err(io_error("look at", path))?;
        if now != Some(change.before) {
            return Err(LedgerError::Conflict { path: path.clone() });
        }
        places.set_directory_mode(path, change.after).map_err(io_error("set the permissions of", path))?;
    }
    Ok(())
}

/// Removes directories in which nothing is left: only those whose name a file takes, or all.
fn remove_directories(
    places: &PathResolver<'_>,
    transaction: &TransactionJournal,
    only_replaced: bool,
    applied: &mut AppliedDirectories,
    touched: &mut DirtyDirectories,
) -> Result<(), LedgerError> {
    for directory in &transaction.remove_directories {
        let path = &directory.path;
        if (only_replaced && !is_replaced(path, transaction))
            || applied.removed_directories.contains(directory)
        {
            continue;
        }
        if moves::remove_directory(places, path).map_err(io_error("remove", path))? {
            touched.add_entry(path);
            applied.removed_directories.push(directory.clone());
        }
    }
    Ok(())
}

/// Whether a file takes the name of this directory, or of one above it.
fn is_replaced(directory: &str, transaction: &TransactionJournal) -> bool {
    transaction.steps.iter().any(|step| {
        let made = match step {
            TransactionStep::Create { path, .. } => path,
            TransactionStep::Move { to, .. } => to,
            TransactionStep::Replace { .. } | TransactionStep::Remove { .. } => return false,
        };
        directory == made || ancestors(directory).any(|above| above == made)
    })
}

fn carry_out(
    places: &PathResolver<'_>,
    step: &TransactionStep,
    stop: &dyn Fn() -> bool,
    touched: &mut DirtyDirectories,
) -> Result<(), LedgerError> {
    if stop() {
        return Err(LedgerError::Interrupted);
    }
    match step {
        TransactionStep::Replace { path, slot, before, after } => {
            touched.add_entry(path);
            touched.add_entry(slot);
            replace(places, path, slot, before, after)
        }
        TransactionStep::Create { path, slot, .. } => {
            touched.add_entry(path);
            touched.add_entry(slot);
            moves::rename_no_replace(places, slot, path).map_err(|error| name_conflict(path, "make", error))
        }
        TransactionStep::Remove { path, slot, before } => {
            touched.add_entry(path);
            touched.add_entry(slot);
            move_checked(places, path, slot, before)
        }
        TransactionStep::Move { path, to, image, .. } => {
            touched.add_entry(path);
            touched.add_entry(to);
            move_checked(places, path, to, image)
        }
    }
}

/// The new file goes to `path`; what it displaces must be `before`, or goes back.
fn replace(
    places: &PathResolver<'_>,
    path: &str,
    slot: &str,
    before: &FileImage,
    after: &FileImage,
) -> Result<(), LedgerError> {
    let conflict = || LedgerError::Conflict { path: path.to_string() };
    match moves::swap(places, slot, path, before).map_err(|error| name_conflict(path, "change", error))? {
        SwapOutcome::Exchanged => {}
        SwapOutcome::Replaced => return Ok(()),
        SwapOutcome::Unexpected => return Err(conflict()),
    }
    let displaced = probe::probe_file(places, slot, &[before]).map_err(io_error("read", slot))?;
    if displaced.matches_image(before) {
        return Ok(());
    }
    return_displaced(places, path, slot, after)?;
    Err(conflict())
}

/// Puts the file that was displaced into `slot` back to `path`. If somebody saved there once more in
/// the meantime, that save is the newer one and stays; the older one is kept in the slot.
fn return_displaced(
    places: &PathResolver<'_>,
    path: &str,
    slot: &str,
    ours: &FileImage,
) -> Result<(), LedgerError> {
    let swap = || moves::swap(places, slot, path, ours).map_err(io_error("put back", path));
    swap()?;
    if !moves::holds_bytes_of(places, slot, ours).map_err(io_error("read", slot))? {
        swap()?;
    }
    Ok(())
}

/// The file `path` gets the name `to`; it must be `image`, or goes back.
fn move_checked(
    places: &PathResolver<'_>,
    path: &str,
    to: &str,
    image: &FileImage,
) -> Result<(), LedgerError> {
    moves::rename_no_replace(places, path, to).map_err(|error| name_conflict(path, "move", error))?;
    let moved = probe::probe_file(places, to, &[image]).map_err(io_error("read", to))?;
    if moved.matches_image(image) {
        return Ok(());
    }
    // If somebody made the name anew in the meantime, both stay: recovery names them.
    match moves::rename_no_replace(places, to, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(io_error("put back", path)(error)),
        _ => Err(LedgerError::Conflict { path: path.to_string() }),
    }
}

/// Somebody took or removed the name since it was checked: a conflict, not a failure.
fn name_conflict(path: &str, verb: &'static str, error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            LedgerError::Conflict { path: path.to_string() }
        }
        _ => io_error(verb, path)(error),
    }
}
