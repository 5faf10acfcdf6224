//! The tools themselves, one file or folder each.

pub(crate) mod ask;
pub(crate) mod bash;
pub(crate) mod checkpoint;
pub(crate) mod edit;
pub(crate) mod exit_plan;
pub(crate) mod find;
pub(crate) mod goal;
pub(crate) mod job;
pub(crate) mod read;
pub(crate) mod search;
pub(crate) mod todo_write;
pub(crate) mod write;
