//! Recordings whose process died: what changed since is adopted, by the code of a living one, as an interrupted group.

use std::io;

use relaycode_durable::{RenameMode, if_new};
use relaycode_snapshot::TreeDifference;

use crate::disk::StateDir;
use crate::record::Record;
use crate::recording::adopt::ChangedTree;
use crate::recording::{
    KEPT, RecordingDirectory, RecordingManifest, RecordingOutcome, adopt, manifest, store, walk,
};
use crate::transaction::recover::is_committed;
use crate::transaction::{RecoveredTransaction, RecoveryOutcome, group};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId};

/// Deals with every dead recording. Under the project's lock.
pub(crate) fn recover_dead_recordings(
    ledger: &Ledger,
    state: &StateDir,
) -> LedgerResult<Vec<RecoveredTransaction>> {
    let mut recovered = Vec::new();
    for place in store::recording_stores(ledger, Some(state)) {
        for id in place.list(state.fs())? {
            let Some(own) = RecordingDirectory::take_over(state.fs(), place.clone(), id)? else { continue };
            let one = recover_one(ledger, state, &own)?;
            recovered.extend(one.map(|(id, outcome)| RecoveredTransaction { id, outcome }));
        }
        // Where it stays it is empty, and does no harm.
        let _ = place.remove_if_empty(state.fs());
    }
    Ok(recovered)
}

impl Ledger {
    /// Takes up the commands that are recorded and whose relay died before what they made at protected names was set aside:
    /// `set_aside` is given each of their records, and what it does is not asked for again.
    ///
    /// # Errors
    /// The system's.
    pub fn settle_dead_recordings(&self, set_aside: &mut dyn FnMut(&Record)) -> LedgerResult<()> {
        let Some(state) = self.state()? else { return Ok(()) };
        for place in store::recording_stores(self, Some(&state)) {
            for id in place.list(state.fs())? {
                let taken = {
                    let _project = self.lock_project(&state)?;
                    RecordingDirectory::take_over(state.fs(), place.clone(), id)?
                };
                // While it is held nobody else takes it up.
                let Some(own) = taken else { continue };
                let Some(manifest) = own_manifest(self, &own)? else { continue };
                if manifest.sets_aside && is_committed(&state, manifest.told.uuid)? {
                    set_aside(&self.record(manifest.told.uuid)?);
                    let _project = self.lock_project(&state)?;
                    own.clear(&state)?;
                }
            }
        }
        Ok(())
    }
}

/// The manifest of a recording; `None`: there is none that this user's relay wrote and that can be understood.
fn own_manifest(ledger: &Ledger, own: &RecordingDirectory) -> LedgerResult<Option<RecordingManifest>> {
    if !ledger.fs.exists(&own.dir, manifest::NAME).context("look at", &own.path())? {
        return Ok(None);
    }
    match RecordingManifest::read(ledger, &own.dir, own.id, &own.path()) {
        Ok((manifest, is_own)) => Ok(Some(manifest).filter(|_| is_own)),
        Err(LedgerError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What became of a dead recording, and which transaction that is.
type RecoveredRecording = Option<(TxId, RecoveryOutcome)>;

fn recover_one(
    ledger: &Ledger,
    state: &StateDir,
    own: &RecordingDirectory,
) -> LedgerResult<RecoveredRecording> {
    if !state.fs().exists(&own.dir, manifest::NAME).context("look at", &own.path())? {
        // No command runs: it never began, or what it did is recorded.
        return own.clear(state).map(|()| None);
    }
    let read = || {
        let (manifest, is_own) = RecordingManifest::read(ledger, &own.dir, own.id, &own.path())?;
        Ok((manifest.read_tree(ledger, &own.dir, &own.path()), manifest, is_own))
    };
    let (before, manifest) = match read() {
        Err(LedgerError::Damaged { .. }) | Ok((Err(LedgerError::Damaged { .. }), ..) | (Ok(_), _, false)) => {
            return set_aside(state, own).map(|outcome| Some((own.id, outcome)));
        }
        Err(error) | Ok((Err(error), ..)) => return Err(error),
        Ok((Ok(before), manifest, true)) => (before, manifest),
    };
    let id = manifest.told.uuid;
    if is_committed(state, id)? {
        // It waits for `settle_dead_recordings`.
        if manifest.sets_aside {
            return own.clear_scratch(state).map(|()| None);
        }
        return own.clear(state).map(|()| Some((id, RecoveryOutcome::Committed)));
    }
    let tree = walk::walk(&ledger.root, &adopt::walk_bounds(ledger, &before, &before.ignored, false))?;
    let mut about = manifest.told.clone();
    about
        .notes
        .push("interrupted: relay was ended while it ran, and what differed later was recorded".to_string());
    let group = about.group.clone().unwrap_or_else(|| id.to_string());
    // Before the record: one that is there without being marked would pass for whole.
    group::mark_interrupted(state, &group)?;
    let difference = TreeDifference::between(&before.tree, &tree.snapshot);
    let changed = ChangedTree { before: &before, now: &tree, ignored: &before.ignored };
    let RecordingOutcome { committed, omissions: left, .. } =
        adopt::adopt(ledger, state, own, &changed, &difference, about, &manifest)?;
    // The record is what counts from here on: what is left of the recording, the next recovery clears away.
    let cleared =
        if manifest.sets_aside && committed.is_some() { own.clear_scratch(state) } else { own.clear(state) };
    let files = committed.as_ref().map_or(0, |committed| committed.record.result.len());
    if committed.is_none() {
        cleared?;
        // One of several commands is interrupted all the same.
        if group == id.to_string() {
            group::unmark_interrupted(state, &group)?;
        }
    }
    Ok(Some((id, RecoveryOutcome::RecordingAdopted { files, left })))
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
