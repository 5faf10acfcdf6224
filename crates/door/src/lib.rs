//! The way in. A proposal from any source goes through [`Door::submit`] and comes out as an outcome: it is
//! planned, judged, admitted, gated, put on disk by the ledger, accepted and recorded, or nothing changed.
//!
//! Two decisions are made here, both by policy where it may and by a person otherwise, and both say which
//! rule decided: *admit*, before anything is written, and *accept*, after the gate. This crate knows no
//! surface: whoever can ask a person brings an [`Approver`].

pub mod approver;
pub mod count;
pub mod gate;
pub mod guarded;
pub mod rule;

pub use approver::{Approver, Event, Question, Reply, Revision};
pub use gate::GateReport;
pub use rule::Rule;
