//! macOS: one clipboard, which keeps what is copied and tells nobody of changes, and FSEvents.

mod fsevents;

use crate::clipboard::{
    Clipboard, ClipboardBackend, ClipboardUnavailable, DisplayAddresses, open_polled_clipboard,
};
use crate::hold::HoldError;

pub(crate) use fsevents::DirectoryWatcher;

pub(crate) const POLLED_CLIPBOARD: &str = "macOS";

pub(crate) fn open_clipboard(
    _: &DisplayAddresses,
    choice: ClipboardBackend,
) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    check_choice(choice)?;
    open_polled_clipboard()
}

/// Returns at once: the system keeps the text.
pub(crate) fn hold_text(
    text: &str,
    _: &DisplayAddresses,
    choice: ClipboardBackend,
    ready: impl FnOnce(),
) -> Result<(), HoldError> {
    check_choice(choice)?;
    let no = |error: arboard::Error| ClipboardUnavailable::Unreachable {
        name: POLLED_CLIPBOARD,
        why: error.to_string(),
    };
    arboard::Clipboard::new().and_then(|mut clipboard| clipboard.set_text(text)).map_err(no)?;
    ready();
    Ok(())
}

/// Refuses the clipboards of another desktop.
fn check_choice(choice: ClipboardBackend) -> Result<(), ClipboardUnavailable> {
    let name = match choice {
        ClipboardBackend::Auto | ClipboardBackend::Poll => return Ok(()),
        ClipboardBackend::None => return Err(ClipboardUnavailable::Off),
        ClipboardBackend::Wayland => "Wayland",
        ClipboardBackend::X11 => "X11",
    };
    let why = "relay uses only the system's own on macOS; choose `auto`".to_string();
    Err(ClipboardUnavailable::Unreachable { name, why })
}
