//! Puts text on the clipboard and keeps it there. On X11 and Wayland a clipboard holds nothing by itself:
//! the program that copied must stay and serve the text to each reader, until somebody else copies. On
//! other systems the system keeps it.
//!
//! There relay serves it, not the clipboard library, for two reasons: the library can neither say when the
//! clipboard is really owned, nor offer a mark beside the text
//! ([`ClipboardContent::OwnCopy`](crate::clipboard::ClipboardContent::OwnCopy)) that tells a watching relay
//! not to look. Readers are strangers: how many are served at once is bounded, and none can keep the others
//! waiting.

use crate::clipboard::{ClipboardBackend, ClipboardError, ClipboardUnavailable, DisplayAddresses};
use crate::sys::hold_text;

/// Most bytes put on the clipboard.
pub const HOLD_MOST: usize = 1024 * 1024;

/// Why the text is not on the clipboard, or not any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    #[error("{size} bytes are too much for the clipboard (at most {HOLD_MOST})")]
    TooLarge { size: usize },
    #[error(transparent)]
    NoClipboard(#[from] ClipboardUnavailable),
    /// Somebody else copied at the same moment, or the clipboard refuses.
    #[error("the clipboard ({name}) did not take the text; try again")]
    Refused { name: &'static str },
    #[error(transparent)]
    Gone(#[from] ClipboardError),
}

/// Puts the text on the clipboard, calls `ready`, and serves it until another copy replaces it. Where the
/// system keeps copied text itself, returns at once.
///
/// # Errors
/// If the text never got there (`ready` was not called), or the clipboard is gone.
pub fn hold(
    text: &str,
    desktop: &DisplayAddresses,
    choice: ClipboardBackend,
    ready: impl FnOnce(),
) -> Result<(), HoldError> {
    if text.len() > HOLD_MOST {
        return Err(HoldError::TooLarge { size: text.len() });
    }
    hold_text(text, desktop, choice, ready)
}
