//! What a transaction leaves in relay's own directory, and how that is cleared away: its journal, its
//! slots, the files that it displaced.
//!
//! Nothing that relay did not write is removed here: bytes of others stay, in a directory that is
//! marked as kept.

use std::io;

use relaycode_durable::{FsKind, RenameMode, atomic, if_found, if_new};

use crate::disk::{DirtyDirectories, FileProbe, PathEntry, PathResolver, StateDir, StateSubdir, state_dir};
use crate::record::{self, Record, blobs};
use crate::transaction::{
    FRESH, PutBackOutcome, SLOTS_PATH, TransactionDirectory, TransactionJournal, TransactionStage,
    TransactionStep, aside_path, is_slot,
};
use crate::{IoContext, LedgerResult, TxId};

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

/// What has to be known of a transaction to clear its traces.
pub(crate) struct TransactionCleanup<'a, 'r> {
    pub(crate) state: &'a StateDir,
    pub(crate) paths: &'a PathResolver<'r>,
    pub(crate) own: &'a TransactionDirectory,
}

impl TransactionCleanup<'_, '_> {
    /// After a put-back: clears the traces, or writes down that a person has to look. Says where bytes of
    /// others are kept, if there are any.
    pub(crate) fn finish_put_back(
        &self,
        record: &Record,
        journal: &TransactionJournal,
        back: &PutBackOutcome,
    ) -> LedgerResult<Option<String>> {
        if !back.left_alone.is_empty() {
            if journal.stage != TransactionStage::NeedsYou {
                let waiting = TransactionJournal { stage: TransactionStage::NeedsYou, ..journal.clone() };
                let waiting = Record { transaction: Some(waiting), ..record.clone() };
                self.own.write_journal(self.state, &waiting)?;
            }
            return Ok(None);
        }
        if self.holds_others_bytes(journal)? {
            return self.own.set_journal_aside(self.state, record.uuid).map(Some);
        }
        // The journal first: without it, what is left here is known to be relay's own.
        remove_journal(self.state, record.uuid)?;
        self.clear_staging().context("tidy", &self.own.path())?;
        Ok(None)
    }

    /// Whether a slot holds bytes that relay did not write. Those on other devices come into the
    /// transaction's directory: nothing of relay's stays among the project's files.
    fn holds_others_bytes(&self, journal: &TransactionJournal) -> LedgerResult<bool> {
        let mut any = false;
        let mut ours_elsewhere = Vec::new();
        for (number, step) in journal.steps.iter().enumerate() {
            let (slot, images) = (step.slot(), step.sides().map(|(_, image)| image).collect::<Vec<_>>());
            let names = [""].iter().chain(&ASIDES).map(|what| match *what {
                "" => (slot.to_string(), number.to_string()),
                what => (aside_path(slot, what), aside_path(&number.to_string(), what)),
            });
            for (path, home) in names {
                let found = self.paths.probe(&path, &images).context("read", &path)?;
                let elsewhere = !path.starts_with(SLOTS_PATH);
                if found == FileProbe::Nothing || images.iter().any(|image| found.matches_bytes(image)) {
                    ours_elsewhere.extend(elsewhere.then_some(path));
                    continue;
                }
                any = true;
                if elsewhere {
                    self.move_into_directory(&path, &home)?;
                }
            }
        }
        // Nobody clears a directory that is kept.
        for path in ours_elsewhere.iter().filter(|_| any) {
            self.paths.remove_file(path).context("remove", path)?;
        }
        Ok(any)
    }

    /// After a commit: the journal goes, and the transaction's directory is marked as done. Repeated by
    /// recovery if it is cut short.
    pub(crate) fn settle_commit(&self, id: TxId, journal: &TransactionJournal) -> LedgerResult<()> {
        let mut displaced = false;
        let mut touched = DirtyDirectories::default();
        for (number, step) in journal.steps.iter().enumerate() {
            let (TransactionStep::Replace { slot, before, .. }
            | TransactionStep::Remove { slot, before, .. }) = step
            else {
                continue;
            };
            displaced = true;
            if !slot.starts_with(SLOTS_PATH) {
                // If somebody wrote into it since, those bytes stay.
                if self.paths.holds_bytes_of(slot, before).context("read", slot)? {
                    self.paths.remove_file(slot).context("remove", slot)?;
                } else {
                    self.move_into_directory(slot, &number.to_string())?;
                }
                touched.add_entry(slot);
            } else if self.has_other_names(slot)? {
                // Nothing is lost with it, and as long as it is there the file would have one name more.
                self.paths.remove_file(slot).context("remove", slot)?;
            }
        }
        touched.sync(self.paths).context("write", "the changed directories")?;
        remove_journal(self.state, id)?;
        let settled = || -> io::Result<()> {
            for name in ["journal", "record", "blob", SLOT_LIST] {
                self.state.fs().remove_if_exists(&self.own.dir, name)?;
            }
            if displaced { mark_done(self.state, self.own) } else { remove_directory(self.state, self.own) }
        };
        settled().context("tidy", &self.own.path())
    }

    /// Whether what was displaced is a file that has names elsewhere (hard links).
    fn has_other_names(&self, slot: &str) -> LedgerResult<bool> {
        let entry = self.paths.entry_at(slot).context("look at", slot)?;
        Ok(matches!(entry, PathEntry::File(stat) if stat.links > 1))
    }

    /// Moves a file of somebody's from another device into the transaction's directory.
    fn move_into_directory(&self, path: &str, home: &str) -> LedgerResult<()> {
        if let Some((bytes, _)) = self.paths.read(path, blobs::BLOB_BYTES).context("read", path)? {
            atomic::stage(self.state.fs(), (&self.own.dir, home), &bytes)
                .and_then(|()| self.state.fs().sync_dir(&self.own.dir))
                .context("keep", path)?;
        }
        self.paths.remove_file(path).context("remove", path)
    }

    /// Removes what staging left behind when it failed: nothing of it is in the project yet.
    pub(crate) fn clear_staging(&self) -> io::Result<()> {
        let (fs, own) = (self.state.fs(), self.own);
        if let Some((bytes, _)) = if_found(fs.read(&own.dir, SLOT_LIST, record::RECORD_BYTES as u64))? {
            let mut touched = DirtyDirectories::default();
            // Only names that relay gives are removed, whatever the list says.
            for slot in String::from_utf8_lossy(&bytes).lines().filter(|line| is_slot(line, &own.name)) {
                self.paths.remove_file(slot)?;
                for what in ASIDES.iter().chain(&[FRESH]) {
                    self.paths.remove_file(&aside_path(slot, what))?;
                }
                touched.add_entry(slot);
            }
            // They must be gone for good before the list of them is.
            touched.sync(self.paths)?;
        }
        for (name, kind) in fs.list(&own.dir)? {
            let asides = ASIDES.iter().chain(&[FRESH]);
            let number = asides.into_iter().find_map(|what| name.strip_suffix(what)?.strip_suffix('-'));
            let number = number.unwrap_or(&name);
            let is_staged = matches!(kind, FsKind::File | FsKind::Link);
            if is_staged && number.bytes().all(|byte| byte.is_ascii_digit()) {
                fs.remove_if_exists(&own.dir, &name)?;
            }
        }
        remove_directory(self.state, own)
    }
}

impl TransactionDirectory {
    /// Writes a journal so that it is there or not, never in part.
    pub(crate) fn write_journal(&self, state: &StateDir, journal: &Record) -> LedgerResult<()> {
        let name = state_dir::journal_name(journal.uuid);
        let mut make = |put: &mut atomic::PieceSink<'_>| record::write_to(journal, self.seal.clone(), put);
        atomic::write_pieces(state.fs(), (&self.dir, "journal"), (state.dir(), &name), &mut make)
            .map_err(|error| error.source)
            .context("write", &state_dir::path_of(&name))
    }

    /// Moves the journal into the directory, and marks that as kept. Says where.
    pub(crate) fn set_journal_aside(&self, state: &StateDir, id: TxId) -> LedgerResult<String> {
        let moved = || -> io::Result<String> {
            let name = state_dir::journal_name(id);
            if_found(state.fs().rename(state.dir(), &name, &self.dir, SET_ASIDE, RenameMode::Replace))?;
            state.fs().sync_dir(state.dir())?;
            mark_kept(state, &self.name)
        };
        moved().context("keep", &self.path())
    }
}

/// Marks a transaction's directory as done. If that was done before, and only the journal came back
/// after a power cut, then this directory is a new one without displaced files.
pub(crate) fn mark_done(state: &StateDir, own: &TransactionDirectory) -> io::Result<()> {
    let all = state.require_subdir(StateSubdir::Transactions)?;
    let done = format!("{}{DONE}", own.name);
    match if_new(state.fs().rename(&all, &own.name, &all, &done, RenameMode::NoReplace))? {
        Some(()) => Ok(()),
        None => remove_directory(state, own),
    }
}

pub(crate) fn mark_kept(state: &StateDir, name: &str) -> io::Result<String> {
    let all = state.require_subdir(StateSubdir::Transactions)?;
    let mut kept = format!("{name}{KEPT}");
    let mut attempt = 1;
    while if_new(state.fs().rename(&all, name, &all, &kept, RenameMode::NoReplace))?.is_none() {
        attempt += 1;
        kept = format!("{name}-{attempt}{KEPT}");
    }
    Ok(format!("{SLOTS_PATH}/{kept}"))
}

fn remove_journal(state: &StateDir, id: TxId) -> LedgerResult<()> {
    let name = state_dir::journal_name(id);
    let removed = state.fs().remove_if_exists(state.dir(), &name);
    removed.and_then(|()| state.fs().sync_dir(state.dir())).context("remove", &state_dir::path_of(&name))
}

/// Removes a transaction's directory with what relay itself puts into one.
fn remove_directory(state: &StateDir, own: &TransactionDirectory) -> io::Result<()> {
    for name in ["journal", "record", "blob", SLOT_LIST, "lock"] {
        state.fs().remove_if_exists(&own.dir, name)?;
    }
    let all = state.require_subdir(StateSubdir::Transactions)?;
    match state.fs().remove_dir(&all, &own.name) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}
