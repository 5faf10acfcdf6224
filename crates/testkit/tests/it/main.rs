//! The test drivers, against the real programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(target_os = "linux")]

mod desktops;
mod model;
mod notifications;
mod real;
mod screen;
