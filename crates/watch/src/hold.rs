//! Puts text on the clipboard and keeps it there. On X11 and Wayland a clipboard holds nothing by itself: whoever copied must
//! stay and hand the text to each who asks, until somebody else copies. Elsewhere the system keeps it.
//!
//! There it is served by relay and not by the clipboard library, for two reasons: the library can neither say when the
//! clipboard is really owned, nor offer a mark beside the text ([`OwnCopy`](crate::clipboard::ClipboardContent::OwnCopy)) by which a
//! watcher knows that it need not look. Whoever asks is a stranger: how many are served at once is bounded, and none
//! of them can keep the others waiting.

use crate::clipboard::{ClipboardBackend, ClipboardError, ClipboardUnavailable, DisplayAddresses};
use crate::sys::hold_text;

/// The longest text that is put on the clipboard, in bytes.
pub const HOLD_MOST: usize = 1024 * 1024;

/// The text could not be put on the clipboard, or not be kept there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    /// Too much of it.
    #[error("{size} bytes are too much for the clipboard (at most {HOLD_MOST})")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// There is no clipboard.
    #[error(transparent)]
    NoClipboard(#[from] ClipboardUnavailable),
    /// Somebody else copied at the same moment, or the clipboard lets nobody in.
    #[error("the clipboard ({name}) did not take the text; try again")]
    Refused {
        /// What it is called.
        name: &'static str,
    },
    /// It ended meanwhile.
    #[error(transparent)]
    Gone(#[from] ClipboardError),
}

/// Puts the text on the clipboard, says so by `ready`, and serves it until somebody else's copy replaces it.
/// Where the system itself keeps what is copied, it returns at once.
///
/// # Errors
/// If the text never got there (`ready` was not called), or the clipboard ended.
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
