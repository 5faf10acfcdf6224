//! Recordings whose process died: what changed since is adopted, by the code of a living one, as an interrupted group.

use std::collections::HashSet;
use std::io;

use relaycode_durable::{RenameMode, if_new};

use crate::disk::StateDir;
use crate::recording::{
    KEPT, RecordingDirectory, RecordingManifest, RecordingOutcome, adopt, manifest, store, walk,
};
use crate::transaction::recover::is_committed;
use crate::transaction::{RecoveredTransaction, RecoveryOutcome, group};
use crate::{IoContext, Ledger, LedgerError, LedgerResult};

/// Deals with every dead recording. Under the project's lock.
pub(crate) fn recover_dead_recordings(
    ledger: &Ledger,
    state: &StateDir,
) -> LedgerResult<Vec<RecoveredTransaction>> {
    let mut recovered = Vec::new();
    for place in store::recording_stores(ledger, Some(state)) {
        for id in place.list(state.fs())? {
            let Some(own) = RecordingDirectory::take_over(state.fs(), place.clone(), id)? else { continue };
            recovered
                .extend(recover_one(ledger, state, own)?.map(|outcome| RecoveredTransaction { id, outcome }));
        }
    }
    Ok(recovered)
}

fn recover_one(
    ledger: &Ledger,
    state: &StateDir,
    own: RecordingDirectory,
) -> LedgerResult<Option<RecoveryOutcome>> {
    let id = own.id;
    if !state.fs().exists(&own.dir, manifest::NAME).context("look at", &own.path())? {
        // Its command never began.
        return own.clear(state).map(|()| None);
    }
    if is_committed(state, id)? {
        return own.clear(state).map(|()| Some(RecoveryOutcome::Committed));
    }
    let manifest = match RecordingManifest::read(ledger, &own.dir, id, &own.path()) {
        Err(LedgerError::Damaged { .. }) | Ok((_, false)) => return set_aside(state, &own).map(Some),
        read => read?.0,
    };
    let later = HashSet::new();
    let bounds = adopt::walk_bounds(ledger, &manifest, &later);
    let tree = walk::walk(&ledger.root, &bounds)?;
    let mut about = manifest.told.clone();
    about
        .notes
        .push("interrupted: relay was ended while it ran, and what differed later was recorded".to_string());
    // Before the record: one that is there without being marked would pass for whole.
    group::mark_interrupted(state, &id.to_string())?;
    let RecordingOutcome { committed, omissions: left, .. } =
        adopt::adopt(ledger, state, own, &manifest, &tree, about)?;
    let files = committed.as_ref().map_or(0, |committed| committed.record.result.len());
    if committed.is_none() {
        group::unmark_interrupted(state, &id.to_string())?;
    }
    Ok(Some(RecoveryOutcome::RecordingAdopted { files, left }))
}

/// Moves a recording that cannot be understood, or that somebody else wrote, out of the way; what it secured stays.
fn set_aside(state: &StateDir, own: &RecordingDirectory) -> LedgerResult<RecoveryOutcome> {
    let fs = state.fs();
    let moved = || -> io::Result<String> {
        let all = own.store().open_all(fs)?;
        let mut suffix = KEPT.to_string();
        let mut attempt = 1;
        let rename = |suffix: &str| {
            let kept = format!("{}{suffix}", own.id);
            if_new(fs.rename(&all, &own.id.to_string(), &all, &kept, RenameMode::NoReplace))
        };
        while rename(&suffix)?.is_none() {
            attempt += 1;
            suffix = format!("-{attempt}{KEPT}");
        }
        Ok(suffix)
    };
    let suffix = moved().context("keep", &own.path())?;
    Ok(RecoveryOutcome::SetAside { kept: format!("{}{suffix}", own.path()) })
}
