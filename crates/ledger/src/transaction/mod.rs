//! One change on its way to disk: claimed, checked, staged, journaled, applied, and then kept or put
//! back.
//!
//! The project's lock is held while files change paths, and while the result is committed or put
//! back, but not in between: a gate may run for minutes, and a person may think. The transaction's
//! own lock is held all the time; it is how others know that the transaction is alive.

mod apply;
pub mod change;
mod check;
pub(crate) mod cleanup;
mod commit;
mod gate;
pub mod group;
pub mod header;
pub mod journal;
pub(crate) mod putback;
pub mod recover;
mod stage;
mod stamp;
mod steps;
#[cfg(test)]
mod tests;

use apply::OWNER_MAY_WRITE;
pub use change::{AfterContent, FileChange, NewMode};
pub(crate) use cleanup::{DONE, TransactionCleanup};
pub use commit::{CommitVerdict, CommittedTransaction};
pub use header::TransactionHeader;
pub use journal::{TransactionJournal, TransactionStage, TransactionStep};
use journal::{is_directory_of, is_slot};
use putback::{FRESH, ForeignFilePolicy, PutBackOutcome, aside_path};
pub use recover::{RecoveredTransaction, RecoveryMode, RecoveryOutcome};
pub(crate) use stage::SYNC_EACH;
use stamp::StateStamp;
use steps::{PlannedFile, PlannedStep};

use std::collections::HashMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use relaycode_durable::{DirMode, FsDir, FsLock};

use crate::disk::{
    Digest, DirtyDirectories, PathResolver, StateDir, StateSubdir, ancestors, if_directory, split_parent,
};
use crate::record::{
    FORMAT, FileImage, FileRecord, INLINE_TOTAL, Record, RecordContent, RemovedDirectory, blobs,
};
use crate::recording;
use crate::seal::{DirectoryMark, SealHasher, SealPurpose};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, LedgerRule, TxId, UnfinishedPutBack};

/// Where transactions have their directories, beneath the root.
pub(crate) const SLOTS_PATH: &str = ".relaycode/tx";
/// The project's lock. A message names the file: whoever is told to remove it must not take `.relaycode` for it.
const LOCK_PATH: &str = ".relaycode/lock";

/// A transaction whose files are in place, and that is neither committed nor put back yet. If it is
/// dropped, the next recovery puts it back.
pub struct OpenTransaction<'l> {
    ledger: &'l Ledger,
    state: StateDir,
    paths: PathResolver<'l>,
    directory: TransactionDirectory,
    transaction: TransactionJournal,
    record: Record,
}

/// The transaction's own directory and lock.
pub(crate) struct TransactionDirectory {
    pub(crate) name: String,
    pub(crate) dir: FsDir,
    /// Held while the transaction lives; a dead one may have none.
    #[expect(dead_code, reason = "it is held, never looked at")]
    pub(crate) lock: Option<FsLock>,
    /// Seals the journal of the transaction that has this very directory; `None`: there is no secret.
    pub(crate) seal: Option<SealHasher>,
}

impl TransactionDirectory {
    /// Where it is, beneath the root.
    pub(crate) fn path(&self) -> String {
        format!("{SLOTS_PATH}/{}", self.name)
    }
}

impl Ledger {
    /// Puts `changes` on disk, all of them or none, ready to be kept or put back. `stop` is asked
    /// between steps; when it says yes, everything is put back.
    ///
    /// # Errors
    /// Every [`LedgerError`] but `NeedsDecision` and `PutBackIncomplete` leaves the project as it was, except for what others did
    /// to it meanwhile.
    pub fn begin(
        &self,
        changes: &[FileChange<'_>],
        about: TransactionHeader,
        stop: &dyn Fn() -> bool,
    ) -> LedgerResult<OpenTransaction<'_>> {
        let state = self.make_state()?;
        let _project = self.lock_project_unless(&state, stop)?;
        let known = self.take_stamp(&state).filter(|stamp| stamp.open.is_empty());
        let (others, is_idle) = match &known {
            Some(_) => (Vec::new(), true),
            None => recover::recover_dead(self, &state)?,
        };
        if known.is_some() {
            recording::recover_dead_recordings(self, &state)?;
        }
        let claims = claims(&others);
        self.require_unprocessed(&state, &about)?;
        let paths = self.root.resolver();
        let device =
            |path: &str| stage::device_of(&paths, split_parent(path).0).ok().map(|(device, _)| device);
        // Moves come after directories are made: a file whose name a directory takes has to go before.
        let becomes_directory = |path: &str| {
            about
                .directories_to_make
                .iter()
                .any(|made| ancestors(&made.path).chain([&*made.path]).any(|name| name == path))
        };
        let can_move = |from: &str, to: &str| device(from) == device(to) && !becomes_directory(from);
        let wanted = steps::plan_steps(changes, !about.revert_of.is_empty(), &can_move);
        let wanted = wanted.map_err(LedgerError::Refused)?;
        let checked = check::check(&paths, &wanted, &about, &claims)?;
        let remove_directories = existing_directories(&paths, &about.directories_to_remove)?;
        let own = self.make_transaction_directory(&state, about.uuid)?;
        let staged = match stage::stage(&paths, &wanted, &own, &checked.stats, &about.special_modes) {
            Ok(staged) => staged,
            Err(error) => {
                // What cannot be cleared now is cleared by the next recovery.
                let _ = TransactionCleanup { state: &state, paths: &paths, own: &own }.clear_staging();
                return Err(error);
            }
        };
        let transaction = TransactionJournal {
            stage: TransactionStage::Applying,
            pid: std::process::id(),
            directory: own.name.clone(),
            steps: staged.steps,
            make_directories: checked.make_directories,
            remove_directories,
            directory_modes: about.directory_mode_changes.clone(),
        };
        let made = about.directory_modes.iter().chain(&about.directories_to_make);
        let modes: HashMap<String, u32> = made.map(|made| (made.path.clone(), made.mode)).collect();
        let record = draft_record(about);
        let mut open = OpenTransaction { ledger: self, state, paths, directory: own, transaction, record };
        open.record.notes.extend(staged.notes);
        open.journal_and_apply(changes, staged.all_synced, &modes, stop)?;
        open.record.made_directories.extend(shared_directories(changes, &others));
        if is_idle {
            self.leave_stamp(&open.state, &[open.id()], known.and_then(|stamp| stamp.names()));
        }
        Ok(open)
    }

    /// Makes the transaction's directory and takes its lock. An earlier attempt under the same id may
    /// have left one with somebody's bytes in it; then the name gets a number.
    fn make_transaction_directory(&self, state: &StateDir, id: TxId) -> LedgerResult<TransactionDirectory> {
        let all = state.require_subdir(StateSubdir::Transactions).context("open", SLOTS_PATH)?;
        let taken = |name: &str| -> LedgerResult<bool> {
            for suffix in ["", cleanup::DONE, cleanup::KEPT] {
                let name = format!("{name}{suffix}");
                if state.fs().exists(&all, &name).context("look at", &name)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let mut name = id.to_string();
        let mut attempt = 1;
        while taken(&name)? {
            attempt += 1;
            name = format!("{id}-{attempt}");
        }
        let made = || -> io::Result<TransactionDirectory> {
            state.fs().make_dir(&all, &name, DirMode::Private)?;
            let dir = state.fs().open_dir(&all, &name)?;
            let lock = state.fs().try_lock(&dir, "lock")?.ok_or(io::ErrorKind::WouldBlock)?;
            let seal = self.journal_hasher(&dir)?;
            Ok(TransactionDirectory { name: name.clone(), dir, lock: Some(lock), seal })
        };
        made().context("make", &format!("{SLOTS_PATH}/{name}"))
    }

    /// Seals the journal of the transaction with this directory.
    fn journal_hasher(&self, dir: &FsDir) -> io::Result<Option<SealHasher>> {
        let mark = DirectoryMark::of(&*self.fs, dir)?;
        Ok(self.seal_hasher(SealPurpose::Journal(&mark)))
    }

    /// The id must not be in the ledger yet.
    fn require_unprocessed(&self, state: &StateDir, about: &TransactionHeader) -> LedgerResult<()> {
        if !recover::is_committed(state, about.uuid)? {
            // A journal that somebody else left under the same id is not written over.
            return recover::require_no_journal(state, about.uuid);
        }
        // A record that cannot be read is in the ledger all the same.
        let answer = self.record(about.uuid).ok().and_then(|record| record.answer);
        let other_content = answer.is_some() && about.answer.is_some() && answer != about.answer;
        Err(LedgerError::AlreadyProcessed { id: about.uuid, other_content })
    }
}

/// Directories that another open transaction made and that these changes use as well: whichever of the two is
/// taken back last removes them, if nothing else is in them.
fn shared_directories(changes: &[FileChange<'_>], others: &[recover::UnfinishedTransaction]) -> Vec<String> {
    let mut shared: Vec<String> = Vec::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        for above in ancestors(change.path.as_str()) {
            let made = others.iter().any(|other| other.made_directories.iter().any(|path| path == above));
            if made && !shared.iter().any(|path| path == above) {
                shared.push(above.to_string());
            }
        }
    }
    shared.sort_by_key(|path| path.matches('/').count());
    shared
}

/// Which rule stands against every path that another open transaction has.
fn claims(open: &[recover::UnfinishedTransaction]) -> HashMap<String, LedgerRule> {
    let mut claims = HashMap::new();
    for other in open {
        let rule = match other.pid {
            Some(pid) => LedgerRule::Claimed { by: other.id, pid },
            None => LedgerRule::AwaitsDecision { by: other.id },
        };
        claims.extend(other.paths.iter().map(|path| (path.clone(), rule.clone())));
    }
    claims
}

/// A record with everything that is known before the files are in place.
pub(crate) fn draft_record(about: TransactionHeader) -> Record {
    Record {
        uuid: about.uuid,
        project_id: about.project_id,
        created_at: about.created_at,
        git_commit_msg: about.git_commit_msg,
        prompt_summary: about.prompt_summary,
        reasoning: about.reasoning,
        operations: about.operations,
        version: FORMAT,
        origin: about.origin,
        decided_by: about.decided_by,
        group: about.group,
        branch: about.branch,
        head: about.head,
        answer: about.answer,
        matches: about.matches,
        revert_of: about.revert_of,
        revert_paths: about.revert_paths,
        title: about.title,
        notes: about.notes,
        plan: about.plan,
        ..Record::default()
    }
}

/// Those of `directories` that are there, with their permission bits, innermost first.
fn existing_directories(paths: &PathResolver<'_>, wanted: &[String]) -> LedgerResult<Vec<RemovedDirectory>> {
    let mut found = Vec::new();
    for path in wanted {
        let Some(dir) = if_directory(paths.open_directory(path)).context("open", path)? else { continue };
        let mode = paths.fs().stat_dir(&dir).context("look at", path)?.mode;
        found.push(RemovedDirectory { path: path.clone(), mode });
    }
    found.sort_by_key(|directory| std::cmp::Reverse(directory.path.matches('/').count()));
    Ok(found)
}

impl<'l> OpenTransaction<'l> {
    pub fn id(&self) -> TxId {
        self.record.uuid
    }

    /// What is recorded of it so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Puts everything back as it was. Says which of the files that it had displaced somebody wrote to meanwhile.
    ///
    /// # Errors
    /// `NeedsDecision` if files were changed meanwhile, not by relay: they are left alone. `PutBackIncomplete` if
    /// it could not be done or finished: the next recovery does.
    pub fn put_back(self) -> LedgerResult<Option<WrittenDisplacedFiles>> {
        // Its files are its own for as long as it lives: without the project's lock too.
        let _project = self.ledger.lock_project(&self.state);
        self.put_back_applied()
    }

    fn journal_and_apply(
        &mut self,
        changes: &[FileChange<'_>],
        slots_synced: bool,
        modes: &HashMap<String, u32>,
        stop: &dyn Fn() -> bool,
    ) -> LedgerResult<()> {
        let applied = self
            .fill_images(changes)
            .and_then(|()| self.sync_slots(slots_synced))
            .and_then(|()| self.write_journal())
            .and_then(|()| apply::apply(&self.paths, &self.transaction, modes, stop));
        match applied {
            Ok(applied) => {
                self.record.made_directories = applied.made_directories;
                self.record.removed_directories = applied.removed_directories;
                self.record.directory_modes.clone_from(&self.transaction.directory_modes);
                Ok(())
            }
            // Also when the journal could not be written: it may be there even so.
            Err(error) => {
                self.put_back_applied()?;
                Err(mark_put_back(error))
            }
        }
    }

    /// Fills in what every file was and will be; contents that do not fit into a record go to blobs.
    fn fill_images(&mut self, changes: &[FileChange<'_>]) -> LedgerResult<()> {
        let steps = &self.transaction.steps;
        let was: HashMap<&str, &FileImage> = steps.iter().filter_map(TransactionStep::before).collect();
        let becomes: HashMap<&str, &FileImage> = steps.iter().filter_map(TransactionStep::after).collect();
        let mut inline = INLINE_TOTAL;
        for change in changes {
            let (old, new) = (change.old_path().as_str(), change.path.as_str());
            let (before, after) = (was.get(old).map(|image| **image), becomes.get(new).map(|image| **image));
            if before.is_none() && after.is_none() {
                // No step is about it: it stays as it is, bytes and permission bits.
                continue;
            }
            if let Some(bytes) = &change.before {
                let content = self.store_within_limit(bytes, &mut inline)?;
                self.record.snapshot.insert(old.to_string(), Some(content));
            }
            let mut content = None;
            if let Some(after) = &change.after {
                content = Some(self.store_within_limit(&after.bytes, &mut inline)?);
                self.record.snapshot.entry(new.to_string()).or_insert(None);
            }
            let (path, &FileChange { added, removed, .. }) = (new.to_string(), change);
            let renamed_from = change.renamed_from.as_ref().map(ToString::to_string);
            self.record.result.push(FileRecord {
                path,
                renamed_from,
                before,
                after,
                added,
                removed,
                content,
                ..FileRecord::default()
            });
        }
        Ok(())
    }

    fn store_content(&self, bytes: &[u8]) -> LedgerResult<RecordContent> {
        self.store_within_limit(bytes, &mut INLINE_TOTAL.clone())
    }

    /// Keeps some bytes: in the record as far as there is room for texts, else as a blob.
    fn store_within_limit(&self, bytes: &[u8], inline: &mut usize) -> LedgerResult<RecordContent> {
        let content = match blobs::content_of(bytes) {
            RecordContent::Text(text) if text.len() > *inline => {
                RecordContent::Blob { blob: Digest::of(bytes), size: bytes.len() as u64 }
            }
            content => content,
        };
        if let RecordContent::Text(text) = &content {
            *inline -= text.len();
        }
        if let RecordContent::Blob { .. } = content {
            let stored = || -> io::Result<bool> {
                let blobs = self.state.require_subdir(StateSubdir::Blobs)?;
                blobs::put(self.state.fs(), &blobs, (&self.directory.dir, "blob"), bytes)
            };
            stored().context("keep", "a blob")?;
        }
        Ok(content)
    }

    /// The slots' names must be there before the journal that speaks of them, and the blobs' too.
    fn sync_slots(&self, done: bool) -> LedgerResult<()> {
        let fs = self.state.fs();
        let synced = || -> io::Result<()> {
            if !done {
                fs.sync_dir(&self.directory.dir)?;
                fs.sync_dir(&self.state.require_subdir(StateSubdir::Transactions)?)?;
            }
            if self.needs_blobs() {
                fs.sync_dir(&self.state.require_subdir(StateSubdir::Blobs)?)?;
            }
            let mut elsewhere = DirtyDirectories::default();
            for step in &self.transaction.steps {
                if let TransactionStep::Replace { slot, .. } | TransactionStep::Create { slot, .. } = step
                    && !slot.starts_with(SLOTS_PATH)
                {
                    elsewhere.add_entry(slot);
                }
            }
            elsewhere.sync(&self.paths)
        };
        synced().context("write", SLOTS_PATH)
    }

    fn needs_blobs(&self) -> bool {
        let before = self.record.snapshot.values().flatten();
        let after = self.record.result.iter().filter_map(|file| file.content.as_ref());
        before.chain(after).any(|content| matches!(content, RecordContent::Blob { .. }))
    }

    fn write_journal(&mut self) -> LedgerResult<()> {
        self.record.transaction = Some(self.transaction.clone());
        let written = self.directory.write_journal(&self.state, &self.record);
        self.record.transaction = None;
        written
    }

    /// Puts back what was done, under the project's lock.
    fn put_back_applied(&self) -> LedgerResult<Option<WrittenDisplacedFiles>> {
        let others = recover::foreign_file_policy(self.transaction.stage);
        let before = |path: &str| recover::before_bytes(&self.state, &self.record, path);
        let half_way = |why| LedgerError::put_back_incomplete(self.id(), why);
        let fresh;
        let paths = match self.transaction.stage {
            // The project's commands may have made directories anew.
            TransactionStage::GateRunning => {
                fresh = self.ledger.root.resolver();
                &fresh
            }
            _ => &self.paths,
        };
        let back = putback::put_back(paths, &self.transaction, &before, others).map_err(half_way)?;
        let cleanup = TransactionCleanup { state: &self.state, paths, own: &self.directory };
        let kept = cleanup.finish_put_back(&self.record, &self.transaction, &back).map_err(half_way)?;
        if back.left_alone.is_empty() {
            let files = back.written_to;
            return Ok(kept.filter(|_| !files.is_empty()).map(|kept| WrittenDisplacedFiles { files, kept }));
        }
        let unfinished = UnfinishedPutBack { id: self.id(), restored: back.restored, left: back.left_alone };
        Err(LedgerError::NeedsDecision(Box::new(unfinished)))
    }
}

/// Files that somebody wrote to after the transaction had displaced them: an editor that still had them open, or a command
/// that reached relay's own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenDisplacedFiles {
    pub files: Vec<String>,
    /// The directory that keeps what was written, beneath the root.
    pub kept: String,
}

/// The error, saying that everything was put back.
fn mark_put_back(error: LedgerError) -> LedgerError {
    match error {
        LedgerError::Io { action, path, source, .. } => {
            LedgerError::Io { action, path, source, put_back: true }
        }
        other => other,
    }
}

impl Ledger {
    /// Takes the project's lock, waiting for whoever has it for as long as the settings say.
    pub(crate) fn lock_project(&self, state: &StateDir) -> LedgerResult<FsLock> {
        self.lock_project_unless(state, &|| false)
    }

    /// The same, unless somebody says stop.
    fn lock_project_unless(&self, state: &StateDir, stop: &dyn Fn() -> bool) -> LedgerResult<FsLock> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(lock) = state.fs().try_lock(state.dir(), "lock").context("lock", LOCK_PATH)? {
                return Ok(lock);
            }
            if stop() {
                return Err(LedgerError::Interrupted);
            }
            if started.elapsed() >= self.settings.lock_timeout {
                return Err(LedgerError::Busy);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
