//! macOS: its notifications are for applications with a bundle, which relay is not. So there is no desktop to tell, and
//! the terminal shows what there is: iTerm2, kitty, WezTerm and Ghostty do it as the desktop would.

use crate::notify::{DesktopProbe, Notification, TerminalEnv};

/// There is none.
#[derive(Debug)]
pub(crate) enum DesktopNotifier {}

impl DesktopNotifier {
    pub(crate) fn find(_: &TerminalEnv) -> Option<DesktopNotifier> {
        None
    }

    pub(crate) fn show(&self, _: &Notification) -> bool {
        match *self {}
    }

    pub(crate) fn probe(&self) -> DesktopProbe {
        match *self {}
    }
}
