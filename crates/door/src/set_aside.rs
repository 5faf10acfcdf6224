//! What a command in a fence made or changed at a protected name (a hook, `.envrc`, editor settings) is taken out again before
//! anything else runs: another program could run it. Each file is an undo of that file's part of the command's record: journaled,
//! with every byte in the ledger, and brought back by a yes, or by `relay revert` of its own id: it is a member of the command's
//! entry in the log, and neither undo nor redo goes by it. What no record has a place for was moved away. The command's recording stays until that is done: if
//! relay is killed in between, the next one does it.

use std::path::Path;

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{FileRecord, Record};
use relaycode_ledger::{
    CommitVerdict, Ledger, LedgerResult, LogTarget, MovedFile, RevertOptions, SET_ASIDE_ORIGIN,
    TransactionHeader, TxId,
};
use relaycode_project::git::head;
use relaycode_project::protected::ProtectedPaths;

/// Protected files that are set aside after one command; more are named, and stay.
const SET_ASIDE: usize = 256;

/// What a command did at a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectedChange {
    Made,
    Changed,
    Removed,
}

/// A protected file that a command made or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedFile {
    /// Its path beneath the project.
    pub path: String,
    /// Why it is protected, as the rest of a sentence.
    pub why: &'static str,
    pub change: ProtectedChange,
}

/// What was set aside, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAsideReport {
    /// The files that are as before again, and the change that made them so. Taking that back keeps what the command made.
    pub files: Vec<(ProtectedFile, TxId)>,
    /// Those that no record has a place for: what stood there is elsewhere now, and where.
    pub moved: Vec<(ProtectedFile, String)>,
    /// Those that are as the command left them, and why.
    pub failed: Vec<(ProtectedFile, String)>,
}

impl SetAsideReport {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.moved.is_empty() && self.failed.is_empty()
    }
}

/// Whoever sets aside, and brings back.
#[derive(Clone, Copy)]
pub struct SetAsideRun<'a> {
    pub ledger: &'a Ledger,
    /// The project.
    pub root: &'a Path,
    /// The time now, ISO 8601 in UTC.
    pub now: &'a str,
}

impl SetAsideRun<'_> {
    /// Takes out what a recorded command made or changed at protected names, unless that was done before.
    pub(crate) fn set_aside(&self, record: &Record) -> SetAsideReport {
        let mut report = SetAsideReport::default();
        for (number, file) in record.result.iter().filter_map(protected_file).enumerate() {
            if number >= SET_ASIDE {
                report.failed.push((file, "there are too many".to_string()));
                continue;
            }
            let only = match RelPath::of_existing(&file.path) {
                Ok(path) => Some(path),
                // Without a file it would be the whole record.
                Err(error) => {
                    report.failed.push((file, error.to_string()));
                    continue;
                }
            };
            let options = RevertOptions { file: only, ..RevertOptions::default() };
            match self.take_back(record.uuid, record, &options) {
                Ok(Some(by)) => report.files.push((file, by)),
                Ok(None) => {}
                Err(error) => report.failed.push((file, error.to_string())),
            }
        }
        report
    }

    /// Does what a relay that was killed left to do after commands that are recorded.
    ///
    /// # Errors
    /// The ledger's.
    pub fn recover(&self) -> LedgerResult<SetAsideReport> {
        let mut all = SetAsideReport::default();
        self.ledger.settle_dead_recordings(&mut |record| {
            let report = self.set_aside(record);
            all.files.extend(report.files);
            all.failed.extend(report.failed);
        })?;
        Ok(all)
    }

    /// Brings back what the change `by` set aside: a person said yes.
    ///
    /// # Errors
    /// The ledger's; something else may have its name by now.
    pub fn keep(&self, by: TxId) -> LedgerResult<()> {
        let record = self.ledger.record(by)?;
        self.take_back(by, &record, &RevertOptions::default()).map(drop)
    }

    /// Takes back a change, or a file's part of it, as a member of the group of `record`; `None`: that was done already.
    fn take_back(&self, id: TxId, record: &Record, options: &RevertOptions) -> LedgerResult<Option<TxId>> {
        let reversal = self.ledger.plan_revert(&LogTarget::Transaction(id), options)?;
        if reversal.is_empty() {
            return Ok(None);
        }
        let head = head::read(self.root);
        let about = TransactionHeader {
            branch: head.branch,
            head: head.commit,
            group: record.group.clone(),
            ..TransactionHeader::new(TxId::random(), &record.project_id, self.now, SET_ASIDE_ORIGIN)
        };
        let about = reversal.header(about);
        let open = self.ledger.begin(&reversal.changes, about, &|| false)?;
        Ok(Some(open.commit(CommitVerdict::default())?.record.uuid))
    }
}

/// What was moved away, if its name is protected.
pub(crate) fn moved_file(moved: &MovedFile) -> Option<(ProtectedFile, String)> {
    let why = ProtectedPaths.matching(moved.path.as_ref())?;
    let change = if moved.was_there { ProtectedChange::Changed } else { ProtectedChange::Made };
    Some((ProtectedFile { path: moved.path.clone(), why, change }, moved.place.clone()))
}

/// A file of a record, if its name is protected; of one that was renamed either name.
fn protected_file(file: &FileRecord) -> Option<ProtectedFile> {
    let matching = |path: &str| ProtectedPaths.matching(path.as_ref());
    let old = file.renamed_from.as_deref();
    let (path, why, change) = match (matching(&file.path), old.and_then(|old| Some((old, matching(old)?)))) {
        (Some(why), _) => (
            file.path.as_str(),
            why,
            match (file.before.filter(|_| old.is_none()), file.after) {
                (None, _) => ProtectedChange::Made,
                (_, None) => ProtectedChange::Removed,
                _ => ProtectedChange::Changed,
            },
        ),
        (None, Some((old, why))) => (old, why, ProtectedChange::Removed),
        (None, None) => return None,
    };
    Some(ProtectedFile { path: path.to_string(), why, change })
}
