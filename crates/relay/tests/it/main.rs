//! Through the real binary: what a user types, and what comes back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod bad_input;
mod demo;
mod looks;
mod preview;
mod relay;
