//! Notifications and copying with real parts: a private message bus, a notification server on an invisible
//! screen, tmux; and with false buses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(target_os = "linux")]

mod desktop;
mod hostile_bus;
mod notify;
mod osc52;
