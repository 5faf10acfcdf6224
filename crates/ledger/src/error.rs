//! What can go wrong, in words that say what happened, where, what state the project is in, and
//! what to do next.

use std::io;

use relaycode_text::plural::pluralize;

use crate::TxId;

/// Why the ledger did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A rule stands against it; nothing was touched.
    #[error("{}", first(.0))]
    Refused(Vec<LedgerRefusal>),
    /// The transaction is in the ledger already; nothing was touched.
    #[error("{} was applied before", .id.short())]
    AlreadyProcessed {
        id: TxId,
        /// The same id was given to another answer.
        other_content: bool,
    },
    /// Somebody saved a file in the very moment of the change: everything was put back, and their
    /// save is in the tree, or in `kept` if the project's commands ran meanwhile.
    #[error("{path} was saved by another program while relay was changing it; everything was put back{}", kept.as_ref().map_or(String::new(), |kept| format!(", and the other version is kept in {kept}")))]
    Conflict { path: String, kept: Option<String> },
    /// The user or the system asked to stop; everything was put back.
    #[error("interrupted; everything was put back")]
    Interrupted,
    /// A put-back left files alone.
    #[error("{} could be put back only in part: {} left alone", .0.id.short(), pluralize(.0.left.len(), "file"))]
    NeedsDecision(Box<UnfinishedPutBack>),
    /// The files of a transaction are half as before and half as after, because something failed
    /// while they were put back. Its journal is there: the next recovery tries again.
    #[error("{} could not be put back yet: {why}", .id.short())]
    PutBackIncomplete {
        id: TxId,
        /// What failed.
        why: Box<LedgerError>,
    },
    /// Another command is being recorded in this project; nothing was touched.
    #[error("`relay record` is already running in this project{}", running(*.pid, .command))]
    RecordingActive {
        /// The process that records; 0 if it is not known yet.
        pid: u32,
        /// What it runs.
        command: String,
    },
    /// The project's own directory is gone.
    #[error("{path} {what}")]
    RootGone {
        /// Where it was.
        path: String,
        /// What is there instead, as the rest of the sentence.
        what: &'static str,
    },
    /// A change is just being applied; nothing was touched.
    #[error("{} is being applied in this project by process {pid}", .id.short())]
    TransactionActive { id: TxId, pid: u32 },
    /// Another relay holds the project's lock for too long.
    #[error("another relay is writing to this project")]
    Busy,
    /// There is no such transaction.
    #[error("no change matches `{name}`")]
    UnknownTransaction {
        /// What was asked for.
        name: String,
    },
    /// Several transactions begin like that.
    #[error("`{name}` matches {} changes", .candidates.len())]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The ones that it could be.
        candidates: Vec<TxId>,
    },
    /// A journal, record or blob is not what it was written as.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file, beneath the root.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A journal or record was written by a newer relay.
    #[error(
        "{path} was written by a newer relay (format {version}, this one knows {known}); nothing was touched"
    )]
    NewerFormat {
        /// The file, beneath the root.
        path: String,
        /// Its format.
        version: u32,
        /// The newest one that this relay reads.
        known: u32,
    },
    /// What a revert needs is gone.
    #[error("{} cannot be reverted: {reason}", .id.short())]
    NotRevertible { id: TxId, reason: String },
    /// What is to be taken back was not written by this user's relay in this checkout, and nobody accepted it yet.
    #[error("{} not written by your relay: {} may have come with the repository", foreign(.0), if .0.len() == 1 { "it" } else { "they" })]
    ForeignRecords(Vec<TxId>),
    /// A journal of the same id is there, and nobody decided about it yet; nothing was touched.
    #[error("{path} has the same id and is still undecided")]
    Undecided { id: TxId, path: String },
    /// A revert would overwrite later edits.
    #[error("{}", conflict_headline(.0))]
    RevertConflict(Vec<FileConflict>),
    /// The system failed. `put_back` says what state the project is in.
    #[error("cannot {action} {path}: {}", cause(source))]
    Io {
        /// What could not be done, as in "cannot *write* src/a.rs".
        action: &'static str,
        /// The file or directory, beneath the root.
        path: String,
        source: io::Error,
        /// Whether anything of the transaction had been applied and was put back.
        put_back: bool,
    },
}

/// In words of its own where the system's mislead: relay follows no link.
fn cause(source: &io::Error) -> String {
    if relaycode_durable::is_link(source) { "it is a symbolic link".to_string() } else { source.to_string() }
}

/// What the ledger gives back.
pub type LedgerResult<T> = Result<T, LedgerError>;

impl LedgerError {
    /// The error that a put-back failed with, saying what that means.
    pub(crate) fn put_back_incomplete(id: TxId, why: LedgerError) -> LedgerError {
        match why {
            LedgerError::NeedsDecision(_) | LedgerError::PutBackIncomplete { .. } => why,
            _ => LedgerError::PutBackIncomplete { id, why: Box::new(why) },
        }
    }
}

/// Says what could not be done when the system failed.
pub(crate) trait IoContext<T> {
    /// The error becomes one about `path`: "cannot write src/a.rs: …".
    fn context(self, action: &'static str, path: &str) -> LedgerResult<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &str) -> LedgerResult<T> {
        self.map_err(io_error(action, path))
    }
}

/// What the system said as an error about `path`.
pub(crate) fn io_error(verb: &'static str, path: &str) -> impl FnOnce(io::Error) -> LedgerError + use<> {
    let path = path.to_string();
    move |source| LedgerError::Io { action: verb, path, source, put_back: false }
}

fn first(refusals: &[LedgerRefusal]) -> String {
    match refusals {
        [] => "refused".to_string(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

fn foreign(ids: &[TxId]) -> String {
    match ids {
        [only] => format!("{} was", only.short()),
        [first, rest @ ..] => format!("{} and {} more were", first.short(), rest.len()),
        [] => "nothing was".to_string(),
    }
}

/// What stands in the way of a revert, as far as it is the same for all files.
fn conflict_headline(conflicts: &[FileConflict]) -> String {
    let by_lines = conflicts.iter().filter(|conflict| conflict.reason.is_none()).count();
    match conflicts {
        [FileConflict { path, reason: Some(reason), .. }] => format!("{path} {reason}"),
        [_] => "1 file has later edits in the same lines".to_string(),
        all if by_lines == all.len() => format!("{by_lines} files have later edits in the same lines"),
        all => format!("{} files changed since, and cannot be merged", all.len()),
    }
}

fn running(pid: u32, command: &str) -> String {
    match pid {
        0 => String::new(),
        pid if command.is_empty() => format!(" (process {pid})"),
        pid => format!(" (process {pid}: {command})"),
    }
}

/// A rule that stands against a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {rule}")]
pub struct LedgerRefusal {
    pub path: String,
    pub rule: LedgerRule,
}

/// The rules that can stand against a change of a file. Each is the rest of a sentence that begins with its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerRule {
    /// It is not what it was when the change was planned.
    #[error("changed since this was planned")]
    Changed,
    /// Something stands where nothing may.
    #[error("exists already")]
    Exists,
    #[error("is gone")]
    Gone,
    /// It is a directory, a link, a device …, or lies beneath one that is no directory.
    #[error("is {0}, not a regular file")]
    NotAFile(&'static str),
    /// It has other names (hard links), which would keep the old content.
    #[error("has {names} hard links, and changing it would break the link")]
    HardLink {
        /// How many names it has.
        names: u64,
    },
    /// Its permission bits forbid writing.
    #[error("is read-only")]
    ReadOnly,
    /// The file system forbids changing it.
    #[error("is marked immutable")]
    Immutable,
    /// It cannot exist beside another name on every file system.
    #[error("and {other} are the same name on some file systems")]
    NameCollision {
        /// The other name.
        other: String,
    },
    /// Another open transaction has it.
    #[error("belongs to {}, which is still open in process {pid}", .by.short())]
    Claimed {
        by: TxId,
        /// Its process.
        pid: u32,
    },
    /// A transaction that could not be put back whole has it, and waits for a person.
    #[error("belongs to {}, which is waiting for you: `relay recover`", .by.short())]
    AwaitsDecision { by: TxId },
    /// It is changed twice.
    #[error("is changed twice")]
    DuplicatePath,
    /// There is not enough room.
    #[error("and the rest need {needed} bytes, and the disk has {free} left")]
    NoSpace {
        /// How many bytes are needed.
        needed: u64,
        /// How many there are.
        free: u64,
    },
}

impl LedgerRule {
    /// A stable name for machines.
    pub fn name(&self) -> &'static str {
        match self {
            LedgerRule::Changed => "changed",
            LedgerRule::Exists => "exists",
            LedgerRule::Gone => "gone",
            LedgerRule::NotAFile(_) => "notAFile",
            LedgerRule::HardLink { .. } => "hardLink",
            LedgerRule::ReadOnly => "readOnly",
            LedgerRule::Immutable => "immutable",
            LedgerRule::NameCollision { .. } => "twin",
            LedgerRule::Claimed { .. } => "claimed",
            LedgerRule::AwaitsDecision { .. } => "waiting",
            LedgerRule::DuplicatePath => "twice",
            LedgerRule::NoSpace { .. } => "noSpace",
        }
    }
}

/// A transaction that could not be put back whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedPutBack {
    pub id: TxId,
    /// Files that were put back, or were as before already.
    pub restored: Vec<String>,
    /// Files that were left alone.
    pub left: Vec<UnrestoredFile>,
}

/// A file that a put-back left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrestoredFile {
    pub path: String,
    /// Why, as the rest of a sentence that begins with its name.
    pub reason: String,
    /// Where other bytes of it are kept, beneath the root.
    pub kept: Option<String>,
}

/// A file that a revert cannot merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileConflict {
    pub path: String,
    /// The regions; none: it cannot be merged by lines at all.
    pub regions: Vec<ConflictRegion>,
    /// Why it cannot be merged by lines, if it cannot: then conflict markers do not help.
    pub reason: Option<String>,
}

/// A region that later edits changed too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictRegion {
    /// Its first line in the file as it is now, from 1.
    pub line: usize,
    /// What stands there now.
    pub now: Vec<String>,
    /// What the revert would put there.
    pub reverted: Vec<String>,
}
