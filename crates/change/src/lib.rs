//! From a response to a plan, without touching anything.
//!
//! ```text
//! text ──response──► Proposal ──plan──► Plan (bytes before and after, provenance, findings)
//!                       │                 └─ or PlanRefusal (every reason) ──prompt::repair──► prompt
//!                    dialects, matching
//! ```
//!
//! This crate is pure: bytes in, plan out. It does no I/O, knows no disk, no clock (except as the time budget
//! of [`syntax`]), no git and no terminal. What is never allowed here is a *wrong* plan: if a place is not
//! certain the engine refuses and says why.
//!
//! | module | for |
//! |---|---|
//! | [`response`] | text to proposal: fences, headers, surroundings, control block |
//! | [`dialect`] | the ways to write an edit, one file each behind one trait; never looks at the project |
//! | [`proposal`] | what was understood: operations, control block, reasoning, unread blocks; also checked paths, limits and the work budget. Every dialect yields `Hunk`s |
//! | [`hashline`] | edits that name lines by number and hash, and what their author was shown |
//! | [`lines`] | bytes to lines and back, so that untouched lines keep their bytes; the line diff; three-way merge |
//! | [`matching`] | the ladder: one file per rung, which of several places is meant, indentation carried over |
//! | [`plan`] | a proposal against a tree, all of it or nothing: the report, findings, revising a plan by hand |
//! | [`diff`] | unified diffs of a plan, and which words of a line changed |
//! | [`syntax`] | new syntax errors, within a time budget, syntax classes for colours, outlines of long files |
//! | [`prompt`] | instructions for a model, and repair prompts after a refusal |

pub mod dialect;
pub mod diff;
pub mod hashline;
pub mod lines;
pub mod matching;
pub mod plan;
pub mod prompt;
pub mod proposal;
pub mod response;
pub mod syntax;
