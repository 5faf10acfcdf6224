//! The one place for what differs by system: the desktop's notifications.
//!
//! A system provides a `DesktopNotifier`:
//!
//! | function | promises | where the system cannot |
//! |---|---|---|
//! | `find` | a way to the desktop that this person looks at; connects to nothing yet | `None`: the terminal is used |
//! | `show` | returns within [`SHOWN_WAIT`](crate::notify::SHOWN_WAIT), `true` only if it is known to be shown | `false`: the terminal is used as well |
//! | `probe` | who would show notifications, within [`DEADLINE`](crate::notify::DEADLINE); shows none | what it found |
//!
//! Terminals are the same everywhere and need no seam.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::DesktopNotifier;
#[cfg(target_os = "macos")]
pub(crate) use macos::DesktopNotifier;
