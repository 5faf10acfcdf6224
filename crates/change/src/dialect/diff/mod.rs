//! What the diff dialects share: the lines of hunks, the headers of files, their names, the mails around them, and printing.

pub(super) mod files;
pub(super) mod lines;
pub(crate) mod mail;
mod names;
pub(super) mod print;
