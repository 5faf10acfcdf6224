//! Which clipboard is used. The default is one that reports changes: Wayland's if the compositor lets
//! programs watch it, else X11's (also XWayland's); on other systems their own, polled.

use super::polling::PolledClipboard;
use super::{Clipboard, ClipboardUnavailable, DisplayAddresses};

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
    match choice {
        ClipboardBackend::None => Err(ClipboardUnavailable::Off),
        ClipboardBackend::Poll => Ok(Box::new(PolledClipboard::open()?)),
        ClipboardBackend::Auto => auto(desktop),
        ClipboardBackend::Wayland => wayland(desktop),
        ClipboardBackend::X11 => x11(desktop),
    }
}

#[cfg(target_os = "linux")]
fn auto(desktop: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    open_first(desktop, wayland, x11)
}

#[cfg(not(target_os = "linux"))]
fn auto(_: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    Ok(Box::new(PolledClipboard::open()?))
}

/// Wayland, else X11. A compositor that lets nobody watch explains more than a missing X11 display.
#[cfg(target_os = "linux")]
pub(crate) fn open_first<T>(
    desktop: &DisplayAddresses,
    wayland: impl FnOnce(&DisplayAddresses) -> Result<T, ClipboardUnavailable>,
    x11: impl FnOnce(&DisplayAddresses) -> Result<T, ClipboardUnavailable>,
) -> Result<T, ClipboardUnavailable> {
    let no_wayland = match wayland(desktop) {
        Ok(found) => return Ok(found),
        Err(no) => no,
    };
    x11(desktop)
        .map_err(|no_x11| if no_wayland == ClipboardUnavailable::NoDesktop { no_x11 } else { no_wayland })
}

#[cfg(target_os = "linux")]
fn wayland(desktop: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    let socket = desktop.wayland.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
    Ok(Box::new(super::wayland::WaylandClipboard::open(socket)?))
}

#[cfg(target_os = "linux")]
fn x11(desktop: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    let display = desktop.x11.as_deref().ok_or(ClipboardUnavailable::NoDesktop)?;
    Ok(Box::new(super::x11::X11Clipboard::open(display)?))
}

#[cfg(not(target_os = "linux"))]
fn wayland(_: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    Err(ClipboardUnavailable::NoDesktop)
}

#[cfg(not(target_os = "linux"))]
fn x11(_: &DisplayAddresses) -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    Err(ClipboardUnavailable::NoDesktop)
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

    #[test]
    fn the_reason_that_helps_most_is_told() {
        let nothing = DisplayAddresses::default();
        let no = |no: ClipboardUnavailable| move |_: &DisplayAddresses| Err::<(), _>(no);
        let gone = ClipboardUnavailable::Unreachable { name: "X11", why: "refused".into() };
        assert_eq!(
            open_first(&nothing, no(ClipboardUnavailable::NoDesktop), no(gone.clone())),
            Err(gone.clone())
        );
        assert_eq!(
            open_first(&nothing, no(ClipboardUnavailable::NoDataControl), no(gone)),
            Err(ClipboardUnavailable::NoDataControl)
        );
        assert!(matches!(open(&nothing, ClipboardBackend::None), Err(ClipboardUnavailable::Off)));
        assert!(matches!(open(&nothing, ClipboardBackend::Auto), Err(ClipboardUnavailable::NoDesktop)));
    }
}
