//! Changes that somebody else makes: a command runs in the project as it is, and what it changed becomes one record,
//! which can be looked at and reverted like any other.
//!
//! Before the command begins, [`Ledger::begin_recording`] writes down the tree and secures the bytes of its files, out of the
//! project's reach if the user has a directory of their own. Afterwards [`Recording::adopt`] compares and writes the record. Whoever finds a
//! recording whose lock is free finds one whose process died, and adopts what it changed. In between nothing is
//! journaled, because nothing is put back: the record is the one thing that decides, and until it is there the
//! recording is. What a record cannot hold is named, never passed over.

mod adopt;
mod compare;
mod ledger_files;
mod manifest;
mod recovery;
mod root;
mod secure;
mod store;
#[cfg(test)]
mod tests;
mod walk;

pub use adopt::{RecordingEnd, RecordingOutcome};
use compare::{RecordingDifferences, SecuredContent, SecuredEntry, SuspectFile};
use ledger_files::LedgerInventory;
pub use ledger_files::LedgerRestoreOutcome;
use manifest::RecordingManifest;
pub(crate) use recovery::recover_dead_recordings;
pub use relaycode_snapshot::Omission;
pub use secure::SecureReport;
use secure::format_size;
pub(crate) use store::any_recording;
use store::{RecordingDirectory, RecordingStore};
use walk::{RecordingTree, RecordingWalkBounds};

use std::os::fd::OwnedFd;

use crate::{Ledger, TxId};

/// Entries of a project that are looked at.
pub const ENTRIES: usize = relaycode_snapshot::walk::ENTRIES;
/// Bytes of one file that are secured, and kept of it afterwards.
pub const FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that are copied in all. What the file system can share costs nothing and does not count.
pub const COPIED_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes that are copied of what git ignores.
pub const IGNORED_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that a change keeps of files as they are afterwards.
pub const ADOPTED_BYTES: u64 = 512 * 1024 * 1024;

/// The lock that says that a recording is alive.
const LOCK: &str = "lock";
/// Behind the name of a recording that could not be understood.
const KEPT: &str = ".kept";

/// A recording that runs: the tree is secured, and the command may begin. If it is dropped, the next recovery
/// adopts what changed.
pub struct Recording<'l> {
    ledger: &'l Ledger,
    own: RecordingDirectory,
    manifest: RecordingManifest,
    secured: SecureReport,
}

impl Recording<'_> {
    /// The transaction that it is going to be.
    pub fn id(&self) -> TxId {
        self.own.id
    }

    /// What was secured, and what was not.
    pub fn secure_report(&self) -> &SecureReport {
        &self.secured
    }

    /// The path of the directory in which everything is secured, and whether it lies outside of the project.
    pub fn storage_path(&self) -> (String, bool) {
        (self.own.path(), self.own.store().is_outside)
    }

    /// What says that the recording is alive, for a process that ends the command should this one die: until then
    /// nobody may take the recording for dead.
    pub fn liveness_fd(&self) -> Option<OwnedFd> {
        self.own.lock.as_ref()?.descriptor()?.try_clone_to_owned().ok()
    }
}
