//! Which clipboard is used. By itself the one that tells of changes: Wayland's where the compositor lets programs watch
//! it, else X11's (also XWayland's), elsewhere the system's own, looked at every so often.

use super::{Clipboard, ClipboardUnavailable, DisplayAddresses};
use crate::sys;

/// Which clipboard the user wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClipboardBackend {
    /// The best there is.
    #[default]
    Auto,
    /// Wayland's, and no other.
    Wayland,
    /// X11's, and no other.
    X11,
    /// Whatever the system has, looked at every so often.
    Poll,
    /// None at all.
    None,
}

impl ClipboardBackend {
    /// The names, in the order in which they are shown.
    pub const NAMES: [&'static str; 5] = ["auto", "wayland", "x11", "poll", "none"];

    /// The choice of that name.
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

/// Opens the clipboard that was chosen.
///
/// # Errors
/// If there is none, or it cannot be watched; of several reasons the one that helps most.
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
