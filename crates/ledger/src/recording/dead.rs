//! Recordings whose process died: what changed since is adopted, by the code of a living one, as an interrupted group.

use std::collections::HashSet;
use std::io;

use relaycode_durable::Rename;

use super::adopt::{self, Adopted};
use super::manifest::{self, Manifest};
use super::place::{self, Own};
use super::{KEPT, walk};
use crate::error::{LedgerError, cannot};
use crate::group;
use crate::ledger::Ledger;
use crate::recover::{Outcome, Recovered, committed};
use crate::state::State;

/// Deals with every dead recording. Under the project's lock.
pub(crate) fn bury(ledger: &Ledger, state: &State) -> Result<Vec<Recovered>, LedgerError> {
    let mut recovered = Vec::new();
    for place in place::places(ledger, Some(state)) {
        for id in place.list(state.fs())? {
            let Some(own) = Own::take(state.fs(), place.clone(), id)? else { continue };
            recovered.extend(one(ledger, state, own)?.map(|outcome| Recovered { id, outcome }));
        }
    }
    Ok(recovered)
}

fn one(ledger: &Ledger, state: &State, own: Own) -> Result<Option<Outcome>, LedgerError> {
    let id = own.id;
    match state.fs().stat(&own.dir, manifest::NAME) {
        // Its command never began.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return own.clear(state).map(|()| None),
        found => found.map(drop).map_err(cannot("look at", &own.path()))?,
    }
    if committed(state, id)? {
        return own.clear(state).map(|()| Some(Outcome::Committed));
    }
    let manifest = match Manifest::read(state.fs(), &own.dir, id, &own.path()) {
        Err(LedgerError::Damaged { .. }) => return set_aside(state, &own).map(Some),
        read => read?,
    };
    let later = HashSet::new();
    let bounds = adopt::bounds(ledger, &manifest, &later);
    let tree = walk::walk(&ledger.root, &bounds)?;
    let mut about = manifest.told.about();
    about
        .notes
        .push("interrupted: relay was ended while it ran, and what differed later was recorded".to_string());
    // Before the record: one that is there without being marked would pass for whole.
    group::mark_interrupted(state, &id.to_string())?;
    let Adopted { committed, left, .. } = adopt::adopt(ledger, state, own, &manifest, &tree, about)?;
    let files = committed.as_ref().map_or(0, |committed| committed.record.result.len());
    if committed.is_none() {
        group::unmark(state, &id.to_string())?;
    }
    Ok(Some(Outcome::Recorded { files, left }))
}

/// Moves a recording that cannot be understood out of the way; what it secured stays.
fn set_aside(state: &State, own: &Own) -> Result<Outcome, LedgerError> {
    let kept = format!("{}{KEPT}", own.id);
    let moved = || -> io::Result<()> {
        let all = own.place().all(state.fs())?;
        state.fs().rename(&all, &own.id.to_string(), &all, &kept, Rename::NoReplace)
    };
    moved().map_err(cannot("keep", &own.path()))?;
    Ok(Outcome::Kept { kept: format!("{}{KEPT}", own.path()) })
}
