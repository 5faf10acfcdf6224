//! The crate with real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]
#![cfg(target_os = "linux")]

mod acp;
mod ask;
mod claude;
mod codex;
mod fake_friends;
mod keeper_fixture;
mod model;
mod model_failures;
mod real;
mod review;
mod unknown_version;
mod work;
