//! Going back to a mark inside a group of changes: what came into the group after it is taken back, as one more change of the
//! group. So the group stays one entry of the log, and is still undone as a whole.

use relaycode_ledger::record::RecordedOperation;
use relaycode_ledger::{
    CommitVerdict, LedgerError, LogTarget, RevertOptions, RevertPlan, TransactionHeader, TxId,
};
use relaycode_text::redact::redact;

use crate::door::Door;
use crate::submit::outcome::DoorError;

/// Where to go back to.
#[derive(Debug, Clone)]
pub struct RewindMark<'a> {
    pub group: &'a str,
    /// The members that the group had.
    pub members: &'a [TxId],
    /// Of the record: where it comes from.
    pub origin: &'a str,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
}

impl Door {
    /// The members of a group, newest first; none if there is no such group.
    ///
    /// # Errors
    /// The ledger's.
    pub fn group_members(&self, group: &str) -> Result<Vec<TxId>, DoorError> {
        match self.ledger.find_target(group) {
            Ok(LogTarget::Group { members, .. }) => Ok(members),
            Ok(LogTarget::Transaction(_)) | Err(LedgerError::UnknownTransaction { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes back what came into the group after the mark. `None`: nothing did, or nothing of it is left.
    ///
    /// # Errors
    /// The ledger's: `RevertConflict` if somebody has edited the same lines since. Nothing was changed then.
    pub fn rewind(
        &self,
        mark: &RewindMark<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<RevertPlan>, DoorError> {
        let mut members = self.group_members(mark.group)?;
        members.retain(|id| !mark.members.contains(id));
        if members.is_empty() {
            return Ok(None);
        }
        let target = LogTarget::Group { id: mark.group.to_string(), members };
        let plan = self.ledger.plan_revert(&target, &RevertOptions::default())?;
        if plan.reverts.is_empty() {
            return Ok(None);
        }
        let head = self.head();
        let about = TransactionHeader::new(TxId::random(), &self.project_id(), &mark.now, mark.origin);
        let about = plan.header(about);
        let about = TransactionHeader {
            group: Some(mark.group.to_string()),
            branch: head.branch,
            head: head.commit,
            notes: plan.notes.clone(),
            operations: redacted_operations(about.operations),
            ..about
        };
        let verdict = CommitVerdict { decided_by: Some(mark.origin.to_string()), ..CommitVerdict::default() };
        self.ledger.begin(&plan.changes, about, stop)?.commit(verdict)?;
        Ok(Some(plan))
    }
}

/// As an author's words are: what stands in the files themselves is kept as it is.
pub fn redacted_operations(operations: Vec<RecordedOperation>) -> Vec<RecordedOperation> {
    let redacted = |operation| match operation {
        RecordedOperation::Write { path, content, patch_strategy } => {
            RecordedOperation::Write { path, content: redact(&content).into_owned(), patch_strategy }
        }
        other => other,
    };
    operations.into_iter().map(redacted).collect()
}
