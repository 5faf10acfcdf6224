//! The session crate from outside: files, processes and pages as they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

#[cfg(target_os = "linux")]
mod export;
