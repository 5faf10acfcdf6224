//! The session file: lines in, rows out, and the one place that writes it.
//!
//! `lines` reads a file in pieces of bounded size, `probe` takes from a line what the tree needs without building the rest,
//! `scan` makes `row`s of all that can be saved and a `report` of what was odd, `tape` appends, `rewrite` makes a
//! whole file anew. Invariant: what is on disk is only ever added to, or replaced whole by a rename.

pub mod index;
pub(crate) mod lines;
pub mod load_report;
pub(crate) mod probe;
pub(crate) mod rewrite;
pub mod row;
pub(crate) mod scan;
pub(crate) mod session_file;
pub(crate) mod table;
