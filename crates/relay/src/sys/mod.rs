//! The one place for what differs by system.
//!
//! | item | promises | where the system cannot |
//! |---|---|---|
//! | `is_signal_ignored` | whether relay was started with this signal ignored, as `nohup` does with SIGHUP | `false`: the signal ends relay as usual |
//! | `CLIPBOARD_NEEDS_DISPLAY` | there is a clipboard only where the environment names a display | |
//! | `CLIPBOARD_KEEPS_TEXT` | the system keeps what is copied; else a process of relay's holds it | |
//! | `LIMITS` | what `relay doctor` says of a system on which relay promises less; `None` where nothing is missing | |

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::{CLIPBOARD_KEEPS_TEXT, CLIPBOARD_NEEDS_DISPLAY, LIMITS, is_signal_ignored};
#[cfg(target_os = "macos")]
pub(crate) use macos::{CLIPBOARD_KEEPS_TEXT, CLIPBOARD_NEEDS_DISPLAY, LIMITS, is_signal_ignored};
