//! The friend codex with the real codex.

mod access;
mod answers;
mod failures;
mod fixture;
