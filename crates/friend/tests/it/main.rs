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
mod fake_friends;
mod friends;
mod keeper_fixture;
mod real;
mod review;
mod work;
