//! The system's clipboard behind one trait: noticing that it changed, and reading it within bounds.
//!
//! Where the platform reports changes (X11 with XFIXES, Wayland with a data-control protocol) nothing runs
//! until one comes; elsewhere the clipboard is polled. Content is read only as text, no more than asked
//! for, and never waited for longer than allowed: its owner may be gone, hang or lie.

mod backend;
pub(crate) mod poll;
mod polled_backend;
mod stop;

use std::path::PathBuf;
use std::time::Duration;

pub use backend::{ClipboardBackend, open};
pub(crate) use polled_backend::open_polled_clipboard;
pub(crate) use stop::WatchThread;
pub use stop::{WatchStopGuard, WatchStopSignal, stop_pair};

pub trait Clipboard: Send {
    /// For people: `X11`, `Wayland`, `macOS`, `Windows`.
    fn name(&self) -> &'static str;

    /// Whether it reports changes itself; otherwise it is polled.
    fn notifies_changes(&self) -> bool;

    /// Waits for new content. A clipboard that does not report changes is polled every `interval`. What was
    /// there before the first call is not new, nor is what was read last.
    ///
    /// # Errors
    /// If the clipboard is gone for good.
    fn wait(&mut self, interval: Duration, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake>;

    /// Reads the current text: at most `most` bytes, waiting at most `patience`.
    ///
    /// # Errors
    /// If the clipboard is gone for good. An owner that does not answer is not an error:
    /// [`ClipboardContent::Silent`].
    fn read(&mut self, most: usize, patience: Duration) -> ClipboardResult<ClipboardContent>;
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardWake {
    Changed,
    /// The stop signal came.
    Stopped,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    Text(String),
    Empty,
    /// relay's own copy, which is not read. Only clipboards that report changes know this.
    OwnCopy,
    /// Marked as a secret by a password manager; not read.
    Secret,
    /// Offers no text: an image, files.
    NotText,
    /// Text that is not valid UTF-8.
    NotUtf8,
    /// More text than asked for; none of it is kept.
    TooLarge,
    /// Its owner did not deliver it in time, or not to the end.
    Silent,
}

/// Where the user's displays are, from the environment; this crate does not read it itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisplayAddresses {
    /// The compositor's socket: `WAYLAND_DISPLAY` in `XDG_RUNTIME_DIR`, if set.
    pub wayland: Option<PathBuf>,
    /// `DISPLAY`, if set.
    pub x11: Option<String>,
}

/// The clipboard became unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the clipboard ({name}) is gone: {why}")]
pub struct ClipboardError {
    /// As in [`Clipboard::name`].
    pub name: &'static str,
    pub why: String,
}

/// An error: the clipboard is gone for good.
pub type ClipboardResult<T> = Result<T, ClipboardError>;

/// Why there is no clipboard to watch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClipboardUnavailable {
    /// No sign of a desktop.
    #[error("there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)")]
    NoDesktop,
    /// The compositor lets only the focused window read.
    #[error(
        "this Wayland compositor lets no program watch the clipboard (it offers no data-control protocol), and there is no X11 display that answers beside it"
    )]
    NoDataControl,
    /// Turned off by the user.
    #[error("the clipboard is switched off")]
    Off,
    #[error("the clipboard ({name}) cannot be reached: {why}")]
    Unreachable { name: &'static str, why: String },
}
