//! Notifications and copying with real parts: a private message bus, a notification server on a
//! screen that nobody sees, tmux; and with buses that are none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(target_os = "linux")]

mod desktop;
mod hostile_bus;
mod notify;
mod osc52;
