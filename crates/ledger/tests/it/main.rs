//! The ledger from outside, on a real disk: what its errors promise about the project.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod entries;
mod error_states;
mod record;
