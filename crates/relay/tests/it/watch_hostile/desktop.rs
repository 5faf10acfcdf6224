//! The two kinds of desktop, as one.

use std::process::Command;

use relaycode_testkit::display::{Wayland, X11};

/// A desktop with a clipboard.
pub(super) trait Desk {
    fn surround(&self, command: &mut Command);
    fn copy(&self, text: &str);
    fn copy_as(&self, target: &str, bytes: &[u8]);
    fn hang_owner(&self);
    fn kill_owner(&self);
}

macro_rules! desk {
    ($kind:ty) => {
        impl Desk for $kind {
            fn surround(&self, command: &mut Command) {
                <$kind>::surround(self, command);
            }
            fn copy(&self, text: &str) {
                <$kind>::copy(self, text);
            }
            fn copy_as(&self, target: &str, bytes: &[u8]) {
                <$kind>::copy_as(self, target, bytes);
            }
            fn hang_owner(&self) {
                <$kind>::hang_owner(self);
            }
            fn kill_owner(&self) {
                <$kind>::kill_owner(self);
            }
        }
    };
}

desk!(X11);
desk!(Wayland);
