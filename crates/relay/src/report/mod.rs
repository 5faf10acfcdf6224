//! What came of a command: for people, for machines, as a failure and as an exit code.

pub(crate) mod exit_codes;
pub(crate) mod failure;
pub(crate) mod json;
pub(crate) mod outcome;
pub(crate) mod render;
pub(crate) mod revert;
