//! This crate with real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]
#![cfg(target_os = "linux")]

mod acp;
mod keeper;
mod not_reading;
