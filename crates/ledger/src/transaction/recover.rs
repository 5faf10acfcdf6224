//! What a crash leaves is put back by the next command that writes, or by hand.
//!
//! Only dead transactions are touched: those whose own lock is free. A journal whose record exists is
//! committed, whatever else there is; any other is put back, by the same code as in a living
//! transaction, as often as it takes. A journal that cannot be understood stops everything: what it
//! speaks of is in the project, and guessing would be worse.
//!
//! A journal that this user's relay did not seal in this checkout, for the transaction with this very directory, may have
//! come with the repository. It claims no file and nothing is done at its word, until a person who saw it says so.

use std::collections::HashSet;
use std::io;

use relaycode_durable::{DirMode, FsKind, if_found, is_link, is_not_regular, is_too_long, pick_entries};

use crate::disk::{Digest, STATE_DIR_NAME, StateDir, StateSubdir, state_dir};
use crate::record::{self, Record, RecordContent, blobs};
use crate::recording::{self, Omission};
use crate::seal::SealHasher;
use crate::transaction::{
    ForeignFilePolicy, PutBackOutcome, SLOTS_PATH, TransactionCleanup, TransactionDirectory,
    TransactionJournal, TransactionStage, TransactionStep, cleanup, is_directory_of, putback,
};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId, UnfinishedPutBack, io_error};

/// How to treat what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryMode {
    /// Put back what can be put back; leave alone, and name, what others changed.
    Automatic,
    /// Stay with the files as they are. The journal and everything displaced is kept.
    Keep,
    /// Put everything back as it was. Bytes of others are kept in `.relaycode/tx`.
    Restore,
}

/// A transaction that was found open and dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredTransaction {
    pub id: TxId,
    /// What became of it.
    pub outcome: RecoveryOutcome,
}

/// What became of a dead transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveryOutcome {
    /// It had been committed; only its traces were left.
    Committed,
    /// Everything is as before.
    PutBack {
        /// The files.
        restored: Vec<String>,
        /// Where bytes of others are kept, beneath the root.
        kept: Option<String>,
    },
    /// Files were left alone.
    NeedsDecision(UnfinishedPutBack),
    /// The files stay as they are, and the journal is set aside.
    Kept {
        /// Where it is kept, beneath the root.
        kept: String,
    },
    /// The original tool left it; it is not touched.
    Original,
    /// Somebody else wrote it; it is not touched.
    Foreign(ForeignJournal),
    /// Somebody else wrote it, or the original tool, or it is a recording that cannot be understood; it is set aside.
    SetAside {
        /// Where it is kept.
        kept: String,
    },
    /// It is a recording whose process died: what had changed is in the ledger now.
    RecordingAdopted {
        /// How many files that is; 0: nothing had changed, and nothing is recorded.
        files: usize,
        /// What changed and cannot be undone.
        left: Vec<Omission>,
    },
}

/// Who wrote a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalAuthor {
    /// This user's relay, in this checkout.
    Own,
    /// The original tool.
    Original,
    /// Nobody that could be told.
    Foreign,
}

/// A journal that this user's relay did not write in this checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignJournal {
    /// The digest of its file: what a person says yes to.
    pub digest: Digest,
    /// The files that it speaks of.
    pub files: Vec<String>,
}

/// A transaction that is open: alive in another process, or waiting for a person.
pub(crate) struct UnfinishedTransaction {
    pub(crate) id: TxId,
    pub(crate) pid: Option<u32>,
    pub(crate) paths: Vec<String>,
    /// Directories that it makes.
    pub(crate) made_directories: Vec<String>,
}

impl Ledger {
    /// Deals with every dead transaction.
    ///
    /// # Errors
    /// `Newer` and `Damaged` for a journal that cannot be understood: nothing is touched then.
    pub fn recover(&self, how: RecoveryMode) -> LedgerResult<Vec<RecoveredTransaction>> {
        self.recover_accepting(how, None)
    }

    /// The same, and a person who saw it wants the foreign journal with this digest to be followed like one of their own.
    ///
    /// # Errors
    /// As [`Ledger::recover`].
    pub fn recover_accepting(
        &self,
        how: RecoveryMode,
        accepted: Option<Digest>,
    ) -> LedgerResult<Vec<RecoveredTransaction>> {
        let state = self.state()?;
        let nothing = match &state {
            Some(state) if how == RecoveryMode::Automatic && self.is_known_idle(state) => true,
            Some(state) => {
                list_journals(state)?.is_empty() && list_orphans(state, &HashSet::new())?.is_empty()
            }
            None => true,
        };
        // A recording is there also if its command removed everything in the project.
        if nothing && !recording::any_recording(self, state.as_ref())? {
            return Ok(Vec::new());
        }
        let state = self.make_state()?;
        let _project = self.lock_project(&state)?;
        let recovered = recover_all(self, &state, how, accepted)?.0;
        // What a crash kept from following the newest commit; the next command tries again.
        let _ = self.catch_up();
        Ok(recovered)
    }

    /// Sets aside the foreign journal of a transaction, if its file still has this digest. Nothing is done at its word, and
    /// nothing is thrown away.
    ///
    /// # Errors
    /// The system's.
    pub fn set_journal_aside(&self, id: TxId, digest: Digest) -> LedgerResult<Vec<RecoveredTransaction>> {
        let state = self.make_state()?;
        let _project = self.lock_project(&state)?;
        match inspect_journal(self, &state, id, (RecoveryMode::Automatic, None))? {
            JournalStatus::Foreign(journal) if journal.digest == digest => {}
            _ => return Ok(Vec::new()),
        }
        let JournalStatus::Unwanted(own) = inspect_journal(self, &state, id, (RecoveryMode::Keep, None))?
        else {
            return Ok(Vec::new());
        };
        let outcome = RecoveryOutcome::SetAside { kept: own.set_journal_aside(&state, id)? };
        Ok(vec![RecoveredTransaction { id, outcome }])
    }

    /// The transactions that are open, or stopped in the middle, and who left them so. Nothing is touched.
    pub fn list_unfinished(&self) -> LedgerResult<Vec<(TxId, JournalAuthor)>> {
        let Some(state) = self.state()? else { return Ok(Vec::new()) };
        let mut unfinished = Vec::new();
        for id in list_journals(&state)? {
            unfinished.push((id, journal_author(self, &state, id)?));
        }
        unfinished.sort_unstable_by_key(|(id, _)| *id);
        Ok(unfinished)
    }
}

/// Deals with dead transactions before a new one begins, and says which are still open, and whether no journal at all is left.
pub(crate) fn recover_dead(
    ledger: &Ledger,
    state: &StateDir,
) -> LedgerResult<(Vec<UnfinishedTransaction>, bool)> {
    let (recovered, open) = recover_all(ledger, state, RecoveryMode::Automatic, None)?;
    let stays = |one: &RecoveredTransaction| {
        matches!(one.outcome, RecoveryOutcome::Original | RecoveryOutcome::Foreign(_))
    };
    let is_idle = open.is_empty() && !recovered.iter().any(stays);
    Ok((open, is_idle))
}

fn recover_all(
    ledger: &Ledger,
    state: &StateDir,
    how: RecoveryMode,
    accepted: Option<Digest>,
) -> LedgerResult<(Vec<RecoveredTransaction>, Vec<UnfinishedTransaction>)> {
    let mut recovered = Vec::new();
    let mut open = Vec::new();
    let mut in_use = HashSet::new();
    let mut journals = list_journals(state)?;
    journals.sort_unstable();
    // All are read before the first is touched: one from a newer relay refuses everything.
    let read: Vec<(TxId, JournalStatus)> = journals
        .into_iter()
        .map(|id| Ok((id, inspect_journal(ledger, state, id, (how, accepted))?)))
        .collect::<LedgerResult<_>>()?;
    for (id, found) in read {
        match found {
            JournalStatus::Original => {
                recovered.push(RecoveredTransaction { id, outcome: RecoveryOutcome::Original });
            }
            JournalStatus::Damaged(own) => {
                let kept = own.set_journal_aside(state, id)?;
                // Which of them was the one is not known any more.
                for name in directories_of(state, id)? {
                    if take_over(ledger, state, &name)?.is_some() {
                        cleanup::mark_kept(state, &name).context("keep", &format!("{SLOTS_PATH}/{name}"))?;
                    }
                }
                recovered.push(RecoveredTransaction { id, outcome: RecoveryOutcome::Kept { kept } });
            }
            JournalStatus::Unwanted(own) => {
                let kept = own.set_journal_aside(state, id)?;
                in_use.extend(directories_of(state, id)?);
                recovered.push(RecoveredTransaction { id, outcome: RecoveryOutcome::SetAside { kept } });
            }
            JournalStatus::Foreign(journal) => {
                in_use.extend(directories_of(state, id)?);
                recovered.push(RecoveredTransaction { id, outcome: RecoveryOutcome::Foreign(journal) });
            }
            JournalStatus::Alive { record, transaction } => {
                in_use.insert(transaction.directory.clone());
                open.push(to_unfinished(&record, &transaction, true));
            }
            JournalStatus::Dead { record, transaction, own } => {
                in_use.insert(transaction.directory.clone());
                let outcome = end_dead(ledger, state, &record, &transaction, &own, how)?;
                if let RecoveryOutcome::NeedsDecision(_) = outcome {
                    open.push(to_unfinished(&record, &transaction, false));
                }
                recovered.push(RecoveredTransaction { id, outcome });
            }
        }
    }
    for orphan in list_orphans(state, &in_use)? {
        remove_orphan(ledger, state, &orphan)?;
    }
    recovered.extend(recording::recover_dead_recordings(ledger, state)?);
    Ok((recovered, open))
}

fn to_unfinished(record: &Record, transaction: &TransactionJournal, alive: bool) -> UnfinishedTransaction {
    let sides = transaction.steps.iter().flat_map(TransactionStep::sides);
    UnfinishedTransaction {
        id: record.uuid,
        pid: alive.then_some(transaction.pid),
        paths: sides.map(|(path, _)| path.to_string()).collect(),
        made_directories: transaction.make_directories.clone(),
    }
}

/// A journal, and whether somebody still works on it.
enum JournalStatus {
    /// The original tool wrote it.
    Original,
    /// Somebody else wrote it.
    Foreign(ForeignJournal),
    /// It cannot be understood, and the user wants it out of the way.
    Damaged(TransactionDirectory),
    /// Somebody else wrote it, or the original tool, and the user wants it out of the way.
    Unwanted(TransactionDirectory),
    Alive {
        record: Box<Record>,
        transaction: TransactionJournal,
    },
    Dead {
        record: Box<Record>,
        transaction: TransactionJournal,
        own: TransactionDirectory,
    },
}

fn inspect_journal(
    ledger: &Ledger,
    state: &StateDir,
    id: TxId,
    (how, accepted): (RecoveryMode, Option<Digest>),
) -> LedgerResult<JournalStatus> {
    let name = state_dir::journal_name(id);
    let path = state_dir::path_of(&name);
    let bytes = match state.fs().read(state.dir(), &name, record::RECORD_BYTES as u64) {
        Ok((bytes, _)) => bytes,
        Err(error) if is_too_long(&error) || is_not_regular(&error) || is_link(&error) => Vec::new(),
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    let damage = match record::read(&bytes, &path, id) {
        Ok(mut record) => match record.transaction.take() {
            Some(transaction) => match transaction.validate(id) {
                Ok(()) if is_alive(state, &transaction.directory)? => {
                    return Ok(JournalStatus::Alive { record: Box::new(record), transaction });
                }
                Ok(()) => {
                    let digest = Digest::of(&bytes);
                    let own =
                        accepted == Some(digest) || is_own_journal(ledger, state, &transaction, &bytes)?;
                    if !own && how != RecoveryMode::Keep {
                        let mut files = to_unfinished(&record, &transaction, false).paths;
                        files.sort_unstable();
                        files.dedup();
                        return Ok(JournalStatus::Foreign(ForeignJournal { digest, files }));
                    }
                    return match take_over(ledger, state, &transaction.directory)? {
                        Some(directory) if !own => Ok(JournalStatus::Unwanted(directory)),
                        Some(own) => Ok(JournalStatus::Dead { record: Box::new(record), transaction, own }),
                        None => Ok(JournalStatus::Alive { record: Box::new(record), transaction }),
                    };
                }
                Err(reason) => LedgerError::Damaged { path, reason },
            },
            None => LedgerError::Damaged { path, reason: "it has no steps".to_string() },
        },
        Err(error @ LedgerError::Damaged { .. }) => error,
        Err(error) => return Err(error),
    };
    // A journal of ours says so, or has a directory; the original tool knew nothing of that.
    let directory = directories_of(state, id)?.pop();
    if directory.is_none() && !record::file::is_relay_record(&bytes) {
        let own = if how == RecoveryMode::Keep { take_over(ledger, state, &id.to_string())? } else { None };
        return Ok(own.map_or(JournalStatus::Original, JournalStatus::Unwanted));
    }
    if how != RecoveryMode::Keep {
        return Err(damage);
    }
    match take_over(ledger, state, &directory.unwrap_or_else(|| id.to_string()))? {
        Some(own) => Ok(JournalStatus::Damaged(own)),
        None => Err(damage),
    }
}

fn journal_author(ledger: &Ledger, state: &StateDir, id: TxId) -> LedgerResult<JournalAuthor> {
    let name = state_dir::journal_name(id);
    let bytes = state.fs().read(state.dir(), &name, record::RECORD_BYTES as u64);
    let bytes = bytes.map(|(bytes, _)| bytes).unwrap_or_default();
    let transaction = record::read(&bytes, &name, id).ok().and_then(|record| record.transaction);
    if let Some(transaction) = transaction.filter(|transaction| transaction.validate(id).is_ok())
        && (is_alive(state, &transaction.directory)? || is_own_journal(ledger, state, &transaction, &bytes)?)
    {
        return Ok(JournalAuthor::Own);
    }
    let ours = record::file::is_relay_record(&bytes) || !directories_of(state, id)?.is_empty();
    Ok(if ours { JournalAuthor::Foreign } else { JournalAuthor::Original })
}

/// Whether somebody holds the lock of a transaction: nobody can bring that along with a repository.
fn is_alive(state: &StateDir, directory: &str) -> LedgerResult<bool> {
    let held = || -> io::Result<bool> {
        let all = state.require_subdir(StateSubdir::Transactions)?;
        let Some(dir) = if_found(state.fs().open_dir(&all, directory))? else { return Ok(false) };
        Ok(matches!(if_found(state.fs().try_lock_existing(&dir, "lock"))?, Some(None)))
    };
    held().context("open", &format!("{SLOTS_PATH}/{directory}"))
}

/// Whether this user's relay wrote a journal, in this checkout, for the transaction with this very directory. A crash may have left that
/// under the name that it has when all is done.
fn is_own_journal(
    ledger: &Ledger,
    state: &StateDir,
    transaction: &TransactionJournal,
    bytes: &[u8],
) -> LedgerResult<bool> {
    if ledger.seal.is_none() {
        return Ok(false);
    }
    let names = transaction_directories(state, |name| name.starts_with(&transaction.directory))?;
    for name in names {
        let hasher = || -> io::Result<Option<SealHasher>> {
            let all = state.require_subdir(StateSubdir::Transactions)?;
            ledger.journal_hasher(&state.fs().open_dir(&all, &name)?)
        };
        let hasher = hasher().context("open", &format!("{SLOTS_PATH}/{name}"))?;
        if hasher.is_some_and(|hasher| record::file::has_seal(bytes, hasher)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A transaction that is about to begin must not write over a journal of the same id; one of the original tool it takes the
/// place of.
pub(crate) fn require_no_journal(state: &StateDir, id: TxId) -> LedgerResult<()> {
    let name = state_dir::journal_name(id);
    let path = state_dir::path_of(&name);
    let ours = match if_found(state.fs().read(state.dir(), &name, record::RECORD_BYTES as u64)) {
        Ok(found) => found.is_some_and(|(bytes, _)| record::file::is_relay_record(&bytes)),
        Err(error) if is_too_long(&error) || is_not_regular(&error) || is_link(&error) => true,
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    if ours { Err(LedgerError::Undecided { id, path }) } else { Ok(()) }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Takes over a transaction's directory; `None` if its owner is alive. One that is gone is made anew.
fn take_over(ledger: &Ledger, state: &StateDir, name: &str) -> LedgerResult<Option<TransactionDirectory>> {
    let path = format!("{SLOTS_PATH}/{name}");
    let taken = || -> io::Result<Option<TransactionDirectory>> {
        let all = state.require_subdir(StateSubdir::Transactions)?;
        let dir = match if_found(state.fs().open_dir(&all, name))? {
            Some(dir) => dir,
            None => {
                state.fs().make_dir(&all, name, DirMode::Private)?;
                state.fs().open_dir(&all, name)?
            }
        };
        // Without one its owner died before it made it: it would have done so under the project's lock.
        let mut lock = None;
        if state.fs().exists(&dir, "lock")? {
            lock = state.fs().try_lock(&dir, "lock")?;
            if lock.is_none() {
                return Ok(None);
            }
        }
        let seal = ledger.journal_hasher(&dir)?;
        Ok(Some(TransactionDirectory { name: name.to_string(), dir, lock, seal }))
    };
    taken().context("open", &path)
}

/// The directories that a transaction may have, the one of its first attempt last.
fn directories_of(state: &StateDir, id: TxId) -> LedgerResult<Vec<String>> {
    let mut names = transaction_directories(state, |name| is_directory_of(name, id))?;
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

/// Ends a dead transaction.
fn end_dead(
    ledger: &Ledger,
    state: &StateDir,
    record: &Record,
    transaction: &TransactionJournal,
    own: &TransactionDirectory,
    how: RecoveryMode,
) -> LedgerResult<RecoveryOutcome> {
    let places = ledger.root.resolver();
    let cleanup = TransactionCleanup { state, paths: &places, own };
    if is_committed(state, record.uuid)? {
        cleanup.settle_commit(record.uuid, transaction)?;
        return Ok(RecoveryOutcome::Committed);
    }
    let keep = || Ok(RecoveryOutcome::Kept { kept: own.set_journal_aside(state, record.uuid)? });
    let others = match how {
        RecoveryMode::Keep if transaction.stage == TransactionStage::NeedsYou => return keep(),
        RecoveryMode::Restore => ForeignFilePolicy::SetAside,
        RecoveryMode::Automatic | RecoveryMode::Keep => foreign_file_policy(transaction.stage),
    };
    let before = |path: &str| before_bytes(state, record, path);
    let half_way = |why| LedgerError::put_back_incomplete(record.uuid, why);
    let back = match putback::put_back(&places, transaction, &before, others) {
        Ok(back) => back,
        // Whoever stays with what is there needs nothing of what cannot be had.
        Err(_) if how == RecoveryMode::Keep => return keep(),
        Err(error) => return Err(half_way(error)),
    };
    let kept = cleanup.finish_put_back(record, transaction, &back).map_err(half_way)?;
    if back.left_alone.is_empty() {
        return Ok(RecoveryOutcome::PutBack { restored: back.restored, kept });
    }
    if how == RecoveryMode::Keep {
        return keep();
    }
    let PutBackOutcome { restored, left_alone: left, .. } = back;
    Ok(RecoveryOutcome::NeedsDecision(UnfinishedPutBack { id: record.uuid, restored, left }))
}

/// How files that are neither as before nor as after are treated at this stage: what the project's
/// commands changed is the transaction's to put back.
pub(crate) fn foreign_file_policy(stage: TransactionStage) -> ForeignFilePolicy {
    if stage == TransactionStage::GateRunning {
        ForeignFilePolicy::SetAside
    } else {
        ForeignFilePolicy::KeepInPlace
    }
}

/// Directories of transactions that have no journal: staging was cut short, or a commit's last step.
fn list_orphans(state: &StateDir, in_use: &HashSet<String>) -> LedgerResult<Vec<String>> {
    transaction_directories(state, |name| is_plain_name(name) && !in_use.contains(name))
}

/// The directories beneath `.relaycode/tx/` with such names.
fn transaction_directories(state: &StateDir, is_wanted: impl Fn(&str) -> bool) -> LedgerResult<Vec<String>> {
    let Some(all) = state.open_subdir(StateSubdir::Transactions).context("open", SLOTS_PATH)? else {
        return Ok(Vec::new());
    };
    let wanted = |name: &str, kind| (kind == FsKind::Dir && is_wanted(name)).then(|| name.to_string());
    pick_entries(state.fs(), &all, wanted).context("list", SLOTS_PATH)
}

fn remove_orphan(ledger: &Ledger, state: &StateDir, name: &str) -> LedgerResult<()> {
    let own = match take_over(ledger, state, name) {
        // Nothing that relay made has something else where its lock is: it is left alone, and is in nobody's way.
        Err(LedgerError::Io { source, .. }) if is_no_file(&source) => return Ok(()),
        taken => taken?,
    };
    let Some(own) = own else { return Ok(()) };
    let id = name.get(..36).and_then(|id| id.parse::<TxId>().ok());
    let places = ledger.root.resolver();
    let gone = || -> io::Result<()> {
        if state.fs().exists(&own.dir, cleanup::SET_ASIDE)? {
            return cleanup::mark_kept(state, name).map(|_| ());
        }
        let recorded = match id {
            Some(id) => record_exists(state, id)?,
            None => false,
        };
        if recorded {
            return cleanup::mark_done(state, &own);
        }
        TransactionCleanup { state, paths: &places, own: &own }.clear_staging()
    };
    gone().context("tidy", &format!("{SLOTS_PATH}/{name}"))
}

/// Whether a file could not be used because it is none.
fn is_no_file(error: &io::Error) -> bool {
    is_not_regular(error) || is_link(error) || error.kind() == io::ErrorKind::IsADirectory
}

/// The transactions that have a journal.
pub(crate) fn list_journals(state: &StateDir) -> LedgerResult<Vec<TxId>> {
    pick_entries(state.fs(), state.dir(), |name, _| state_dir::journal_id(name))
        .context("list", STATE_DIR_NAME)
}

fn record_exists(state: &StateDir, id: TxId) -> io::Result<bool> {
    let name = state_dir::record_name(id);
    for dir in [Some(state.dir().clone()), state.open_subdir(StateSubdir::Undone)?].into_iter().flatten() {
        if state.fs().exists(&dir, &name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a transaction is in the ledger.
pub(crate) fn is_committed(state: &StateDir, id: TxId) -> LedgerResult<bool> {
    record_exists(state, id).context("look at", STATE_DIR_NAME)
}

/// The bytes that `path` had before the transaction, as the journal keeps them.
pub(crate) fn before_bytes(state: &StateDir, record: &Record, path: &str) -> LedgerResult<Vec<u8>> {
    match record.snapshot.get(path) {
        Some(Some(RecordContent::Text(text))) => Ok(text.clone().into_bytes()),
        Some(Some(RecordContent::Blob { blob, .. })) => {
            let blobs = state.require_subdir(StateSubdir::Blobs).context("open", "blobs")?;
            let bytes = blobs::get(state.fs(), &blobs, *blob)?;
            bytes.ok_or_else(|| damaged(record.uuid, format!("the blob with the bytes of {path} is gone")))
        }
        _ => Err(damaged(record.uuid, format!("it does not say what {path} was"))),
    }
}

fn damaged(id: TxId, reason: String) -> LedgerError {
    LedgerError::Damaged { path: state_dir::path_of(&state_dir::journal_name(id)), reason }
}
