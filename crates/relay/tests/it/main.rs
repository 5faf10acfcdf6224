//! Through the real binary: what a user types, and what comes back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod apply;
mod bad_input;
mod between;
mod completions;
mod demo;
mod ledger_faults;
mod ledger_hostile;
mod ledger_obstacles;
mod ledger_odd;
mod ledger_together;
mod log;
mod looks;
mod preview;
mod recover;
mod relay;
mod revert;
mod secrets;
mod show;
mod terminal;
mod tongue;
