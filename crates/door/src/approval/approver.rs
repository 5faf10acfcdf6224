//! Who says yes. A surface (terminal, page, editor) implements [`Approver`]; the door asks it only when no
//! policy may decide, and a yes counts only for what was shown: it carries the digest of it.

use relaycode_change::plan::Plan;
use relaycode_change::proposal::{Proposal, path::RelPath};
use relaycode_ledger::{Digest, TxId};
use relaycode_project::trust::TrustRequest;

use crate::approval::rules::ApprovalReason;
use crate::gate::{GateReport, GateStep};

/// Somebody who can be asked, and who is told how it goes.
pub trait Approver {
    /// What it is called in records: `terminal`, `page` …
    fn name(&self) -> &'static str;

    /// Answers a question. A yes names the digest of what was shown ([`ApprovalQuestion::yes`]).
    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply;

    /// Hears how it goes, between questions.
    fn on_event(&mut self, event: &DoorEvent<'_>);

    /// Whether the user wants everything to stop. Asked often.
    fn stop_requested(&self) -> bool;
}

/// What a person has to decide.
#[derive(Debug, Clone, Copy)]
pub enum ApprovalQuestion<'a> {
    /// Run these commands from now on? Asked before anything else is done; `before` is what it wanted when the user last
    /// said yes.
    Trust { wants: &'a TrustRequest, before: Option<&'a TrustRequest> },
    /// The id of another answer that is in the ledger already: is this a new change?
    NewChange { id: TxId, answer: Digest },
    /// Put this on disk? Nothing was written yet.
    Apply { proposal: &'a Proposal, plan: &'a Plan, digest: Digest, rules: &'a [ApprovalReason] },
    /// It is on disk with this digest, the gate has spoken: keep it?
    Keep {
        proposal: &'a Proposal,
        plan: &'a Plan,
        digest: Digest,
        gate: &'a GateReport,
        rules: &'a [ApprovalReason],
    },
}

impl ApprovalQuestion<'_> {
    /// The digest of what the question is about.
    pub fn digest(&self) -> Digest {
        match self {
            ApprovalQuestion::Trust { wants, .. } => Digest::of(wants.canonical_text().as_bytes()),
            ApprovalQuestion::NewChange { answer, .. } => *answer,
            ApprovalQuestion::Apply { digest, .. } | ApprovalQuestion::Keep { digest, .. } => *digest,
        }
    }

    /// A yes to exactly this.
    pub fn yes(&self) -> ApprovalReply {
        ApprovalReply::Yes { digest: self.digest() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalReply {
    /// Yes, to what has this digest.
    Yes { digest: Digest },
    /// No; the reason is in their words.
    No { reason: Option<String> },
    /// Not like this: with these changes. What comes of it is asked about again. Only for `Apply`.
    Revise(Vec<PlanRevision>),
    /// The user wants everything to stop.
    Stop,
    /// There is nobody to ask.
    Unavailable,
}

/// What a person wants changed about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanRevision {
    /// Leave this file as it is.
    LeaveOut(RelPath),
    /// Of this file's diff, carry out only these hunks (0 is the first).
    OnlyHunks(RelPath, Vec<usize>),
    /// Let this file's text be this.
    Text(RelPath, Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
pub enum DoorEvent<'a> {
    /// A plan was admitted without asking anybody: it is about to be carried out.
    Admitted { proposal: &'a Proposal, plan: &'a Plan, digest: Digest },
    /// A command of the project begins.
    StepStarted { step: GateStep, command: &'a str },
    /// It printed these bytes, which are not safe for a terminal.
    StepOutput { bytes: &'a [u8] },
    /// It ended.
    StepFinished { report: &'a crate::gate::StepReport },
    /// The files are on disk, not yet kept.
    FilesWritten { files: usize },
    /// They are being put back.
    PuttingBack,
    /// Files changed since they were shown: it is planned again.
    Replanned { paths: &'a [RelPath] },
    /// Something worth a line that decides nothing; it may quote foreign text.
    Remark { text: &'a str },
}
