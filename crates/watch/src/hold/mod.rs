//! Puts text on the clipboard and keeps it there. On X11 and Wayland a clipboard holds nothing by itself:
//! the program that copied must stay and serve the text to each reader, until somebody else copies. On
//! other systems the system keeps it.
//!
//! Served here and not by the clipboard library for two reasons: the library can neither say when the
//! clipboard is really owned, nor offer a mark beside the text
//! ([`ClipboardContent::OwnCopy`](crate::clipboard::ClipboardContent::OwnCopy)) that tells a watching relay
//! not to look. Readers are strangers: how many are served at once is bounded, and none can keep the others
//! waiting.

#[cfg(target_os = "linux")]
mod wayland;
#[cfg(target_os = "linux")]
mod x11;

use crate::clipboard::{ClipboardBackend, ClipboardError, ClipboardUnavailable, DisplayAddresses};

/// Most bytes put on the clipboard.
pub const HOLD_MOST: usize = 1024 * 1024;

/// Most readers served at once; another one replaces the oldest.
#[cfg(target_os = "linux")]
const MAX_READERS: usize = 16;
/// How long a reader may finish after somebody else copied.
#[cfg(target_os = "linux")]
const LINGER_TIME: std::time::Duration = std::time::Duration::from_secs(2);

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
