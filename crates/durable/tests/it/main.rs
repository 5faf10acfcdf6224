//! The crate from outside: what every file system must do, the model against the machine's, and
//! the explorer against writers that are right and wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod append_log;
mod contract;
mod crash_explorer;
mod model_matches_real;
