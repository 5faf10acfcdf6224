//! Linux: Wayland's clipboard where the compositor lets programs watch it, else X11's (also XWayland's), and inotify.
//!
//! On both a clipboard holds nothing by itself: the program that copied must stay and serve the text to each reader,
//! until somebody else copies.

mod inotify;
mod text_format;
mod wayland;
mod x11;

use std::time::{Duration, Instant};

use crate::clipboard::poll::deadline_after;
use crate::clipboard::{
    Clipboard, ClipboardBackend, ClipboardUnavailable, DisplayAddresses, open_polled_clipboard,
};
use crate::hold::HoldError;

pub(crate) use inotify::DirectoryWatcher;

/// Only if asked for: whatever the library finds.
pub(crate) const POLLED_CLIPBOARD: &str = "polled";

/// Most readers served at once; another one replaces the oldest.
const MAX_READERS: usize = 16;
/// How long a reader may finish after somebody else copied.
const LINGER_TIME: Duration = Duration::from_secs(2);
/// Longer than anybody waits, and short enough to be added to any instant.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn open_clipboard(
    desktop: &DisplayAddresses,
    choice: ClipboardBackend,
) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    let wayland = || -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
        let socket = desktop.wayland.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        Ok(Box::new(wayland::WaylandClipboard::open(socket)?))
    };
    let x11 = || -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
        let display = desktop.x11.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        Ok(Box::new(x11::X11Clipboard::open(display)?))
    };
    match choice {
        ClipboardBackend::None => Err(ClipboardUnavailable::Off),
        ClipboardBackend::Poll => open_polled_clipboard(),
        ClipboardBackend::Auto => open_first(wayland, x11),
        ClipboardBackend::Wayland => wayland(),
        ClipboardBackend::X11 => x11(),
    }
}

pub(crate) fn hold_text(
    text: &str,
    desktop: &DisplayAddresses,
    choice: ClipboardBackend,
    ready: impl FnOnce(),
) -> Result<(), HoldError> {
    enum HoldBackend {
        Wayland(Box<wayland::WaylandConnection>),
        X11(Box<x11::X11Connection>),
    }
    let wayland = || {
        let socket = desktop.wayland.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        wayland::WaylandConnection::open(socket).map(Box::new).map(HoldBackend::Wayland)
    };
    let x11 = || {
        let display = desktop.x11.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
        x11::X11Connection::open(display).map(Box::new).map(HoldBackend::X11)
    };
    let server = match choice {
        ClipboardBackend::Wayland => wayland()?,
        ClipboardBackend::X11 => x11()?,
        ClipboardBackend::Auto | ClipboardBackend::Poll => open_first(wayland, x11)?,
        ClipboardBackend::None => return Err(ClipboardUnavailable::Off.into()),
    };
    match server {
        HoldBackend::Wayland(link) => wayland::serve(*link, text, ready),
        HoldBackend::X11(link) => x11::serve(&link, text, ready),
    }
}

/// Wayland, else X11. A compositor that lets nobody watch explains more than a missing X11 display.
fn open_first<T>(
    wayland: impl FnOnce() -> Result<T, ClipboardUnavailable>,
    x11: impl FnOnce() -> Result<T, ClipboardUnavailable>,
) -> Result<T, ClipboardUnavailable> {
    wayland().or_else(|no_wayland| {
        x11()
            .map_err(|no_x11| if no_wayland == ClipboardUnavailable::NoDesktop { no_x11 } else { no_wayland })
    })
}

fn bounded_deadline(patience: Duration) -> Instant {
    deadline_after(patience.min(MAX_TIMEOUT)).unwrap_or_else(Instant::now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_that_helps_most_is_told() {
        let nothing = DisplayAddresses::default();
        let no = |no: ClipboardUnavailable| move || Err::<(), _>(no);
        let gone = ClipboardUnavailable::Unreachable { name: "X11", why: "refused".into() };
        assert_eq!(open_first(no(ClipboardUnavailable::NoDesktop), no(gone.clone())), Err(gone.clone()));
        assert_eq!(
            open_first(no(ClipboardUnavailable::NoDataControl), no(gone)),
            Err(ClipboardUnavailable::NoDataControl)
        );
        let opened = |choice| open_clipboard(&nothing, choice).err();
        assert_eq!(opened(ClipboardBackend::None), Some(ClipboardUnavailable::Off));
        assert_eq!(opened(ClipboardBackend::Auto), Some(ClipboardUnavailable::NoDesktop));
    }
}
