//! Changes that somebody else makes: commands run in the project as it is, and what each changed becomes one record,
//! which can be looked at and reverted like any other.
//!
//! Before a command begins, [`Recording::begin`] writes down the tree and secures the bytes of its files, out of the
//! project's reach if the user has a directory of their own. Afterwards [`Recording::finish`] compares and writes the record. The
//! next command of the same recording has only to secure what changed. Whoever finds a recording whose lock is free finds one whose
//! process died, and adopts what its command changed. In between nothing is
//! journaled, because nothing is put back: the record is the one thing that decides, and until it is there the
//! recording is. What a record cannot hold is named, never passed over.

mod adopt;
mod compare;
mod ledger_files;
mod manifest;
mod recovery;
mod root;
mod secure;
mod session;
mod store;
#[cfg(test)]
mod tests;
mod walk;

pub use adopt::{MovedFile, RecordingEnd, RecordingOutcome};
use compare::{ProtectedMisfit, RecordingDifferences, SecuredContent, SecuredEntry, SuspectFile};
use ledger_files::LedgerInventory;
pub use ledger_files::LedgerRestoreOutcome;
use manifest::{RecordingManifest, SecuredTree};
pub(crate) use recovery::recover_dead_recordings;
pub use relaycode_snapshot::Omission;
use secure::format_size;
pub use secure::{SecureProgress, SecureReport};
pub use session::{CommandScope, Recording};
use store::RecordingDirectory;
pub(crate) use store::any_recording;
use walk::{RecordingTree, RecordingWalkBounds};

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
/// It is there from before a command is secured for until what it did is recorded.
const RUNNING: &str = "running";
/// Behind the name of a recording that could not be understood.
const KEPT: &str = ".kept";
