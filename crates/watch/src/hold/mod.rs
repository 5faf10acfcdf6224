//! Puts text on the clipboard and keeps it there. On X11 and Wayland a clipboard holds nothing by itself: whoever copied must
//! stay and hand the text to each who asks, until somebody else copies. Elsewhere the system keeps it.
//!
//! It is served here and not by the clipboard library, for two reasons: the library can neither say when the clipboard
//! is really owned, nor offer a mark beside the text ([`Content::Ours`](crate::clipboard::Content::Ours)) by which a
//! watcher knows that it need not look. Whoever asks is a stranger: how many are served at once is bounded, and none
//! of them can keep the others waiting.

#[cfg(target_os = "linux")]
mod wayland;
#[cfg(target_os = "linux")]
mod x11;

use crate::clipboard::{ClipboardBackend, ClipboardError, ClipboardUnavailable, DisplayAddresses};

/// The longest text that is put on the clipboard, in bytes.
pub const HOLD_MOST: usize = 1024 * 1024;

/// So many readers are served at once; one more takes the place of the oldest.
#[cfg(target_os = "linux")]
const MAX_READERS: usize = 16;
/// How long who has begun to read may go on after somebody else copied.
#[cfg(target_os = "linux")]
const LINGER_TIME: std::time::Duration = std::time::Duration::from_secs(2);

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
    if choice == ClipboardBackend::None {
        return Err(ClipboardUnavailable::Off.into());
    }
    keep(text, desktop, choice, ready)
}

#[cfg(target_os = "linux")]
fn keep(
    text: &str,
    desktop: &DisplayAddresses,
    choice: ClipboardBackend,
    ready: impl FnOnce(),
) -> Result<(), HoldError> {
    use crate::clipboard::open_first;

    enum HoldBackend {
        Wayland(Box<crate::clipboard::wayland::WaylandConnection>),
        X11(Box<crate::clipboard::x11::X11Connection>),
    }
    let wayland = |desktop: &DisplayAddresses| {
        let socket = desktop.wayland.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        crate::clipboard::wayland::WaylandConnection::open(socket).map(Box::new).map(HoldBackend::Wayland)
    };
    let x11 = |desktop: &DisplayAddresses| {
        let display = desktop.x11.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        crate::clipboard::x11::X11Connection::open(display).map(Box::new).map(HoldBackend::X11)
    };
    let server = match choice {
        ClipboardBackend::Wayland => wayland(desktop)?,
        ClipboardBackend::X11 => x11(desktop)?,
        ClipboardBackend::Auto | ClipboardBackend::Poll | ClipboardBackend::None => {
            open_first(desktop, wayland, x11)?
        }
    };
    match server {
        HoldBackend::Wayland(link) => wayland::serve(*link, text, ready),
        HoldBackend::X11(link) => x11::serve(&link, text, ready),
    }
}

#[cfg(not(target_os = "linux"))]
fn keep(
    text: &str,
    _: &DisplayAddresses,
    _: ClipboardBackend,
    ready: impl FnOnce(),
) -> Result<(), HoldError> {
    let name = if cfg!(windows) { "Windows" } else { "macOS" };
    let no = |error: arboard::Error| ClipboardUnavailable::Unreachable { name, why: error.to_string() };
    arboard::Clipboard::new().and_then(|mut clipboard| clipboard.set_text(text)).map_err(no)?;
    ready();
    Ok(())
}
