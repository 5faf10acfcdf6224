//! From a response to a plan, without touching anything.
//!
//! ```text
//! text ──response──► Proposal ──plan──► Plan (bytes before and after, provenance, findings)
//!                       │                 └─ or Refused (every reason) ──repair──► prompt
//!                    dialects, matching
//! ```
//!
//! This crate is pure: bytes in, plan out. It does no I/O, knows no disk, no clock, no git and no
//! terminal. What is never allowed here is a *wrong* plan: where a place is not certain the engine
//! refuses and says why.

pub mod dialect;
pub mod diff;
pub mod lines;
pub mod matching;
pub mod plan;
pub mod prompt;
pub mod proposal;
pub mod response;
pub mod syntax;
