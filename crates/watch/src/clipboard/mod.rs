//! The system's clipboard behind one trait: noticing that it changed, and reading it within bounds.
//!
//! Where the platform tells of changes (X11 with XFIXES, Wayland with a data-control protocol) nothing runs
//! until one comes; elsewhere the clipboard is looked at every so often. Content is read only as text, at most as
//! much as is asked for, and never waited for longer than is allowed: its owner may be gone, hang or lie.

mod backend;
#[cfg(unix)]
pub(crate) mod poll;
mod polling;
mod stop;
#[cfg(target_os = "linux")]
pub(crate) mod text_format;
#[cfg(target_os = "linux")]
pub(crate) mod wayland;
#[cfg(target_os = "linux")]
pub(crate) mod x11;

use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
pub(crate) use backend::open_first;
pub use backend::{ClipboardBackend, open};
pub use stop::{WatchStopGuard, WatchStopSignal, stop_pair};

/// A clipboard of the system.
pub trait Clipboard: Send {
    /// What it is called: `X11`, `Wayland`, `macOS`, `Windows`.
    fn name(&self) -> &'static str;

    /// Whether it tells of changes itself; else it is looked at every so often.
    fn notifies_changes(&self) -> bool;

    /// Waits until something new may be there. A clipboard that does not tell is looked at once per
    /// `interval`. What was there before the first call is not new, nor is what was read last.
    ///
    /// # Errors
    /// If the clipboard is gone for good.
    fn wait(&mut self, interval: Duration, stop: &WatchStopSignal) -> Result<ClipboardWake, ClipboardError>;

    /// What is there now: text of at most `most` bytes, waited for no longer than `patience`.
    ///
    /// # Errors
    /// If the clipboard is gone for good. An owner that does not answer is no error: [`ClipboardContent::Silent`].
    fn read(&mut self, most: usize, patience: Duration) -> Result<ClipboardContent, ClipboardError>;
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardWake {
    /// Something new may be there.
    Changed,
    /// Somebody said stop.
    Stopped,
}

/// What is on a clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    /// Text.
    Text(String),
    /// Nothing at all.
    Empty,
    /// What relay itself copied: it is not read. Only clipboards that tell of changes know this.
    OwnCopy,
    /// What a password manager marked as a secret: it is not read.
    Secret,
    /// Something that offers no text: an image, files.
    NotText,
    /// Text that is not UTF-8.
    NotUtf8,
    /// More text than was asked for; none of it is kept.
    TooLarge,
    /// Its owner did not hand it over in time, or not to the end.
    Silent,
}

/// Where the user's clipboards are to be found: what the environment says, read by whoever has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisplayAddresses {
    /// The compositor's socket: `WAYLAND_DISPLAY` in `XDG_RUNTIME_DIR`, if set.
    pub wayland: Option<PathBuf>,
    /// `DISPLAY`, if set.
    pub x11: Option<String>,
}

/// The clipboard can no longer be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the clipboard ({name}) is gone: {why}")]
pub struct ClipboardError {
    /// What it is called.
    pub name: &'static str,
    /// What happened.
    pub why: String,
}

/// There is no clipboard that can be watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClipboardUnavailable {
    /// Nothing says that there is a desktop.
    #[error("there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)")]
    NoDesktop,
    /// The compositor lets only the focused window read.
    #[error(
        "this Wayland compositor lets no program watch the clipboard (it offers no data-control protocol), and there is no X11 display that answers beside it"
    )]
    NoDataControl,
    /// Nobody wants one.
    #[error("the clipboard is switched off")]
    Off,
    /// It cannot be reached.
    #[error("the clipboard ({name}) cannot be reached: {why}")]
    Unreachable {
        /// What it is called.
        name: &'static str,
        /// What happened.
        why: String,
    },
}
