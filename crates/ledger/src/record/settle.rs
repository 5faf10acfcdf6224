//! What follows a commit: the line in the index, the records that a revert took back, the copy.
//!
//! Records that a revert took back lie in `undone/`, and come back from there when that revert is
//! itself taken back. This is for people who look into the directory: what is undone is told by the
//! records' `revertOf` alone.
//!
//! All of it can be done again at any time and is done once by that, so that what a crash left half
//! done is done by the next command.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

use relaycode_durable::RenameMode;

use crate::disk::{StateDir, StateSubdir, state_dir};
use crate::record::{Record, RecordLocation, RecordStore};
use crate::{IoContext, Ledger, LedgerResult, TxId, io_error};

/// Reverts of reverts that are followed.
const DEPTH: usize = 1_000;

impl Ledger {
    /// Does what follows the commit of `record`. Whoever calls this holds the project's lock. An
    /// error here takes nothing back: [`Ledger::catch_up`] tries again.
    ///
    /// # Errors
    /// The first of the system's; the rest is done all the same.
    pub fn settle(&self, record: &Record) -> LedgerResult<()> {
        let noted = self.append_to_index(record);
        let moved = self.move_undone(record);
        let copied = self.catch_up_copy().map(drop);
        noted.and(moved).and(copied)
    }

    /// Does what a crash may have left to do after the newest commit. Costs little if that is
    /// nothing.
    ///
    /// # Errors
    /// The first of the system's; the rest is done all the same.
    pub fn catch_up(&self) -> LedgerResult<()> {
        let moved = self.catch_up_undone();
        let copied = self.catch_up_copy().map(drop);
        moved.and(copied)
    }

    /// After `record` was committed: what it takes back moves to `undone/`; what that had taken back
    /// comes out again, and so on.
    fn move_undone(&self, record: &Record) -> LedgerResult<()> {
        if !takes_back_whole(record) {
            return Ok(());
        }
        let shelf = RecordStore::open(self)?;
        let Some(state) = shelf.state() else { return Ok(()) };
        let mut seen: HashSet<TxId> = HashSet::from([record.uuid]);
        let mut next: Vec<TxId> = record.revert_of.clone();
        let mut undone = true;
        for _ in 0..DEPTH {
            next.retain(|id| seen.insert(*id));
            if next.is_empty() {
                break;
            }
            let mut further = Vec::new();
            for id in next {
                move_record(state, id, undone)?;
                let place = if undone { RecordLocation::Undone(id) } else { RecordLocation::Own(id) };
                // One that cannot be read took nothing back that anybody could tell.
                if let Ok(Some(record)) = shelf.find(&place)
                    && takes_back_whole(&record)
                {
                    further.extend(record.revert_of);
                }
            }
            next = further;
            undone = !undone;
        }
        Ok(())
    }

    /// Moves what the newest commit took back, if a crash came before that.
    fn catch_up_undone(&self) -> LedgerResult<()> {
        let newest = self.with_index(|index| {
            let mut newest = None;
            index.for_each_newest_first(&mut |line| {
                newest = line.uuid.filter(|_| !line.unsealed && !line.revert_of.is_empty());
                ControlFlow::Break(())
            })?;
            Ok(newest)
        })?;
        newest.map_or(Ok(()), |id| self.move_undone(&self.record(id)?))
    }
}

/// Whether a record takes others back, and not only files of them.
fn takes_back_whole(record: &Record) -> bool {
    !record.revert_of.is_empty() && record.revert_paths.is_empty()
}

/// Moves a record into `undone/` or out of it, unless it is where it belongs.
pub(crate) fn move_record(state: &StateDir, id: TxId, undone: bool) -> LedgerResult<()> {
    let name = state_dir::record_name(id);
    let aside = state.open_subdir(StateSubdir::Undone).context("open", ".relaycode/undone")?;
    let Some(aside) = aside else { return Ok(()) };
    let (from, to) = if undone { (state.dir(), &aside) } else { (&aside, state.dir()) };
    let failed = || io_error("move", &state_dir::path_of(&name));
    match state.fs().rename(from, &name, to, &name, RenameMode::NoReplace) {
        Ok(()) => {}
        // It is there already, or lies in `.relay/`, where we move nothing.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            return Ok(());
        }
        Err(error) => return Err(failed()(error)),
    }
    // The new name first: a record must not be without any.
    state.fs().sync_dir(to).map_err(failed())?;
    state.fs().sync_dir(from).map_err(failed())
}
