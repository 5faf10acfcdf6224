//! Which clipboard is used. By itself the one that tells of changes: Wayland's where the compositor lets programs watch
//! it, else X11's (also XWayland's), elsewhere the system's own, looked at every so often.

use super::polled::Polled;
use super::{Clipboard, Desktop, NoClipboard};

/// Which clipboard the user wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
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

impl Choice {
    /// The names, in the order in which they are shown.
    pub const NAMES: [&'static str; 5] = ["auto", "wayland", "x11", "poll", "none"];

    /// The choice of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Choice> {
        match name {
            "auto" => Some(Choice::Auto),
            "wayland" => Some(Choice::Wayland),
            "x11" => Some(Choice::X11),
            "poll" => Some(Choice::Poll),
            "none" => Some(Choice::None),
            _ => None,
        }
    }
}

/// Opens the clipboard that was chosen.
///
/// # Errors
/// If there is none, or it cannot be watched; of several reasons the one that helps most.
pub fn open(desktop: &Desktop, choice: Choice) -> Result<Box<dyn Clipboard>, NoClipboard> {
    match choice {
        Choice::None => Err(NoClipboard::Off),
        Choice::Poll => Ok(Box::new(Polled::open()?)),
        Choice::Auto => auto(desktop),
        Choice::Wayland => wayland(desktop),
        Choice::X11 => x11(desktop),
    }
}

#[cfg(target_os = "linux")]
fn auto(desktop: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    first(desktop, wayland, x11)
}

#[cfg(not(target_os = "linux"))]
fn auto(_: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    Ok(Box::new(Polled::open()?))
}

/// Wayland's way, else X11's. A compositor that lets nobody watch says more than an X11 display that is not there.
#[cfg(target_os = "linux")]
pub(crate) fn first<T>(
    desktop: &Desktop,
    wayland: impl FnOnce(&Desktop) -> Result<T, NoClipboard>,
    x11: impl FnOnce(&Desktop) -> Result<T, NoClipboard>,
) -> Result<T, NoClipboard> {
    let no_wayland = match wayland(desktop) {
        Ok(found) => return Ok(found),
        Err(no) => no,
    };
    x11(desktop).map_err(|no_x11| if no_wayland == NoClipboard::NoDesktop { no_x11 } else { no_wayland })
}

#[cfg(target_os = "linux")]
fn wayland(desktop: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    let socket = desktop.wayland.as_deref().ok_or(NoClipboard::NoDesktop)?;
    Ok(Box::new(super::wayland::Wayland::open(socket)?))
}

#[cfg(target_os = "linux")]
fn x11(desktop: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    let display = desktop.x11.as_deref().ok_or(NoClipboard::NoDesktop)?;
    Ok(Box::new(super::x11::X11::open(display)?))
}

#[cfg(not(target_os = "linux"))]
fn wayland(_: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    Err(NoClipboard::NoDesktop)
}

#[cfg(not(target_os = "linux"))]
fn x11(_: &Desktop) -> Result<Box<dyn Clipboard>, NoClipboard> {
    Err(NoClipboard::NoDesktop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_choice_and_nothing_else_is() {
        assert!(Choice::NAMES.iter().all(|name| Choice::named(name).is_some()));
        assert_eq!(Choice::named("Auto"), None);
        assert_eq!(Choice::named(""), None);
    }

    #[test]
    fn the_reason_that_helps_most_is_told() {
        let nothing = Desktop::default();
        let no = |no: NoClipboard| move |_: &Desktop| Err::<(), _>(no);
        let gone = NoClipboard::Unreachable { name: "X11", why: "refused".into() };
        assert_eq!(first(&nothing, no(NoClipboard::NoDesktop), no(gone.clone())), Err(gone.clone()));
        assert_eq!(
            first(&nothing, no(NoClipboard::NoDataControl), no(gone)),
            Err(NoClipboard::NoDataControl)
        );
        assert!(matches!(open(&nothing, Choice::None), Err(NoClipboard::Off)));
        assert!(matches!(open(&nothing, Choice::Auto), Err(NoClipboard::NoDesktop)));
    }
}
