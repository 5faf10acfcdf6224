//! What the dialects that speak in diffs share: the lines of hunks, the headers of files, their
//! names, and writing all of it.

pub(super) mod files;
pub(super) mod lines;
mod names;
pub(super) mod print;
