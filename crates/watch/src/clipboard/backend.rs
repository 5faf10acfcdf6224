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
    /// In the order in which they are shown.
    pub const NAMES: [&'static str; 5] = ["auto", "wayland", "x11", "poll", "none"];

    #[must_use]
    pub fn from_name(name: &str) -> Option<ClipboardBackend> {
        match name {
            "auto" => Some(ClipboardBackend::Auto),
            "wayland" => Some(ClipboardBackend::Wayland),
            "x11" => Some(ClipboardBackend::X11),
            "poll" => Some(ClipboardBackend::Poll),
            "none" => Some(ClipboardBackend::None),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_choice_and_nothing_else_is() {
        assert!(ClipboardBackend::NAMES.iter().all(|name| ClipboardBackend::from_name(name).is_some()));
        assert_eq!(ClipboardBackend::from_name("Auto"), None);
        assert_eq!(ClipboardBackend::from_name(""), None);
    }
}
