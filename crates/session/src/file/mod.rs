//! The session file: lines in, rows out, and the one place that writes it.
//!
//! `lines` reads a file in pieces of bounded size, `probe` takes from a line what the tree needs without
//! building the rest, `scan` makes `row`s of everything that can be saved and a `load_report` of the
//! problems, `session_file` appends, `rewrite` replaces a whole file. Invariant: the file on disk is only
//! ever appended to, or replaced whole by a rename.

pub mod index;
pub(crate) mod lines;
pub mod load_report;
pub(crate) mod probe;
pub(crate) mod rewrite;
pub mod row;
pub(crate) mod scan;
pub(crate) mod session_file;
pub(crate) mod table;

pub(crate) use lines::{MAX_LINE_BYTES, for_each_line};
pub(crate) use probe::EntryProbe;
pub(crate) use rewrite::{copy_range, remove_if_exists};
pub(crate) use row::parse_millis;
pub(crate) use session_file::{FileTarget, SessionFile, file_stem};
pub(crate) use table::EntryTable;
