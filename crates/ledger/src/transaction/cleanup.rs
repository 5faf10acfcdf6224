//! What a transaction leaves in relay's own directory, and how that is cleared away: its journal, its
//! slots, the files that it displaced.
//!
//! Nothing that relay did not write is removed here: bytes of others stay, in a directory that is
//! marked as kept.

use std::io;

use relaycode_durable::{FsDir, FsKind, RenameMode, atomic};

use crate::disk::moves;
use crate::disk::moves::DirtyDirectories;
use crate::disk::paths::PathResolver;
use crate::disk::probe;
use crate::disk::state_dir;
use crate::disk::state_dir::{StateDir, StateSubdir};
use crate::error::{LedgerError, io_error};
use crate::id::TxId;
use crate::record::blobs;
use crate::record::{self, Record};
use crate::transaction::journal::{TransactionJournal, TransactionStage, TransactionStep, is_slot};
use crate::transaction::putback::{FRESH, PutBackOutcome, aside_path};
use crate::transaction::{SLOTS_PATH, TransactionDirectory};

/// Behind the name of a committed transaction's directory: it holds the files that were displaced.
pub(crate) const DONE: &str = ".done";
/// Behind the name of a directory with bytes that nobody may collect.
pub(crate) const KEPT: &str = ".kept";
/// Paths of slots that are not in the transaction's directory, one a line.
pub(crate) const SLOT_LIST: &str = "elsewhere";
/// What files beside the slots are called, behind the number of their step.
pub(crate) const ASIDES: [&str; 4] = ["before", "old-name", "new-name", "others"];
/// A journal that was set aside, in a directory that is kept.
pub(crate) const SET_ASIDE: &str = "journal.yml";

/// After a put-back: clears the traces, or writes down that a person has to look. Says where bytes of
/// others are kept, if there are any.
pub(crate) fn finish_put_back(
    state: &StateDir,
    places: &PathResolver<'_>,
    own: &TransactionDirectory,
    record: &Record,
    transaction: &TransactionJournal,
    back: &PutBackOutcome,
) -> Result<Option<String>, LedgerError> {
    if !back.left_alone.is_empty() {
        if transaction.stage != TransactionStage::NeedsYou {
            let waiting = TransactionJournal { stage: TransactionStage::NeedsYou, ..transaction.clone() };
            write_journal(state, own, &Record { transaction: Some(waiting), ..record.clone() })?;
        }
        return Ok(None);
    }
    if holds_others_bytes(state, places, own, transaction)? {
        return set_journal_aside(state, own, record.uuid).map(Some);
    }
    // The journal first: without it, what is left here is known to be relay's own.
    remove_journal(state, record.uuid)?;
    clear_staging(state, places, own).map_err(io_error("tidy", &format!("{SLOTS_PATH}/{}", own.name)))?;
    Ok(None)
}

/// Writes a journal so that it is there or not, never in part.
pub(crate) fn write_journal(
    state: &StateDir,
    own: &TransactionDirectory,
    journal: &Record,
) -> Result<(), LedgerError> {
    let name = state_dir::journal_name(journal.uuid);
    let mut make = |put: &mut atomic::PieceSink<'_>| record::write_to(journal, put);
    atomic::write_pieces(state.fs(), (&own.dir, "journal"), (state.dir(), &name), &mut make)
        .map_err(|error| io_error("write", &format!("{}/{name}", state_dir::STATE_DIR_NAME))(error.source))
}

/// Whether a slot holds bytes that relay did not write. Those on other devices come into the
/// transaction's directory: nothing of relay's stays among the project's files.
fn holds_others_bytes(
    state: &StateDir,
    places: &PathResolver<'_>,
    own: &TransactionDirectory,
    transaction: &TransactionJournal,
) -> Result<bool, LedgerError> {
    let mut any = false;
    let mut ours_elsewhere = Vec::new();
    for (number, step) in transaction.steps.iter().enumerate() {
        let (slot, images) = match step {
            TransactionStep::Replace { slot, before, after, .. } => (slot, vec![before, after]),
            TransactionStep::Create { slot, after, .. } => (slot, vec![after]),
            TransactionStep::Remove { slot, before, .. } => (slot, vec![before]),
            TransactionStep::Move { slot, image, .. } => (slot, vec![image]),
        };
        let names = [""].iter().chain(&ASIDES).map(|what| match *what {
            "" => (slot.clone(), number.to_string()),
            what => (aside_path(slot, what), aside_path(&number.to_string(), what)),
        });
        for (path, home) in names {
            let found = probe::probe_file(places, &path, &images).map_err(io_error("read", &path))?;
            let elsewhere = !path.starts_with(SLOTS_PATH);
            if found == probe::FileProbe::Nothing || images.iter().any(|image| found.matches_bytes(image)) {
                ours_elsewhere.extend(elsewhere.then_some(path));
                continue;
            }
            any = true;
            if elsewhere {
                move_into_directory(state, places, own, &path, &home)?;
            }
        }
    }
    // Nobody clears a directory that is kept.
    for path in ours_elsewhere.iter().filter(|_| any) {
        moves::remove_file(places, path).map_err(io_error("remove", path))?;
    }
    Ok(any)
}

/// After a commit: the journal goes, and the transaction's directory is marked as done. Repeated by
/// recovery if it is cut short.
pub(crate) fn settle_commit(
    state: &StateDir,
    places: &PathResolver<'_>,
    own: &TransactionDirectory,
    id: TxId,
    transaction: &TransactionJournal,
) -> Result<(), LedgerError> {
    let mut displaced = false;
    let mut touched = DirtyDirectories::default();
    for (number, step) in transaction.steps.iter().enumerate() {
        let (TransactionStep::Replace { slot, before, .. } | TransactionStep::Remove { slot, before, .. }) =
            step
        else {
            continue;
        };
        displaced = true;
        if !slot.starts_with(SLOTS_PATH) {
            // If somebody wrote into it since, those bytes stay.
            if moves::holds_bytes_of(places, slot, before).map_err(io_error("read", slot))? {
                moves::remove_file(places, slot).map_err(io_error("remove", slot))?;
            } else {
                move_into_directory(state, places, own, slot, &number.to_string())?;
            }
            touched.add_entry(slot);
        }
    }
    touched.sync(places).map_err(io_error("write", "the changed directories"))?;
    remove_journal(state, id)?;
    let settled = || -> io::Result<()> {
        for name in ["journal", "record", "blob", SLOT_LIST] {
            remove_named(state, &own.dir, name)?;
        }
        if !displaced {
            return remove_directory(state, own);
        }
        mark_done(state, own)
    };
    settled().map_err(io_error("tidy", &format!("{SLOTS_PATH}/{}", own.name)))
}

/// Marks a transaction's directory as done. If that was done before, and only the journal came back
/// after a power cut, then this directory is a new one without displaced files.
pub(crate) fn mark_done(state: &StateDir, own: &TransactionDirectory) -> io::Result<()> {
    let all = state.require_subdir(StateSubdir::Transactions)?;
    match state.fs().rename(&all, &own.name, &all, &format!("{}{DONE}", own.name), RenameMode::NoReplace) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_directory(state, own),
        other => other,
    }
}

/// Moves a file of somebody's from another device into the transaction's directory.
fn move_into_directory(
    state: &StateDir,
    places: &PathResolver<'_>,
    own: &TransactionDirectory,
    path: &str,
    home: &str,
) -> Result<(), LedgerError> {
    if let Some((bytes, _)) = places.read(path, blobs::BLOB_BYTES).map_err(io_error("read", path))? {
        atomic::stage(state.fs(), (&own.dir, home), &bytes)
            .and_then(|()| state.fs().sync_dir(&own.dir))
            .map_err(io_error("keep", path))?;
    }
    moves::remove_file(places, path).map_err(io_error("remove", path))
}

/// Moves the journal into the transaction's directory, and marks that as kept. Says where.
pub(crate) fn set_journal_aside(
    state: &StateDir,
    own: &TransactionDirectory,
    id: TxId,
) -> Result<String, LedgerError> {
    let moved = || -> io::Result<String> {
        let name = state_dir::journal_name(id);
        match state.fs().rename(state.dir(), &name, &own.dir, SET_ASIDE, RenameMode::Replace) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        state.fs().sync_dir(state.dir())?;
        mark_kept(state, &own.name)
    };
    moved().map_err(io_error("keep", &format!("{SLOTS_PATH}/{}", own.name)))
}

pub(crate) fn mark_kept(state: &StateDir, name: &str) -> io::Result<String> {
    let all = state.require_subdir(StateSubdir::Transactions)?;
    let mut kept = format!("{name}{KEPT}");
    let mut attempt = 1;
    loop {
        match state.fs().rename(&all, name, &all, &kept, RenameMode::NoReplace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                attempt += 1;
                kept = format!("{name}-{attempt}{KEPT}");
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(format!("{SLOTS_PATH}/{kept}")),
        }
    }
}

pub(crate) fn remove_journal(state: &StateDir, id: TxId) -> Result<(), LedgerError> {
    let name = state_dir::journal_name(id);
    let removed = || remove_named(state, state.dir(), &name).and_then(|()| state.fs().sync_dir(state.dir()));
    removed().map_err(io_error("remove", &format!("{}/{name}", state_dir::STATE_DIR_NAME)))
}

fn remove_named(state: &StateDir, dir: &FsDir, name: &str) -> io::Result<()> {
    match state.fs().remove_file(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a transaction's directory with what relay itself puts into one.
fn remove_directory(state: &StateDir, own: &TransactionDirectory) -> io::Result<()> {
    for name in ["journal", "record", "blob", SLOT_LIST, "lock"] {
        remove_named(state, &own.dir, name)?;
    }
    let all = state.require_subdir(StateSubdir::Transactions)?;
    match state.fs().remove_dir(&all, &own.name) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Removes what staging left behind when it failed: nothing of it is in the project yet.
pub(crate) fn clear_staging(
    state: &StateDir,
    places: &PathResolver<'_>,
    own: &TransactionDirectory,
) -> io::Result<()> {
    match state.fs().read(&own.dir, SLOT_LIST, record::RECORD_BYTES as u64) {
        Ok((bytes, _)) => {
            let mut touched = DirtyDirectories::default();
            // Only names that relay gives are removed, whatever the list says.
            for slot in String::from_utf8_lossy(&bytes).lines().filter(|line| is_slot(line, &own.name)) {
                moves::remove_file(places, slot)?;
                for what in ASIDES.iter().chain(&[FRESH]) {
                    moves::remove_file(places, &aside_path(slot, what))?;
                }
                touched.add_entry(slot);
            }
            // They must be gone for good before the list of them is.
            touched.sync(places)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for (name, kind) in state.fs().list(&own.dir)? {
        let asides = ASIDES.iter().chain(&[FRESH]);
        let number = asides.into_iter().find_map(|what| name.strip_suffix(what)?.strip_suffix('-'));
        let number = number.unwrap_or(&name);
        let is_staged = matches!(kind, FsKind::File | FsKind::Link);
        if is_staged && number.bytes().all(|byte| byte.is_ascii_digit()) {
            remove_named(state, &own.dir, &name)?;
        }
    }
    remove_directory(state, own)
}
