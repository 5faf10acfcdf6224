//! The way in. A proposal from any source goes through [`Door::submit`] and comes out as an [`SubmitOutcome`]: it
//! is planned, judged, admitted, gated, put on disk by the ledger, accepted and recorded, or nothing changed.
//!
//! Two decisions are made here, both by policy where it may and by a person otherwise, and both say which
//! rule decided: *admit*, before anything is written, and *accept*, after the gate. This crate knows no
//! surface: whoever can ask a person brings an [`Approver`].

mod accept;
mod admit;
mod adopt;
pub mod approver;
mod auto_branch;
pub mod commit_plan;
pub mod door;
pub mod gate;
pub mod guarded;
mod instructions;
pub mod linter;
mod metadata;
pub mod outcome;
mod plan_guard;
pub mod rule;
pub mod setup;
pub mod submission;
mod submit;

pub use adopt::{Adoption, RecordedCommand, SecuredProject};
pub use approver::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent, PlanRevision};
pub use door::{Door, PlanPreview};
pub use gate::GateReport;
pub use instructions::{InstructionsError, ModelInstructions};
pub use outcome::{AppliedChange, DoorError, SubmitOutcome};
pub use relaycode_ledger::Digest;
pub use rule::{AllowOption, ApprovalRule};
pub use submission::{Consent, Submission, SubmissionOrigin};
pub use submit::plan_digest;
