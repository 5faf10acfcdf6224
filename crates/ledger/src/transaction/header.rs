//! What is known of a change beside its files: who, why, from where. It goes into the record as it
//! is; the ledger does not act on it, except for the id and what a revert takes back.

use serde::{Deserialize, Serialize};

use crate::TxId;
use crate::disk::Digest;
use crate::record::{DirectoryModeChange, RecordedOperation, RemovedDirectory};

/// What is known of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionHeader {
    /// The transaction's id.
    pub uuid: TxId,
    /// The project that the author meant, without its key.
    pub project_id: String,
    /// The time now, ISO 8601 in UTC.
    pub created_at: String,
    /// The author's message for a commit.
    pub git_commit_msg: Option<String>,
    /// What the author says was asked for.
    pub prompt_summary: Option<String>,
    /// What the author wrote around the change.
    pub reasoning: Vec<String>,
    /// What the author wanted done.
    pub operations: Vec<RecordedOperation>,
    /// Where it came from: `file`, `stdin`, `clipboard`, `agent`, `undo` …
    pub origin: String,
    /// Which rule or who let it begin; `None`: whoever ends it says so.
    pub decided_by: Option<String>,
    /// The group it belongs to.
    pub group: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The digest of the text it was read from.
    pub answer: Option<Digest>,
    /// The digest of what was shown and approved ([`digest_changes`](crate::disk::digest::digest_changes)).
    pub plan: Option<Digest>,
    /// How the edits matched, one line each.
    pub matches: Vec<String>,
    /// The transactions that it takes back, newest first.
    pub revert_of: Vec<TxId>,
    /// Names of the only files that it takes back of them; none: it takes them back whole.
    pub revert_paths: Vec<String>,
    /// What it is called, where its author says nothing.
    pub title: Option<String>,
    /// Directories that go if nothing is left in them (the reverse of having made them).
    pub directories_to_remove: Vec<String>,
    /// Directories that are made with these permission bits, should they have to be made.
    pub directory_modes: Vec<RemovedDirectory>,
    /// Files that may be changed although their permission bits forbid writing: what is taken back made them so.
    pub read_only: Vec<String>,
    /// Files that may be changed although they have other names (hard links): what is taken back made them so.
    pub linked: Vec<String>,
    /// Names that are symbolic links now, and whose targets are the bytes that must stand there.
    pub links: Vec<String>,
    /// Files that may get setuid, setgid and sticky bits: they were seen with them on this machine.
    pub special_modes: Vec<String>,
    /// Directories that are made with these permission bits, unless they are there.
    pub directories_to_make: Vec<RemovedDirectory>,
    /// Directories that get other permission bits.
    pub directory_mode_changes: Vec<DirectoryModeChange>,
    /// Remarks for the record.
    pub notes: Vec<String>,
}

impl TransactionHeader {
    /// A change of which nothing more is known.
    pub fn new(uuid: TxId, project_id: &str, created_at: &str, origin: &str) -> TransactionHeader {
        TransactionHeader {
            uuid,
            project_id: project_id.to_string(),
            created_at: created_at.to_string(),
            origin: origin.to_string(),
            ..TransactionHeader::default()
        }
    }
}
