//! A holder of the clipboard inside this process: it takes it at a known moment, and as often as wanted.
//!
//! A program like xclip takes some milliseconds to start before the clipboard changes, which is too vague
//! for measuring what comes after.

mod wayland;
mod x11;

use std::fmt;
use std::thread::JoinHandle;
use std::time::Instant;

use super::{Wayland, X11};
use crate::expect::expect_ok;

/// Only short texts.
pub struct ClipboardOwner {
    holds: Box<dyn ClipboardBackend>,
    serves: Option<JoinHandle<()>>,
}

/// One kind of desktop.
trait ClipboardBackend {
    fn take(&self, text: &str);

    /// Ends the thread that serves it.
    fn end(&self);
}

impl ClipboardOwner {
    pub(super) fn on_x11(desktop: &X11) -> ClipboardOwner {
        expect_ok(x11::start(desktop.display()), "could not reach Xvfb")
    }

    pub(super) fn on_wayland(desktop: &Wayland) -> ClipboardOwner {
        expect_ok(wayland::start(&desktop.path()), "could not reach sway")
    }

    /// Takes the clipboard with `text`; returns the moment just before.
    pub fn take(&self, text: &str) -> Instant {
        let now = Instant::now();
        self.holds.take(text);
        now
    }
}

impl Drop for ClipboardOwner {
    fn drop(&mut self) {
        self.holds.end();
        if let Some(serves) = self.serves.take() {
            let _ = serves.join();
        }
    }
}

impl fmt::Debug for ClipboardOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClipboardOwner").finish_non_exhaustive()
    }
}
