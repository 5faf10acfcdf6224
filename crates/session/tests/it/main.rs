//! Sessions through thick and thin: damage, crashes, full disks, other writers, older formats, pages.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod context;
mod crash;
#[cfg(target_os = "linux")]
mod export;
mod faults;
mod index;
mod kill;
mod migrate;
mod operations;
mod place;
mod salvage;
mod together;
