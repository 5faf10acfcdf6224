//! `ask`, `review`, `do` and `friends` with programs that play friends.

pub(crate) mod ask_report;
pub(crate) mod bad_usage;
pub(crate) mod cost;
pub(crate) mod do_failures;
pub(crate) mod do_misplaced;
pub(crate) mod faulty;
pub(crate) mod fixture;
pub(crate) mod git_repositories;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod spec_core;
pub(crate) mod tree_check;
