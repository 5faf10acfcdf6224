//! The runner with real processes: what they print, how they end, and that nothing of them stays.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]
#![cfg(target_os = "linux")]

mod crash;
mod fence;
mod fixture;
mod live;
mod output;
mod startup;
mod terminal;
mod termination;
