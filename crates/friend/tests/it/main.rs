//! The crate with real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]
#![cfg(target_os = "linux")]

mod ask;
mod by_acp;
mod claude;
mod codex;
mod fakes;
mod model;
mod model_faults;
mod real;
mod review;
mod stage;
mod unknown;
mod work;
