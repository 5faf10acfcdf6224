//! The way in. A proposal from any source goes through [`Door::submit`] and comes out as an [`Outcome`]: it
//! is planned, judged, admitted, gated, put on disk by the ledger, accepted and recorded, or nothing changed.
//!
//! Two decisions are made here, both by policy where it may and by a person otherwise, and both say which
//! rule decided: *admit*, before anything is written, and *accept*, after the gate. This crate knows no
//! surface: whoever can ask a person brings an [`Approver`].

mod about;
mod admit;
mod adopt;
pub mod approver;
mod branch;
pub mod commit;
pub mod count;
pub mod door;
pub mod gate;
pub mod guarded;
mod instructions;
mod keep;
mod lent;
pub mod outcome;
pub mod rule;
pub mod setup;
pub mod submission;
mod submit;

pub use adopt::{Adoption, Recordable, Watched};
pub use approver::{Approver, Event, Question, Reply, Revision};
pub use door::{Door, Preview};
pub use gate::GateReport;
pub use instructions::{Instructions, InstructionsError};
pub use outcome::{Applied, DoorError, Outcome};
pub use relaycode_ledger::Digest;
pub use rule::{Allow, Rule};
pub use submission::{Consent, Origin, Submission};
pub use submit::digest;
