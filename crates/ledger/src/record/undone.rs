//! Records that a revert took back lie in `undone/`, and come back from there when that revert is
//! itself taken back. This is for people who look into the directory: what is undone is told by the
//! records' `revertOf` alone.
//!
//! Doing it twice is doing it once, so that what a crash left half done is done by the next command.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;

use relaycode_durable::Rename;

use super::Record;
use super::shelf::{Loaded, Place, Shelf, failed};
use crate::error::LedgerError;
use crate::id::TxId;
use crate::ledger::Ledger;
use crate::state::{self, State, Sub};

/// Reverts of reverts that are followed.
const DEPTH: usize = 1_000;

impl Ledger {
    /// After `record` was committed: what it takes back moves to `undone/`; what that had taken back
    /// comes out again, and so on.
    pub(crate) fn move_undone(&self, record: &Record) -> Result<(), LedgerError> {
        if record.revert_of.is_empty() {
            return Ok(());
        }
        let shelf = Shelf::open(self)?;
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
                move_one(state, id, undone)?;
                let place = if undone { Place::Undone(id) } else { Place::Own(id) };
                // One that cannot be read took nothing back that anybody could tell.
                if let Ok(Some(Loaded::Record { record, .. })) = shelf.load(&place) {
                    further.extend(record.revert_of);
                }
            }
            next = further;
            undone = !undone;
        }
        Ok(())
    }

    /// Does what a crash may have left undone after the newest commit.
    pub(crate) fn catch_up_undone(&self) -> Result<(), LedgerError> {
        let newest = self.with_index(|index| {
            let mut newest = None;
            index.newest_first(&mut |line| {
                newest = line.uuid.filter(|_| line.damage.is_none() && !line.revert_of.is_empty());
                ControlFlow::Break(())
            })?;
            Ok(newest)
        })?;
        match newest {
            Some(id) => self.move_undone(&self.record(id)?),
            None => Ok(()),
        }
    }
}

/// Moves a record into `undone/` or out of it, unless it is where it belongs.
fn move_one(state: &State, id: TxId, undone: bool) -> Result<(), LedgerError> {
    let name = state::record_name(id);
    let aside = match state.sub(Sub::Undone).map_err(failed("cannot open", ".relaycode/undone"))? {
        Some(aside) => aside,
        None => return Ok(()),
    };
    let (from, to) = if undone { (state.dir(), &aside) } else { (&aside, state.dir()) };
    let cannot = || failed("cannot move", &format!("{}/{name}", state::NAME));
    match state.fs().rename(from, &name, to, &name, Rename::NoReplace) {
        Ok(()) => {}
        // It is there already, or lies in `.relay/`, where we move nothing.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            return Ok(());
        }
        Err(error) => return Err(cannot()(error)),
    }
    // The new name first: a record must not be without any.
    state.fs().sync_dir(to).map_err(cannot())?;
    state.fs().sync_dir(from).map_err(cannot())
}
