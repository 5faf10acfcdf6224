//! Clipboards of real servers: Xvfb with xclip and xsel, sway with wl-clipboard. What is not installed is
//! skipped, with a message.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they skip"
)]
#![cfg(target_os = "linux")]

mod compositor;
mod display_servers;
mod hold;
mod polled;
mod support;
mod wayland;
mod x11;
mod x11_owners;
