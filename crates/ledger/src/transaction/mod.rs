//! One change on its way to disk: claimed, checked, staged, journaled, applied, and then kept or put
//! back.
//!
//! The project's lock is held while files change places, and while the result is committed or put
//! back, but not in between: a gate may run for minutes, and a person may think. The transaction's
//! own lock is held all the time; it is how others know that the transaction is alive.

mod apply;
mod check;
mod commit;
mod gate;
mod stage;
mod steps;
#[cfg(test)]
mod tests;

pub use commit::{Committed, Verdict};
pub(crate) use stage::SYNC_EACH;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use relaycode_durable::fs::DirMode;
use relaycode_durable::{Dir, Lock, Stat};

use crate::about::About;
use crate::blobs;
use crate::change::FileChange;
use crate::digest::Digest;
use crate::error::{LedgerError, Rule, Unfinished, cannot};
use crate::id::TxId;
use crate::journal::{Stage, Step, Transaction};
use crate::ledger::Ledger;
use crate::moves::{Touched, no_directory};
use crate::paths::{Places, ancestors};
use crate::putback;
use crate::record::{Content, FORMAT, FileRecord, INLINE_TOTAL, Image, Record, RemovedDirectory};
use crate::recover;
use crate::state::{self, State, Sub};
use crate::traces;

/// Where transactions have their directories, beneath the root.
pub(crate) const SLOTS: &str = ".relaycode/tx";

/// A transaction whose files are in place, and that is neither committed nor put back yet. If it is
/// dropped, the next recovery puts it back.
pub struct Open<'l> {
    ledger: &'l Ledger,
    state: State,
    places: Places<'l>,
    own: OwnDirectory,
    transaction: Transaction,
    record: Record,
}

/// The transaction's own directory and lock.
pub(crate) struct OwnDirectory {
    pub(crate) name: String,
    pub(crate) dir: Dir,
    /// Held while the transaction lives; a dead one may have none.
    #[expect(dead_code, reason = "it is held, never looked at")]
    pub(crate) lock: Option<Lock>,
}

impl Ledger {
    /// Puts `changes` on disk, all of them or none, ready to be kept or put back. `stop` is asked
    /// between steps; when it says yes, everything is put back.
    ///
    /// # Errors
    /// Every [`LedgerError`] but `NeedsYou` and `HalfWay` leaves the project as it was, except for what others did
    /// to it meanwhile.
    pub fn begin(
        &self,
        changes: &[FileChange],
        about: About,
        stop: &dyn Fn() -> bool,
    ) -> Result<Open<'_>, LedgerError> {
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let _project = self.lock_unless(&state, stop)?;
        let others = recover::dead(self, &state)?;
        let claims = claims(&others);
        self.not_yet_processed(&state, &about)?;
        let wanted = steps::of(changes).map_err(LedgerError::Refused)?;
        let places = self.root.places();
        let checked =
            check::check(&places, &wanted, &about.directories_to_remove, &about.read_only, &claims)?;
        let remove_directories = existing(&places, &about.directories_to_remove)?;
        let own = own_directory(&state, about.uuid)?;
        let staged = match stage_all(&state, &places, &own, &wanted, &checked.stats) {
            Ok(staged) => staged,
            Err(error) => {
                // What cannot be cleared now is cleared by the next recovery.
                let _ = traces::clear(&state, &places, &own);
                return Err(error);
            }
        };
        let transaction = Transaction {
            stage: Stage::Applying,
            pid: std::process::id(),
            directory: own.name.clone(),
            steps: staged.steps,
            make_directories: checked.make_directories,
            remove_directories,
        };
        let modes: HashMap<String, u32> =
            about.directory_modes.iter().map(|directory| (directory.path.clone(), directory.mode)).collect();
        let mut open = Open { ledger: self, state, places, own, transaction, record: draft(about) };
        open.record.notes.extend(staged.notes);
        open.journal_and_apply(changes, staged.all_synced, &modes, stop)?;
        open.record.made_directories.extend(made_together(changes, &others));
        Ok(open)
    }

    /// The id must not be in the ledger yet.
    fn not_yet_processed(&self, state: &State, about: &About) -> Result<(), LedgerError> {
        if !recover::committed(state, about.uuid)? {
            return Ok(());
        }
        // A record that cannot be read is in the ledger all the same.
        let answer = self.record(about.uuid).ok().and_then(|record| record.answer);
        let other_content = answer.is_some() && about.answer.is_some() && answer != about.answer;
        Err(LedgerError::AlreadyProcessed { id: about.uuid, other_content })
    }
}

/// Directories that another open transaction made and that these changes use as well: whichever of the two is
/// taken back last removes them, if nothing else is in them.
fn made_together(changes: &[FileChange], others: &[recover::StillOpen]) -> Vec<String> {
    let mut shared: Vec<String> = Vec::new();
    for change in changes.iter().filter(|change| change.after.is_some()) {
        for above in ancestors(change.path.as_str()) {
            let made = others.iter().any(|other| other.makes.iter().any(|path| path == above));
            if made && !shared.iter().any(|path| path == above) {
                shared.push(above.to_string());
            }
        }
    }
    shared.sort_by_key(|path| path.matches('/').count());
    shared
}

/// Which rule stands against every path that another open transaction has.
fn claims(open: &[recover::StillOpen]) -> HashMap<String, Rule> {
    let mut claims = HashMap::new();
    for other in open {
        let rule = match other.pid {
            Some(pid) => Rule::Claimed { by: other.id, pid },
            None => Rule::Waiting { by: other.id },
        };
        claims.extend(other.paths.iter().map(|path| (path.clone(), rule.clone())));
    }
    claims
}

fn stage_all(
    state: &State,
    places: &Places<'_>,
    own: &OwnDirectory,
    wanted: &[steps::Wanted<'_>],
    stats: &HashMap<String, Stat>,
) -> Result<stage::Staged, LedgerError> {
    let directory = format!("{SLOTS}/{}", own.name);
    let device = state.fs().stat_dir(&own.dir).map_err(cannot("look at", &directory))?.dev;
    let slots = stage::Slots { own, directory: &directory, device };
    stage::stage(places, wanted, &slots, stats)
}

/// A record with everything that is known before the files are in place.
pub(crate) fn draft(about: About) -> Record {
    Record {
        uuid: about.uuid,
        project_id: about.project_id,
        created_at: about.created_at,
        git_commit_msg: about.git_commit_msg,
        prompt_summary: about.prompt_summary,
        reasoning: about.reasoning,
        operations: about.operations,
        snapshot: BTreeMap::new(),
        approved: false,
        version: FORMAT,
        number: 0,
        origin: about.origin,
        group: about.group,
        branch: about.branch,
        head: about.head,
        answer: about.answer,
        result: Vec::new(),
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        matches: about.matches,
        gate: None,
        decided_by: None,
        revert_of: about.revert_of,
        notes: about.notes,
        plan: about.plan,
        rules: Vec::new(),
        transaction: None,
    }
}

/// Makes the transaction's directory and takes its lock. An earlier attempt under the same id may
/// have left one with somebody's bytes in it; then the name gets a number.
fn own_directory(state: &State, id: TxId) -> Result<OwnDirectory, LedgerError> {
    let all = state.need(Sub::Transactions).map_err(cannot("open", SLOTS))?;
    let taken = |name: &str| -> Result<bool, LedgerError> {
        for suffix in ["", traces::DONE, traces::KEPT] {
            let name = format!("{name}{suffix}");
            match state.fs().stat(&all, &name) {
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot("look at", &name)(error)),
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
    let made = || -> io::Result<OwnDirectory> {
        state.fs().make_dir(&all, &name, DirMode::Private)?;
        let dir = state.fs().open_dir(&all, &name)?;
        let lock = state.fs().lock(&dir, "lock")?.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(OwnDirectory { name: name.clone(), dir, lock: Some(lock) })
    };
    made().map_err(cannot("make", &format!("{SLOTS}/{name}")))
}

/// Those of `directories` that are there, with their permission bits, innermost first.
fn existing(places: &Places<'_>, directories: &[String]) -> Result<Vec<RemovedDirectory>, LedgerError> {
    let mut found = Vec::new();
    for path in directories {
        let dir = match places.directory(path) {
            Ok(dir) => dir,
            Err(error) if no_directory(&error) => continue,
            Err(error) => return Err(cannot("open", path)(error)),
        };
        let mode = places.fs().stat_dir(&dir).map_err(cannot("look at", path))?.mode;
        found.push(RemovedDirectory { path: path.clone(), mode });
    }
    found.sort_by_key(|directory| std::cmp::Reverse(directory.path.matches('/').count()));
    Ok(found)
}

impl<'l> Open<'l> {
    /// Its id.
    pub fn id(&self) -> TxId {
        self.record.uuid
    }

    /// What is recorded of it so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Puts everything back as it was.
    ///
    /// # Errors
    /// `NeedsYou` if files were changed meanwhile, not by relay: they are left alone. `HalfWay` if
    /// it could not be done or finished: the next recovery does.
    pub fn put_back(self) -> Result<(), LedgerError> {
        // Its files are its own for as long as it lives: without the project's lock too.
        let _project = self.ledger.lock(&self.state);
        self.back()
    }

    fn journal_and_apply(
        &mut self,
        changes: &[FileChange],
        slots_synced: bool,
        modes: &HashMap<String, u32>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), LedgerError> {
        let applied = self
            .images(changes)
            .and_then(|()| self.sync_slots(slots_synced))
            .and_then(|()| self.write_journal())
            .and_then(|()| apply::apply(&self.places, &self.transaction, modes, stop));
        match applied {
            Ok(applied) => {
                self.record.made_directories = applied.made_directories;
                self.record.removed_directories = applied.removed_directories;
                Ok(())
            }
            // Also when the journal could not be written: it may be there even so.
            Err(error) => {
                self.back()?;
                Err(after_put_back(error))
            }
        }
    }

    /// Fills in what every file was and will be; contents that do not fit into a record go to blobs.
    fn images(&mut self, changes: &[FileChange]) -> Result<(), LedgerError> {
        let images = Images::of(&self.transaction.steps);
        let mut inline = INLINE_TOTAL;
        for change in changes {
            let (old, new) = (change.old_path().as_str(), change.path.as_str());
            let (before, after) = (images.before.get(old).copied(), images.after.get(new).copied());
            if before.is_none() && after.is_none() {
                // No step is about it: it stays as it is, bytes and permission bits.
                continue;
            }
            if let Some(bytes) = &change.before {
                let content = self.store_within(bytes, &mut inline)?;
                self.record.snapshot.insert(old.to_string(), Some(content));
            }
            let mut content = None;
            if let Some(after) = &change.after {
                content = Some(self.store_within(&after.bytes, &mut inline)?);
                self.record.snapshot.entry(new.to_string()).or_insert(None);
            }
            self.record.result.push(FileRecord {
                path: new.to_string(),
                renamed_from: change.renamed_from.as_ref().map(ToString::to_string),
                before,
                after,
                added: change.added,
                removed: change.removed,
                content,
            });
        }
        Ok(())
    }

    fn store(&self, bytes: &[u8]) -> Result<Content, LedgerError> {
        self.store_within(bytes, &mut INLINE_TOTAL.clone())
    }

    /// Keeps some bytes: in the record as far as there is room for texts, else as a blob.
    fn store_within(&self, bytes: &[u8], inline: &mut usize) -> Result<Content, LedgerError> {
        let content = match blobs::content_of(bytes) {
            Content::Text(text) if text.len() > *inline => {
                Content::Blob { blob: Digest::of(bytes), size: bytes.len() as u64 }
            }
            content => content,
        };
        if let Content::Text(text) = &content {
            *inline -= text.len();
        }
        if let Content::Blob { .. } = content {
            let stored = || -> io::Result<bool> {
                let blobs = self.state.need(Sub::Blobs)?;
                blobs::put(self.state.fs(), &blobs, (&self.own.dir, "blob"), bytes)
            };
            stored().map_err(cannot("keep", "a blob"))?;
        }
        Ok(content)
    }

    /// The slots' names must be there before the journal that speaks of them, and the blobs' too.
    fn sync_slots(&self, done: bool) -> Result<(), LedgerError> {
        let fs = self.state.fs();
        let synced = || -> io::Result<()> {
            if !done {
                fs.sync_dir(&self.own.dir)?;
                fs.sync_dir(&self.state.need(Sub::Transactions)?)?;
            }
            if self.needs_blobs() {
                fs.sync_dir(&self.state.need(Sub::Blobs)?)?;
            }
            let mut elsewhere = Touched::default();
            for step in &self.transaction.steps {
                if let Step::Replace { slot, .. } | Step::Create { slot, .. } = step
                    && !slot.starts_with(SLOTS)
                {
                    elsewhere.entry(slot);
                }
            }
            elsewhere.sync(&self.places)
        };
        synced().map_err(cannot("write", SLOTS))
    }

    fn needs_blobs(&self) -> bool {
        let before = self.record.snapshot.values().flatten();
        let after = self.record.result.iter().filter_map(|file| file.content.as_ref());
        before.chain(after).any(|content| matches!(content, Content::Blob { .. }))
    }

    fn write_journal(&mut self) -> Result<(), LedgerError> {
        self.record.transaction = Some(self.transaction.clone());
        let written = traces::write_journal(&self.state, &self.own, &self.record);
        self.record.transaction = None;
        written
    }

    /// Puts back what was done, under the project's lock.
    fn back(&self) -> Result<(), LedgerError> {
        let others = recover::others(self.transaction.stage);
        let before = |path: &str| recover::before_bytes(&self.state, &self.record, path);
        let half_way = |why| LedgerError::half_way(self.id(), why);
        let fresh;
        let places = match self.transaction.stage {
            // The project's commands may have made directories anew.
            Stage::GateRunning => {
                fresh = self.ledger.root.places();
                &fresh
            }
            _ => &self.places,
        };
        let back = putback::put_back(places, &self.transaction, &before, others).map_err(half_way)?;
        traces::finish(&self.state, places, &self.own, &self.record, &self.transaction, &back)
            .map_err(half_way)?;
        if back.left.is_empty() {
            return Ok(());
        }
        let unfinished = Unfinished { id: self.id(), restored: back.restored, left: back.left };
        Err(LedgerError::NeedsYou(Box::new(unfinished)))
    }
}

/// What the steps say that every file was and will be, by its name then.
struct Images<'s> {
    before: HashMap<&'s str, Image>,
    after: HashMap<&'s str, Image>,
}

impl Images<'_> {
    fn of(steps: &[Step]) -> Images<'_> {
        let mut images = Images { before: HashMap::new(), after: HashMap::new() };
        for step in steps {
            let (was, becomes) = match step {
                Step::Replace { path, before, after, .. } => (Some((path, before)), Some((path, after))),
                Step::Create { path, after, .. } => (None, Some((path, after))),
                Step::Remove { path, before, .. } => (Some((path, before)), None),
                Step::Move { path, to, image, .. } => (Some((path, image)), Some((to, image))),
            };
            images.before.extend(was.map(|(path, image)| (path.as_str(), *image)));
            images.after.extend(becomes.map(|(path, image)| (path.as_str(), *image)));
        }
        images
    }
}

/// The error, saying that everything was put back.
fn after_put_back(error: LedgerError) -> LedgerError {
    match error {
        LedgerError::Io { action, path, source, .. } => {
            LedgerError::Io { action, path, source, put_back: true }
        }
        other => other,
    }
}

impl Ledger {
    /// Takes the project's lock, waiting for whoever has it for as long as the settings say.
    pub(crate) fn lock(&self, state: &State) -> Result<Lock, LedgerError> {
        self.lock_unless(state, &|| false)
    }

    /// The same, unless somebody says stop.
    fn lock_unless(&self, state: &State, stop: &dyn Fn() -> bool) -> Result<Lock, LedgerError> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(lock) = state.fs().lock(state.dir(), "lock").map_err(cannot("lock", state::NAME))? {
                return Ok(lock);
            }
            if stop() {
                return Err(LedgerError::Interrupted);
            }
            if started.elapsed() >= self.settings.patience {
                return Err(LedgerError::Busy);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
