//! What a transaction leaves behind: readable YAML, the fields of the specification first and ours
//! after them.
//!
//! The same type is the journal while a transaction is open (`{uuid}.pending.yml`, with
//! [`Record::transaction`]) and the record once it is committed (`{uuid}.yml`, without). Both end
//! with a checksum over everything before it.

pub(crate) mod file;
pub(crate) mod original;
pub(crate) mod settle;
pub(crate) mod special_modes;
pub(crate) mod store;
pub mod title;
mod yaml;

pub(crate) use file::write_to;
pub use file::{RECORD_BYTES, read, write};
pub(crate) use store::{LoadedRecord, PIECE, RecordLocation, RecordNames, RecordStore};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::TxId;
use crate::disk::Digest;
use crate::transaction::TransactionJournal;

pub mod blobs;
pub mod collect;
pub mod home_copy;
pub mod shown_texts;
#[cfg(test)]
pub(crate) mod tests;

/// The version of the format that this relay writes. A higher one is refused untouched.
pub const FORMAT: u32 = 1;

/// Texts of at most this many bytes stand in the record itself; longer ones are blobs.
pub const INLINE_BYTES: usize = 64 * 1024;

/// Bytes of text that stand in one record; more go to blobs, so that it stays one that can be read.
pub const INLINE_TOTAL: usize = 16 * 1024 * 1024;

/// Files of one change. What a record of so many can hold is what is read of one.
pub const FILES: usize = 200_000;

/// A record, or a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub uuid: TxId,
    /// The project that the author meant, without its key.
    pub project_id: String,
    /// When it began, ISO 8601 in UTC.
    pub created_at: String,
    /// The author's message for a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit_msg: Option<String>,
    /// What the author says was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_summary: Option<String>,
    /// What the author wrote around the change.
    #[serde(default)]
    pub reasoning: Vec<String>,
    /// What the author wanted done.
    #[serde(default)]
    pub operations: Vec<RecordedOperation>,
    /// Every file's content before the transaction, by its path then; `None`: there was none.
    #[serde(default)]
    pub snapshot: BTreeMap<String, Option<RecordContent>>,
    /// It was accepted.
    pub approved: bool,
    /// The version of the format; records of the original tool have none.
    pub version: u32,
    /// Its place among all transactions of this ledger, which the clock has no say in.
    pub number: u64,
    /// Where it came from: `file`, `stdin`, `clipboard`, `agent`, `undo` …
    pub origin: String,
    /// The group it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The digest of the text it was read from, to know the same answer again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Digest>,
    /// What became of every file.
    #[serde(default)]
    pub result: Vec<FileRecord>,
    /// Directories that it made, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_directories: Vec<String>,
    /// Directories that it removed because nothing was left in them, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_directories: Vec<RemovedDirectory>,
    /// Directories that have other permission bits; `.` is the project itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directory_modes: Vec<DirectoryModeChange>,
    /// What else changed and is not kept, so that a revert does not bring it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omissions: Vec<RecordOmission>,
    /// How the edits matched, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// What the project's commands said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// Which rule or who accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The transactions that it takes back, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revert_of: Vec<TxId>,
    /// Names of the only files that it takes back of them; none: it takes them back whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revert_paths: Vec<String>,
    /// What it is called, where its author says nothing: of an undo, what it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What could not be kept as it was, and other remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The digest of what was shown, approved and applied ([`digest_changes`](crate::disk::digest::digest_changes)).
    /// It stays what was approved also if the project's commands changed files afterwards; what is
    /// on disk then is in `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Digest>,
    /// Which rules decided, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Only while it is open: what is being done, for whoever has to put it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<TransactionJournal>,
}

impl Record {
    /// Whether a record of the original tool leaves open what became of a file: it says what was
    /// before, and not always enough to work out what came of it.
    pub fn is_result_unknown(&self, file: &FileRecord) -> bool {
        let deletes = |operation: &RecordedOperation| matches!(operation, RecordedOperation::Delete { path } if *path == file.path);
        self.version == 0 && file.after.is_none() && !self.operations.iter().any(deletes)
    }
}

/// An operation, in the form of the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RecordedOperation {
    /// Create or change a file.
    Write {
        path: String,
        /// The block of the answer, or the whole new text.
        content: String,
        /// The dialect's name.
        #[serde(default)]
        patch_strategy: String,
    },
    /// Remove a file.
    Delete { path: String },
    /// Move a file.
    Rename {
        /// Its name before.
        from: String,
        /// Its name after.
        to: String,
    },
}

/// Some bytes, in the record or beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecordContent {
    /// They stand here.
    Text(String),
    /// They are a file in `blobs/`.
    Blob {
        /// Its name: the digest of the bytes.
        blob: Digest,
        /// How many there are.
        size: u64,
    },
}

/// What became of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRecord {
    /// Its name after (for a deletion, before).
    pub path: String,
    /// Its name before, if it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// What stood there; its content is in the record's `snapshot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileImage>,
    /// What stands there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileImage>,
    /// Lines that came in.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// The bytes that stand there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<RecordContent>,
    /// How many other names (hard links) it had before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_names: u64,
    /// Its name is now one of several of a file, and was not one of that file before: taken back, it is a file of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_linked: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl FileRecord {
    /// Its name before.
    pub fn old_path(&self) -> &str {
        self.renamed_from.as_deref().unwrap_or(&self.path)
    }
}

/// The mode of a symbolic link, as git writes it: of a link the target takes the place of the bytes, and it has no
/// permission bits of its own. A relay that knows no links takes a record that has one for damaged, and leaves it alone.
pub const LINK_MODE: u32 = 0o120_000;

/// A file or symbolic link as it was, or is to be, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileImage {
    /// The digest of its bytes.
    pub hash: Digest,
    /// How many there are.
    pub size: u64,
    /// Its permission bits, or [`LINK_MODE`].
    #[serde(with = "octal")]
    pub mode: u32,
}

impl FileImage {
    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode == LINK_MODE
    }

    /// Whether the two are of one kind and have the same bytes.
    pub fn has_bytes_of(&self, other: &FileImage) -> bool {
        self.hash == other.hash && self.is_link() == other.is_link()
    }

    /// The image of `bytes` with these permission bits.
    pub fn of(bytes: &[u8], mode: u32) -> FileImage {
        FileImage { hash: Digest::of(bytes), size: bytes.len() as u64, mode }
    }
}

/// A directory that is gone, and what its permission bits were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedDirectory {
    pub path: String,
    /// Its permission bits.
    #[serde(with = "octal")]
    pub mode: u32,
}

/// A directory that has other permission bits than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryModeChange {
    /// Its path; `.` is the project itself.
    pub path: String,
    /// Its permission bits before.
    #[serde(with = "octal")]
    pub before: u32,
    /// Its permission bits after.
    #[serde(with = "octal")]
    pub after: u32,
}

/// Something that changed and that a record does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOmission {
    /// What; a directory ends with a slash.
    pub path: String,
    /// Why, as the rest of a sentence that begins with the path.
    pub reason: String,
}

impl RecordOmission {
    /// The end of the reason of what a build makes again.
    pub(crate) const BUILD_OUTPUT: &str = "is build output";

    /// Whether it is only what a build makes again, so that an undo without it is whole.
    pub fn is_build_output(&self) -> bool {
        self.reason.ends_with(Self::BUILD_OUTPUT)
    }
}

/// Permission bits as people write them: `'0644'`.
mod octal {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    pub(super) fn serialize<S: Serializer>(mode: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{mode:04o}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let text = String::deserialize(deserializer)?;
        u32::from_str_radix(&text, 8)
            .ok()
            .filter(|mode| *mode <= 0o7777 || *mode == super::LINK_MODE)
            .ok_or_else(|| de::Error::custom(format!("`{text}` are no permission bits")))
    }
}
