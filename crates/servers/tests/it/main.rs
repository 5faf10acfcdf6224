//! The server in this process: a program that reads slowly or not at all, and many events.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they measured"
)]
#![cfg(target_os = "linux")]

mod fixture;
mod slow_reader;
