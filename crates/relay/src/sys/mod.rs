//! The one place for what differs by system.
//!
//! | function | promises | where the system cannot |
//! |---|---|---|
//! | `is_signal_ignored` | whether relay was started with this signal ignored, as `nohup` does with SIGHUP | `false`: the signal ends relay as usual |

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::is_signal_ignored;
#[cfg(target_os = "macos")]
pub(crate) use macos::is_signal_ignored;
