//! Which clipboard is used. The default is one that reports changes: Wayland's if the compositor lets
//! programs watch it, else X11's (also XWayland's); on other systems their own, polled.

use super::{Clipboard, ClipboardUnavailable, DisplayAddresses};
use crate::sys;

/// The user's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClipboardBackend {
    /// The best available.
    #[default]
    Auto,
    /// Wayland's only.
    Wayland,
    /// X11's only.
    X11,
    /// Whatever the system has, polled.
    Poll,
    /// Don't watch.
    None,
}

impl ClipboardBackend {
    /// Each with its name, in the order in which they are shown.
    pub const ALL: [(&'static str, ClipboardBackend); 5] = [
        ("auto", ClipboardBackend::Auto),
        ("wayland", ClipboardBackend::Wayland),
        ("x11", ClipboardBackend::X11),
        ("poll", ClipboardBackend::Poll),
        ("none", ClipboardBackend::None),
    ];

    #[must_use]
    pub fn from_name(name: &str) -> Option<ClipboardBackend> {
        ClipboardBackend::ALL.into_iter().find(|known| known.0 == name).map(|known| known.1)
    }
}

/// # Errors
/// If there is none, or it cannot be watched; of several reasons the most helpful one.
pub fn open(
    desktop: &DisplayAddresses,
    choice: ClipboardBackend,
) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    sys::open_clipboard(desktop, choice)
}
