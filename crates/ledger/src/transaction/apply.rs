//! Carrying out the steps of a journaled transaction. What is displaced must be what was there when
//! the change was planned; else it goes back, and the whole transaction with it.

use std::collections::HashMap;
use std::io;

use relaycode_durable::fs::DirMode;

use crate::error::{LedgerError, cannot};
use crate::journal::{Step, Transaction};
use crate::moves::{self, Swap, Touched};
use crate::paths::{Places, ancestors};
use crate::record::{Image, RemovedDirectory};
use crate::seen;

/// What was done beside the steps.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) made_directories: Vec<String>,
    pub(super) removed_directories: Vec<RemovedDirectory>,
}

/// Carries out every step (directories are made with these permission bits, if theirs are known) and makes it durable. After an error, whatever was done is still there:
/// the caller puts it back.
pub(super) fn apply(
    places: &Places<'_>,
    transaction: &Transaction,
    modes: &HashMap<String, u32>,
    stop: &dyn Fn() -> bool,
) -> Result<Applied, LedgerError> {
    let mut touched = Touched::default();
    let mut applied = Applied::default();
    let (removals, rest): (Vec<&Step>, Vec<&Step>) =
        transaction.steps.iter().partition(|step| matches!(step, Step::Remove { .. }));
    for step in removals {
        carry_out(places, step, stop, &mut touched)?;
    }
    // A directory may have to go before a file takes its name, and the other way round.
    remove_directories(places, transaction, true, &mut applied, &mut touched)?;
    for path in &transaction.make_directories {
        // One that its owner may not write into would keep out what belongs in it.
        let known = modes.get(path).filter(|bits| *bits & 0o700 == 0o700);
        let mode = known.map_or(DirMode::Usual, |bits| DirMode::Exact(*bits));
        if moves::make_directory(places, path, mode).map_err(cannot("make", path))? {
            touched.entry(path);
            applied.made_directories.push(path.clone());
        }
    }
    for step in rest {
        carry_out(places, step, stop, &mut touched)?;
    }
    remove_directories(places, transaction, false, &mut applied, &mut touched)?;
    touched.sync(places).map_err(cannot("write", "the changed directories"))?;
    Ok(applied)
}

/// Removes directories in which nothing is left: only those whose name a file takes, or all.
fn remove_directories(
    places: &Places<'_>,
    transaction: &Transaction,
    only_replaced: bool,
    applied: &mut Applied,
    touched: &mut Touched,
) -> Result<(), LedgerError> {
    for directory in &transaction.remove_directories {
        let path = &directory.path;
        if (only_replaced && !is_replaced(path, transaction))
            || applied.removed_directories.contains(directory)
        {
            continue;
        }
        if moves::remove_directory(places, path).map_err(cannot("remove", path))? {
            touched.entry(path);
            applied.removed_directories.push(directory.clone());
        }
    }
    Ok(())
}

/// Whether a file takes the name of this directory, or of one above it.
fn is_replaced(directory: &str, transaction: &Transaction) -> bool {
    transaction.steps.iter().any(|step| {
        let made = match step {
            Step::Create { path, .. } => path,
            Step::Move { to, .. } => to,
            Step::Replace { .. } | Step::Remove { .. } => return false,
        };
        directory == made || ancestors(directory).any(|above| above == made)
    })
}

fn carry_out(
    places: &Places<'_>,
    step: &Step,
    stop: &dyn Fn() -> bool,
    touched: &mut Touched,
) -> Result<(), LedgerError> {
    if stop() {
        return Err(LedgerError::Interrupted);
    }
    match step {
        Step::Replace { path, slot, before, after } => {
            touched.entry(path);
            touched.entry(slot);
            replace(places, path, slot, before, after)
        }
        Step::Create { path, slot, .. } => {
            touched.entry(path);
            touched.entry(slot);
            moves::shift(places, slot, path).map_err(|error| taken(path, "make", error))
        }
        Step::Remove { path, slot, before } => {
            touched.entry(path);
            touched.entry(slot);
            displace(places, path, slot, before)
        }
        Step::Move { path, to, image, .. } => {
            touched.entry(path);
            touched.entry(to);
            displace(places, path, to, image)
        }
    }
}

/// The new file goes to `path`; what it displaces must be `before`, or goes back.
fn replace(
    places: &Places<'_>,
    path: &str,
    slot: &str,
    before: &Image,
    after: &Image,
) -> Result<(), LedgerError> {
    let conflict = || LedgerError::Conflict { path: path.to_string() };
    match moves::swap(places, slot, path, before).map_err(|error| taken(path, "change", error))? {
        Swap::Exchanged => {}
        Swap::Replaced => return Ok(()),
        Swap::Unexpected => return Err(conflict()),
    }
    let displaced = seen::look(places, slot, &[before]).map_err(cannot("read", slot))?;
    if displaced.is(before) {
        return Ok(());
    }
    give_back(places, path, slot, after)?;
    Err(conflict())
}

/// Puts the file that was displaced into `slot` back to `path`. If somebody saved there once more in
/// the meantime, that save is the newer one and stays; the older one is kept in the slot.
fn give_back(places: &Places<'_>, path: &str, slot: &str, ours: &Image) -> Result<(), LedgerError> {
    let swap = || moves::swap(places, slot, path, ours).map_err(cannot("put back", path));
    swap()?;
    if !moves::holds(places, slot, ours).map_err(cannot("read", slot))? {
        swap()?;
    }
    Ok(())
}

/// The file `path` gets the name `to`; it must be `image`, or goes back.
fn displace(places: &Places<'_>, path: &str, to: &str, image: &Image) -> Result<(), LedgerError> {
    moves::shift(places, path, to).map_err(|error| taken(path, "move", error))?;
    let moved = seen::look(places, to, &[image]).map_err(cannot("read", to))?;
    if moved.is(image) {
        return Ok(());
    }
    // If somebody made the name anew in the meantime, both stay: recovery names them.
    match moves::shift(places, to, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(cannot("put back", path)(error)),
        _ => Err(LedgerError::Conflict { path: path.to_string() }),
    }
}

/// Somebody took or removed the name since it was checked: a conflict, not a failure.
fn taken(path: &str, verb: &'static str, error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            LedgerError::Conflict { path: path.to_string() }
        }
        _ => cannot(verb, path)(error),
    }
}
