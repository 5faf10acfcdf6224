//! What comes out: what became of a submission, and what could go wrong on the way.

use relaycode_change::plan::{Plan, PlanRefusal};
use relaycode_change::proposal::path::RelPath;
use relaycode_exec::ExecError;
use relaycode_ledger::{Digest, LedgerError, TxId, record::Record};
use relaycode_project::trust::{TrustError, TrustRequest};

use crate::approval::rules::ApprovalReason;
use crate::gate::{GateReport, StepReport};

/// What became of a submission.
#[derive(Debug)]
pub enum SubmitOutcome {
    /// It is in the project and in the ledger.
    Applied(Box<AppliedChange>),
    /// Everything that it wants was there already.
    AlreadyIn { plan: Plan },
    /// It does not match, is ambiguous, or breaks a rule. Nothing was changed.
    Refused(Box<PlanRefusal>),
    /// It is for another project. Nothing was changed.
    WrongProject { named: String, ours: String },
    /// It is in the ledger, or `other_content` is there under its id. Nothing was changed.
    AlreadyProcessed { id: TxId, other_content: bool },
    /// The project's commands are not trusted and nobody could be asked; `before` is what it wanted when the user last
    /// said yes. Nothing was changed.
    NotTrusted { wants: TrustRequest, before: Option<TrustRequest> },
    /// A person has to decide and there is nobody to ask. Nothing was changed.
    ApprovalRequired { plan: Plan, rules: Vec<ApprovalReason> },
    /// A person said no; `put_back`: it was on disk, and everything was put back.
    Declined { plan: Plan, reason: Option<String>, put_back: bool, gate: Option<GateReport> },
    /// A command that has to succeed before anything is written did not. Nothing was changed.
    PreCheckFailed { plan: Plan, step: StepReport },
    /// The gate said no. Everything was put back.
    GateFailed { plan: Plan, gate: GateReport, rules: Vec<ApprovalReason> },
    /// The user wanted it to stop; `put_back`: it was on disk, and everything was put back.
    Interrupted { put_back: bool },
    /// The files went on changing while it was planned. Nothing was changed.
    FilesUnstable { paths: Vec<RelPath> },
}

/// A change that is in.
#[derive(Debug)]
pub struct AppliedChange {
    pub record: Record,
    pub plan: Plan,
    /// The digest of what was shown, approved, applied and recorded.
    pub digest: Digest,
    /// What the project's commands said, if it has any and they ran.
    pub gate: Option<GateReport>,
    /// The branch that was made for it.
    pub branch: Option<String>,
    /// The disk reported this after the record was written.
    pub sync_warning: Option<String>,
}

/// What can go wrong on the way.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The ledger's errors: most leave the project as it was, and say so.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A command could not be watched.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// What the user trusts could not be written down.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A yes that was given for something else.
    #[error(
        "the approval was given for another plan ({given}) than the one at hand ({wanted}); nothing was changed"
    )]
    OtherDigest { given: Digest, wanted: Digest },
    /// A revision that does not fit the plan.
    #[error("{0}")]
    Revision(String),
}
