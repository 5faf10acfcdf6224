//! A recording from its first command to its last: what was secured for one is there for the next.
//!
//! Between two commands the tree may change: by relay, by the user, by anybody. So it is looked at before each command and after
//! it, and what changed in between is the next command's "before": it is nobody's in a record, and what a command then
//! destroys of it comes back. While no command runs there is no manifest, and nothing is recorded should relay die.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use relaycode_snapshot::{EntryChangeKind, ImageReader, ImageWriter, KnownTree, TreeDifference};

use crate::disk::{Digest, StateDir};
use crate::recording::adopt::{self, ChangedTree, RecordingEnd, RecordingOutcome};
use crate::recording::secure::{
    CarriedEntries, EntryCheck, SecureInput, SecureOutcome, SecureProgress, SecureReport, secure_tree,
};
use crate::recording::store::{RecordingDirectory, RecordingStore, recording_stores};
use crate::recording::walk::{self, IgnoredPaths, RecordingTree, RecordingWalkBounds};
use crate::recording::{ENTRIES, LedgerInventory, RecordingManifest, SecuredTree, root};
use crate::transaction::{TransactionHeader, recover};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId};

/// Bytes that nobody refers to any more, behind which everything is secured anew.
const DEAD_BYTES: u64 = 256 * 1024 * 1024;

/// A recording: one command after the other runs, and what each changed becomes a record. If it is dropped while one runs,
/// the next recovery records what changed.
pub struct Recording<'l> {
    ledger: &'l Ledger,
    id: TxId,
    secured: Option<SecuredProject>,
    running: Option<RecordingManifest>,
}

/// What is secured, and where.
struct SecuredProject {
    own: RecordingDirectory,
    within_reach_reason: Option<String>,
    keeping: ImageWriter,
    ignored: IgnoredPaths,
    /// `None`: nothing yet.
    tree: Option<SecuredTree>,
    /// The digest of the tree's file; `None`: what is written down is not this one.
    written: Option<Digest>,
    report: SecureReport,
}

/// What is said of a command before it runs.
pub struct CommandScope<'s> {
    /// What the record is going to say.
    pub about: &'s TransactionHeader,
    /// What git ignores now, directories with a slash at the end. It is asked for only where that may have changed.
    pub ignored: &'s dyn Fn() -> Vec<String>,
    /// It may have changed, although no file did.
    pub is_ignored_stale: bool,
    /// Files, or directories with all in them, that the command is going to destroy. They are secured beyond the budgets.
    pub doomed: &'s [String],
    /// What it makes at protected names is set aside once it is recorded: until [`Recording::settle`] the recording stays.
    pub sets_aside: bool,
}

impl Ledger {
    /// A recording of which no command runs yet. Nothing is read or written.
    pub fn open_recording(&self) -> Recording<'_> {
        Recording { ledger: self, id: TxId::random(), secured: None, running: None }
    }

    /// Refuses if a command of another recording runs. The dead ones were dealt with before.
    fn refuse_if_recording(&self, state: &StateDir, own: TxId) -> LedgerResult<()> {
        let fs = state.fs();
        for place in recording_stores(self, Some(state)) {
            for id in place.list(fs)?.into_iter().filter(|id| *id != own) {
                let path = place.path_of(id);
                if !place.is_running(fs, id).context("look at", &path)? {
                    continue;
                }
                let told = (|| {
                    let dir = fs.open_dir(&place.open_all(fs).ok()?, &id.to_string()).ok()?;
                    let (manifest, _) = RecordingManifest::read(self, &dir, id, &path).ok()?;
                    Some((manifest.pid, manifest.told.prompt_summary.unwrap_or_default()))
                })();
                let (pid, command) = told.unwrap_or_default();
                return Err(LedgerError::RecordingActive { pid, command });
            }
        }
        Ok(())
    }

    /// Makes a recording's directory where no command in the project reaches it. Where that cannot be, in the project;
    /// and says why.
    fn make_recording_directory(
        &self,
        state: &StateDir,
        id: TxId,
    ) -> LedgerResult<(RecordingDirectory, Option<String>)> {
        let make = |place: RecordingStore| {
            let path = place.path_of(id);
            RecordingDirectory::make(state.fs(), place, id).context("make", &path)
        };
        let outside = RecordingStore::outside_project(self, true);
        let why = match outside.and_then(|place| place.map(make).transpose()) {
            Ok(Some(own)) => {
                let inside = root::home_is_inside(self);
                return Ok((own, inside.then(|| "relay's own directory lies in the project".to_string())));
            }
            Ok(None) => "relay has no directory of its own".to_string(),
            Err(error) => error.to_string(),
        };
        Ok((make(RecordingStore::inside_project(state))?, Some(why)))
    }
}

impl Recording<'_> {
    /// Secures the project, so that what changes from now on can be recorded.
    ///
    /// # Errors
    /// `RecordingActive` if a command of another recording runs in this project, `TransactionActive` if a change is just being applied: each would
    /// take the other's changes for its own. `Interrupted`; the system's.
    pub fn begin(
        &mut self,
        scope: &CommandScope<'_>,
        progress: &mut SecureProgress<'_>,
    ) -> LedgerResult<&SecureReport> {
        let ledger = self.ledger;
        // What the last command did could not be recorded, or was not asked for: that is the recovery's now.
        if self.running.take().is_some() {
            self.secured = None;
            self.id = TxId::random();
        }
        if root::reopen_ledger(ledger)?.is_some() {
            let path = ledger.path.display().to_string();
            return Err(LedgerError::RootGone { path, what: "was replaced by another directory" });
        }
        let state = ledger.make_state()?;
        let mut secured = match self.secured.take().filter(|secured| !secured.is_bloated()) {
            Some(secured) => secured,
            None => SecuredProject::make(ledger, &state, &mut self.id)?,
        };
        match secured.begin(ledger, &state, scope, progress) {
            Ok(manifest) => {
                self.running = Some(manifest);
                Ok(&self.secured.insert(secured).report)
            }
            Err(error) => {
                // What cannot be cleared now is cleared by the next recovery.
                let _ = secured.own.clear(&state);
                self.id = TxId::random();
                Err(error)
            }
        }
    }

    /// Records what changed since. `ignored` is asked for what git ignores now.
    ///
    /// # Errors
    /// The system's. What was secured is still there then, and the next recovery tries again.
    pub fn finish(
        &mut self,
        ended: RecordingEnd,
        ignored: &dyn Fn() -> Vec<String>,
    ) -> LedgerResult<RecordingOutcome> {
        let (Some(running), Some(mut secured)) = (self.running.take(), self.secured.take()) else {
            return Ok(RecordingOutcome::default());
        };
        let outcome = secured.finish(self.ledger, &running, ended, ignored)?;
        self.secured = Some(secured);
        if !running.sets_aside || outcome.committed.is_none() {
            self.settle();
        }
        Ok(outcome)
    }

    /// Says that what the last command did is recorded, and what had to be set aside is. Until then a recovery finds it.
    pub fn settle(&mut self) {
        let fs = &*self.ledger.fs;
        // Otherwise the next command cannot go on from here.
        self.secured = self.secured.take().filter(|secured| secured.own.settle(fs).unwrap_or(false));
        if self.secured.is_none() {
            self.id = TxId::random();
        }
    }

    /// Ends it: nothing of what was secured is needed any more.
    ///
    /// # Errors
    /// The system's; what is left is cleared by the next recovery.
    pub fn close(self) -> LedgerResult<()> {
        let (None, Some(secured)) = (self.running, self.secured) else { return Ok(()) };
        secured.own.clear(&self.ledger.make_state()?)
    }

    /// The transaction that the command that runs is going to be.
    pub fn command_id(&self) -> Option<TxId> {
        Some(self.running.as_ref()?.told.uuid)
    }

    /// What was secured last, and what was not.
    pub fn secure_report(&self) -> Option<&SecureReport> {
        Some(&self.secured.as_ref()?.report)
    }

    /// The path of the directory in which everything is secured, and whether it lies outside of the project.
    pub fn storage_path(&self) -> Option<(String, bool)> {
        let own = &self.secured.as_ref()?.own;
        Some((own.path(), own.store().is_outside))
    }

    /// What says that the recording is alive, for a process that ends the command should this one die: until then
    /// nobody may take the recording for dead.
    pub fn liveness_fd(&self) -> Option<OwnedFd> {
        self.secured.as_ref()?.own.lock.as_ref()?.descriptor()?.try_clone_to_owned().ok()
    }
}

impl SecuredProject {
    fn make(ledger: &Ledger, state: &StateDir, id: &mut TxId) -> LedgerResult<SecuredProject> {
        // One that was given up may still be there.
        *id = TxId::random();
        let (own, within_reach_reason) = {
            let _project = ledger.lock_project(state)?;
            // Where that cannot be noted, a recording that dies with its project's directory is set aside.
            let _ = ledger.note_checkout();
            ledger.make_recording_directory(state, *id)?
        };
        let keeping = ImageWriter::create(Arc::clone(&ledger.fs), own.dir.clone());
        let keeping = keeping.context("make", &own.path())?;
        let (ignored, report) = (IgnoredPaths::default(), SecureReport::default());
        Ok(SecuredProject { own, within_reach_reason, keeping, ignored, tree: None, written: None, report })
    }

    /// Whether most of what was kept is of no use any more.
    fn is_bloated(&self) -> bool {
        self.keeping.copied_bytes() > self.report.bytes.saturating_add(DEAD_BYTES)
    }

    fn begin(
        &mut self,
        ledger: &Ledger,
        state: &StateDir,
        scope: &CommandScope<'_>,
        progress: &mut SecureProgress<'_>,
    ) -> LedgerResult<RecordingManifest> {
        let path = self.own.path();
        let (began, number) = {
            let _project = ledger.lock_project(state)?;
            let (open, _) = recover::recover_dead(ledger, state)?;
            if let Some((id, pid)) = open.iter().find_map(|open| Some((open.id, open.pid?))) {
                return Err(LedgerError::TransactionActive { id, pid });
            }
            ledger.refuse_if_recording(state, self.own.id)?;
            (self.own.announce(state.fs()).context("write", &path)?, ledger.next_number()?)
        };
        self.look(ledger, state, began, scope, progress)?;
        self.secure_ledger(ledger, state, began)?;
        self.keeping.flush().context("write", &path)?;
        let Some(tree) = &self.tree else { return Err(LedgerError::Busy) };
        let digest = match self.written {
            Some(digest) => digest,
            None => *self.written.insert(tree.write(ledger, &self.own.dir)?),
        };
        let mut told = scope.about.clone();
        told.group.get_or_insert_with(|| told.uuid.to_string());
        let manifest = RecordingManifest::new(self.own.id, told, number, began, digest, scope.sets_aside);
        manifest.write(ledger, &self.own.dir)?;
        Ok(manifest)
    }

    /// Looks at the tree, and secures what of it is not secured yet.
    fn look(
        &mut self,
        ledger: &Ledger,
        state: &StateDir,
        began: (i64, u32),
        scope: &CommandScope<'_>,
        progress: &mut SecureProgress<'_>,
    ) -> LedgerResult<()> {
        let fs = state.fs();
        let mut is_stale = scope.is_ignored_stale;
        if self.tree.is_none() {
            self.ignored = IgnoredPaths::new(&ledger.root, &(scope.ignored)());
            is_stale = false;
        }
        let own_directory = root::own_directory_id(ledger);
        let walk = |ignored_paths: &IgnoredPaths, before: Option<&SecuredTree>| {
            let known = before.map(|before| &before.tree);
            let known = known.map(|tree| KnownTree { tree, is_beyond_cap: false, lends_names: true });
            let bounds = RecordingWalkBounds { ignored_paths, known, most: ENTRIES, own_directory, began };
            walk::walk(&ledger.root, &bounds)
        };
        let mut now = walk(&self.ignored, self.tree.as_ref())?;
        let check = EntryCheck { root: &ledger.root, images: ImageReader::open(fs, &self.own.dir) };
        let mut carried = CarriedEntries::default();
        if let Some(before) = &mut self.tree {
            let difference = TreeDifference::between(&before.tree, &now.snapshot);
            let is_same = difference.changes.is_empty() && difference.unknown.is_empty();
            let has_gaps = before.tree.has_gaps() || now.snapshot.has_gaps();
            let mut young = difference.racy.iter().filter_map(|change| change.before);
            if is_same
                && !has_gaps
                && !is_stale
                && scope.doomed.is_empty()
                && young.all(|id| check.holds_still(before, id))
            {
                before.tree.set_began(began);
                self.report.copied = 0;
                return Ok(());
            }
            if is_stale || changes_ignored(&difference, before, &now) {
                let ignored = IgnoredPaths::new(&ledger.root, &(scope.ignored)());
                // What is looked into now must be what is looked into after the command.
                if ignored != self.ignored {
                    self.ignored = ignored;
                    now = walk(&self.ignored, Some(&*before))?;
                }
            }
            carried = CarriedEntries::of(before, &now, &check);
        }
        let free = fs.free_bytes(&self.own.dir).context("look at", &self.own.path())?;
        let (keeping, ignored, doomed) = (&mut self.keeping, &self.ignored, scope.doomed);
        let input = SecureInput { root: &ledger.root, keeping, free, carried, ignored, doomed };
        let SecureOutcome { mut tree, report } = secure_tree(input, now, progress)?;
        tree.before = self.tree.take().map_or_else(LedgerInventory::default, |tree| tree.before);
        (self.tree, self.written) = (Some(tree), None);
        let within_reach_reason = self.within_reach_reason.clone();
        self.report = SecureReport { within_reach_reason, ..report };
        Ok(())
    }

    /// Secures what the ledger itself has, should the command remove it.
    fn secure_ledger(&mut self, ledger: &Ledger, state: &StateDir, began: (i64, u32)) -> LedgerResult<()> {
        let Some(tree) = &mut self.tree else { return Ok(()) };
        if !self.own.store().is_outside
            || (tree.before.is_known() && tree.before.is_current(ledger, state, began)?)
        {
            return Ok(());
        }
        let free = state.fs().free_bytes(&self.own.dir).context("look at", &self.own.path())?;
        let before = LedgerInventory::secure(ledger, state, &mut self.keeping, free / 2, &tree.before)?;
        if tree.before != before {
            (tree.before, self.written) = (before, None);
        }
        Ok(())
    }

    fn finish(
        &mut self,
        ledger: &Ledger,
        running: &RecordingManifest,
        ended: RecordingEnd,
        ignored: &dyn Fn() -> Vec<String>,
    ) -> LedgerResult<RecordingOutcome> {
        // The command may have put another directory where the project was, and nothing of what was open before need
        // be there any more.
        let another = root::reopen_ledger(ledger)?;
        let ledger = another.as_ref().unwrap_or(ledger);
        let Some(before) = &self.tree else { return Ok(RecordingOutcome::default()) };
        let mut now = walk::walk(&ledger.root, &adopt::walk_bounds(ledger, before, &self.ignored, true))?;
        let difference = TreeDifference::between(&before.tree, &now.snapshot);
        let state = ledger.make_state()?;
        let has_gaps = before.tree.has_gaps() || now.snapshot.has_gaps();
        if difference.is_empty()
            && !has_gaps
            && another.is_none()
            && before.before.is_whole(ledger, &state, before.tree.began())?
        {
            return Ok(RecordingOutcome::default());
        }
        if changes_ignored(&difference, before, &now) {
            self.ignored = IgnoredPaths::new(&ledger.root, &ignored());
            now.mark_ignored(&self.ignored);
        }
        let _project = ledger.lock_project(&state)?;
        let mut about = running.told.clone();
        (about.branch, about.head) = (ended.branch, ended.head);
        about.notes.extend(ended.notes);
        if another.is_some() {
            about.notes.push("the project's directory was replaced by another one while it ran".to_string());
        }
        let changed = ChangedTree { before, now: &now, ignored: &self.ignored };
        let outcome = adopt::adopt(ledger, &state, &self.own, &changed, &difference, about, running)?;
        // The record is there, and what is left of this the next recovery clears away. In another directory nothing of what
        // is open here could go on.
        let _ = match another {
            None => self.own.clear_scratch(&state),
            Some(_) => self.own.clear(&state),
        };
        Ok(outcome)
    }
}

/// Whether git may ignore something else now: there are names that were not there before, or what it goes by changed.
fn changes_ignored(difference: &TreeDifference, before: &SecuredTree, now: &RecordingTree) -> bool {
    let is_new = |kind| matches!(kind, EntryChangeKind::Created | EntryChangeKind::TypeChanged);
    let is_list = |path: &[u8]| path.ends_with(b".gitignore");
    let listed = difference.changes.iter().any(|change| {
        // What appears behind something that is ignored is ignored as well.
        let is_behind = change.after.is_some_and(|id| now.snapshot.mark(id) != 0);
        is_list(&change.path) || (is_new(change.kind) && !is_behind)
    });
    listed || (!difference.unknown.is_empty() && before.tree.has_gaps())
}
