//! The drivers of tests, against the real programs.

#[cfg(target_os = "linux")]
mod desktops;
