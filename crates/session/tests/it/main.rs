//! Sessions under stress: damage, crashes, full disks, other writers, older formats, pages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod concurrent;
mod context;
mod disk_faults;
#[cfg(target_os = "linux")]
mod export;
mod fixture;
mod index;
mod migrate;
mod power_cut;
mod process_kill;
mod random_operations;
mod salvage;
