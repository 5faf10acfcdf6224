//! What the diff dialects share: the lines of hunks, the headers of files, their names, and printing.

pub(super) mod files;
pub(super) mod lines;
mod names;
pub(super) mod print;
