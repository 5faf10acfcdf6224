//! Real desktops without a screen: [`X11`] is Xvfb with xclip and xsel, [`Wayland`] is sway with
//! wl-clipboard. Each is separate, so tests can have one each, side by side.
//!
//! Everything ends with the value, also if the test fails, and leaves no file behind. (Not from a `static`,
//! which is never dropped.) A start that finds a program missing names it; any other failure fails the
//! test.

mod holder;
mod owner;
mod wayland;
mod x11;

pub use crate::missing::Missing;
pub use owner::ClipboardOwner;
pub use wayland::Wayland;
pub use x11::X11;

use std::time::Duration;

/// For a desktop to start, and for a clipboard to change hands.
const LIMIT: Duration = Duration::from_secs(20);
