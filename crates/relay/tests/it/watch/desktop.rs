//! A desktop of either kind, so that every workflow is written once and runs on both.

use std::process::Command;

use relaycode_testkit::display::{Wayland, X11};
use relaycode_testkit::or_skip;

/// A real desktop with a real clipboard.
pub(crate) enum Desktop {
    X11(X11),
    Wayland(Wayland),
}

impl Desktop {
    /// What relay calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Desktop::X11(_) => "X11",
            Desktop::Wayland(_) => "Wayland",
        }
    }

    /// Copies text, as a person would.
    pub(crate) fn copy(&self, text: &str) {
        match self {
            Desktop::X11(desktop) => desktop.copy(text),
            Desktop::Wayland(desktop) => desktop.copy(text),
        }
    }

    /// Copies bytes of another kind.
    pub(crate) fn copy_as(&self, kind: &str, bytes: &[u8]) {
        match self {
            Desktop::X11(desktop) => desktop.copy_as(kind, bytes),
            Desktop::Wayland(desktop) => desktop.copy_as(kind, bytes),
        }
    }

    /// What a person would paste.
    pub(crate) fn paste(&self) -> String {
        match self {
            Desktop::X11(desktop) => desktop.paste(),
            Desktop::Wayland(desktop) => desktop.paste(),
        }
    }

    /// Puts a program on this desktop.
    pub(crate) fn surround(&self, command: &mut Command) {
        match self {
            Desktop::X11(desktop) => desktop.surround(command),
            Desktop::Wayland(desktop) => desktop.surround(command),
        }
    }
}

/// Runs a workflow on X11.
pub(crate) fn on_x11(workflow: fn(&Desktop)) {
    workflow(&Desktop::X11(or_skip!(X11::start())));
}

/// Runs a workflow on Wayland.
pub(crate) fn on_wayland(workflow: fn(&Desktop)) {
    workflow(&Desktop::Wayland(or_skip!(Wayland::start())));
}

/// Two tests for each workflow, called after it: one on X11, one on Wayland.
macro_rules! on_each_desktop {
    ($($workflow:ident),+ $(,)?) => { $(
        mod $workflow {
            #[test]
            fn on_x11() {
                crate::watch::desktop::on_x11(super::$workflow);
            }

            #[test]
            fn on_wayland() {
                crate::watch::desktop::on_wayland(super::$workflow);
            }
        }
    )+ };
}

pub(crate) use on_each_desktop;
