//! The second half of the way: the change is on disk, and either stays or goes. `postCommand` and the linter
//! judge it; policy or a person accepts it; whatever happens, the transaction is committed or put back.

use jiff::Timestamp;
use relaycode_ledger::record::{Record, collect::RetentionPolicy};
use relaycode_ledger::{
    Digest, LedgerError, OpenTransaction,
    transaction::{CommitVerdict, WrittenDisplacedFiles},
};

use crate::approval::approver::{ApprovalQuestion, ApprovalReply, DoorEvent};
use crate::approval::rules::{self, ApprovalReason};
use crate::gate::{GateStep, run::run_step};
use crate::submit::outcome::{AppliedChange, SubmitOutcome};
use crate::submit::{AdmittedPlan, Submit, WayResult, changes};
use crate::{git::auto_branch, linter::LinterCount};

/// Why a change on disk does not stay.
enum PutBackReason {
    /// The user wanted it to stop.
    Interrupted,
    Declined(Option<String>),
    GateFailed(Vec<ApprovalReason>),
}

impl Submit<'_, '_> {
    /// Runs the gate, decides, and ends the transaction one way or the other.
    pub(crate) fn keep_or_put_back(
        mut self,
        mut open: OpenTransaction<'_>,
        admitted: AdmittedPlan,
        baseline: Option<&LinterCount>,
    ) -> WayResult<Box<SubmitOutcome>> {
        let files = changes(&admitted.plan).count();
        self.approver.on_event(&DoorEvent::FilesWritten { files });
        if let Err(error) = self.run_gate(&mut open, baseline) {
            self.put_back(open)?;
            // Something that is no file stands in the place of one: the commands' doing, so it is theirs.
            if matches!(error, LedgerError::Refused(_)) {
                let rules = vec![rules::gate::reason(format!("after the project's commands {error}"))];
                let (plan, gate) = (admitted.plan, self.gate);
                return Ok(Box::new(SubmitOutcome::GateFailed { plan, gate, rules }));
            }
            return Err(error.into());
        }
        let put_back = match self.accept(&open, &admitted) {
            Ok(()) => return self.commit(open, admitted),
            Err(put_back) => put_back,
        };
        self.put_back(open)?;
        let AdmittedPlan { plan, .. } = admitted;
        let gate = self.gate;
        Ok(Box::new(match put_back {
            PutBackReason::Interrupted => SubmitOutcome::Interrupted { put_back: true },
            PutBackReason::Declined(reason) => {
                SubmitOutcome::Declined { plan, reason, put_back: true, gate: Some(gate) }
            }
            PutBackReason::GateFailed(rules) => SubmitOutcome::GateFailed { plan, gate, rules },
        }))
    }

    fn put_back(&mut self, open: OpenTransaction<'_>) -> Result<(), LedgerError> {
        self.approver.on_event(&DoorEvent::PuttingBack);
        if let Some(WrittenDisplacedFiles { files, kept }) = open.put_back()? {
            let files = files.join(", ");
            let text =
                format!("while the check ran, something wrote to {files}; that version is kept in {kept}");
            self.approver.on_event(&DoorEvent::Remark { text: &text });
        }
        Ok(())
    }

    /// `postCommand` and the linter, on the change as it is on disk.
    fn run_gate(
        &mut self,
        open: &mut OpenTransaction<'_>,
        baseline: Option<&LinterCount>,
    ) -> Result<(), LedgerError> {
        let patch = &self.door.config().patch;
        let (post, linter) = (patch.post_command.trim(), patch.linter.trim());
        if !self.trusted || (post.is_empty() && linter.is_empty()) {
            return Ok(());
        }
        open.begin_gate()?;
        let mut counted = None;
        let mut well = true;
        if !post.is_empty() {
            let (report, _) = run_step(self.door, GateStep::PostCommand, &patch.post_command, self.approver);
            well = report.succeeded();
            self.gate.steps.push(report);
        }
        // What a failed command left half done is nothing to judge.
        if well && !linter.is_empty() {
            let (report, count) = run_step(self.door, GateStep::Linter, &patch.linter, self.approver);
            self.gate.steps.push(report);
            counted = count;
        }
        self.gate.reformatted = open.finish_gate()?;
        self.gate.set_error_counts(baseline, counted.as_ref());
        Ok(())
    }

    /// Whether the change stays.
    fn accept(&mut self, open: &OpenTransaction<'_>, admitted: &AdmittedPlan) -> Result<(), PutBackReason> {
        if self.approver.stop_requested() {
            return Err(PutBackReason::Interrupted);
        }
        let allowed_errors = self.door.config().patch.approval_on_error_count;
        let rules: Vec<ApprovalReason> =
            rules::all().iter().flat_map(|rule| rule.check_gate(&self.gate, allowed_errors)).collect();
        if rules.is_empty() {
            let by = if self.gate.linter().is_some() { "policy" } else { admitted.by.as_str() };
            self.record_decision("accept", by, &rules);
            return Ok(());
        }
        if rules.iter().all(|rule| self.submission.covers(rule)) {
            let by = self.consent_source(&rules);
            self.record_decision("accept", &by, &rules);
            return Ok(());
        }
        // Nobody looks: then it does not stay.
        if self.submission.consent.yes {
            return Err(PutBackReason::GateFailed(rules));
        }
        let digest = on_disk_digest(open);
        let (proposal, plan, gate) = (self.submission.proposal, &admitted.plan, &self.gate);
        let question = ApprovalQuestion::Keep { proposal, plan, digest, gate, rules: &rules };
        match self.approver.decide(&question) {
            ApprovalReply::Yes { digest: given } if given == digest => {
                let by = self.approver.name().to_string();
                self.record_decision("accept", &by, &rules);
                Ok(())
            }
            ApprovalReply::No { reason } => Err(PutBackReason::Declined(reason)),
            ApprovalReply::Stop => Err(PutBackReason::Interrupted),
            _ => Err(PutBackReason::GateFailed(rules)),
        }
    }

    fn commit(mut self, open: OpenTransaction<'_>, admitted: AdmittedPlan) -> WayResult<Box<SubmitOutcome>> {
        let ran = !self.gate.steps.is_empty();
        let verdict = CommitVerdict {
            decided_by: Some(admitted.by),
            rules: std::mem::take(&mut self.decisions),
            gate: ran.then(|| self.gate.to_record_text()),
        };
        let committed = open.commit(verdict)?;
        // Tidying up can wait for the next time.
        let _ = self.door.ledger.collect_daily(Timestamp::now().as_second(), &RetentionPolicy::default());
        let branch = self.create_branch(&committed.record);
        Ok(Box::new(SubmitOutcome::Applied(Box::new(AppliedChange {
            record: committed.record,
            plan: admitted.plan,
            digest: admitted.digest,
            gate: ran.then_some(self.gate),
            branch,
            sync_warning: committed.durability_doubt,
        }))))
    }

    /// A branch for the change, where the configuration wants one.
    fn create_branch(&mut self, record: &Record) -> Option<String> {
        if !self.trusted || !self.door.config().git.auto_git_branch {
            return None;
        }
        match auto_branch::create_change_branch(self.door, record) {
            Ok(name) => Some(name),
            Err(error) => {
                let text = format!("no branch was made for it: {error}");
                self.approver.on_event(&DoorEvent::Remark { text: &text });
                None
            }
        }
    }
}

/// The digest of what a transaction has on disk, the gate's own changes included.
fn on_disk_digest(open: &OpenTransaction<'_>) -> Digest {
    let mut text = String::new();
    for file in &open.record().result {
        let after = file.after.as_ref().map(|image| (image.hash, image.mode));
        text.push_str(&format!("{:?} {after:?}\n", file.path));
    }
    Digest::of(text.as_bytes())
}
