//! What a command made or changed at a protected name (a hook, `.envrc`, editor settings) is taken out again before
//! anything else runs: another program could run it. Each file is an undo of that file's part of the command's record: journaled,
//! with every byte in the ledger, and brought back by a yes, or by `relay redo`.

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::Record;
use relaycode_ledger::{
    CommitVerdict, LedgerResult, LogTarget, RevertOptions, RevertStep, TransactionHeader, TxId,
};

use crate::door::Door;

/// Protected files that are set aside after one command; more are named, and stay.
const SET_ASIDE: usize = 256;

/// A protected file that a command made or changed, and that is as before again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideFile {
    /// Its path beneath the project.
    pub path: String,
    /// The change that took it out. Taking that back keeps what the command made.
    pub by: TxId,
}

/// What was set aside, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAsideReport {
    pub files: Vec<SetAsideFile>,
    /// The path, and why it is still there.
    pub failed: Vec<(String, String)>,
}

impl Door {
    /// Takes out what a recorded command made or changed at protected names; `now` is the time, ISO 8601 in UTC.
    pub(crate) fn set_aside(
        &self,
        record: &Record,
        is_protected: &dyn Fn(&str) -> bool,
        now: &str,
    ) -> SetAsideReport {
        let mut report = SetAsideReport::default();
        let protected = record.result.iter().filter(|file| is_protected(&file.path));
        for (number, file) in protected.enumerate() {
            let path = file.path.clone();
            if number >= SET_ASIDE {
                report.failed.push((path, "there are too many".to_string()));
                continue;
            }
            let options = RevertOptions { file: RelPath::parse(&path).ok(), ..RevertOptions::default() };
            match self.take_back(record.uuid, &options, RevertStep::Undo, now) {
                Ok(by) => report.files.push(SetAsideFile { path, by }),
                Err(error) => report.failed.push((path, error.to_string())),
            }
        }
        report
    }

    /// Brings back what was set aside: a person said yes.
    ///
    /// # Errors
    /// The ledger's; something else may have its name by now.
    pub fn keep_set_aside(&self, file: &SetAsideFile, now: &str) -> LedgerResult<TxId> {
        self.take_back(file.by, &RevertOptions::default(), RevertStep::Redo, now)
    }

    fn take_back(
        &self,
        id: TxId,
        options: &RevertOptions,
        step: RevertStep,
        now: &str,
    ) -> LedgerResult<TxId> {
        let reversal = self.ledger.plan_revert(&LogTarget::Transaction(id), options)?;
        let head = self.head();
        let about = TransactionHeader {
            branch: head.branch,
            head: head.commit,
            ..TransactionHeader::new(TxId::random(), &self.project_id(), now, step.name())
        };
        let about = reversal.header(about);
        let open = self.ledger.begin(&reversal.changes, about, &|| false)?;
        Ok(open.commit(CommitVerdict::default())?.record.uuid)
    }
}
