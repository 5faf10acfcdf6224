//! The way in. A proposal from any source goes through [`Door::submit`] and comes out as an [`SubmitOutcome`]: it
//! is planned, judged, admitted, gated, put on disk by the ledger, accepted and recorded, or nothing changed.
//!
//! Two decisions are made here, both by policy where it may and by a person otherwise, and both say which
//! rule decided: *admit*, before anything is written, and *accept*, after the gate. This crate knows no
//! surface: whoever can ask a person brings an [`Approver`].

mod adopt;
pub mod approval;
pub mod door;
pub mod gate;
pub mod git;
mod instructions;
pub mod linter;
pub mod setup;
mod submit;

pub use adopt::{Adoption, RecordedCommand, SecuredProject};
pub use approval::approver::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent, PlanRevision};
pub use approval::rule::{AllowOption, ApprovalRule};
pub use door::{Door, PlanPreview};
pub use gate::GateReport;
pub use instructions::{InstructionsError, ModelInstructions};
pub use relaycode_ledger::Digest;
pub use submit::outcome::{AppliedChange, DoorError, SubmitOutcome};
pub use submit::plan_digest;
pub use submit::submission::{Consent, Submission, SubmissionOrigin};
