//! The user's desktop and terminal as the environment describes them: where clipboards are, which one the user
//! wants (`RELAY_CLIPBOARD`), and how somebody who looks elsewhere is reached. It is read for that here and nowhere
//! else.

use std::ffi::OsString;
use std::path::PathBuf;

use relaycode_tui::notify::TerminalEnv;
use relaycode_watch::clipboard::{ClipboardBackend, DisplayAddresses};

use crate::{CommandFailure, CommandResult, ConsoleEnv};

/// Where clipboards are.
pub(crate) fn desktop_from_env() -> DisplayAddresses {
    desktop_from_lookup(|name| std::env::var_os(name))
}

fn desktop_from_lookup(get: impl Fn(&str) -> Option<OsString>) -> DisplayAddresses {
    let set = |name: &str| get(name).filter(|value| !value.is_empty());
    let wayland = set("WAYLAND_DISPLAY").map(PathBuf::from).and_then(|display| {
        if display.is_absolute() {
            return Some(display);
        }
        set("XDG_RUNTIME_DIR").map(|directory| PathBuf::from(directory).join(display))
    });
    DisplayAddresses { wayland, x11: set("DISPLAY").and_then(|display| display.into_string().ok()) }
}

/// Which clipboard the user wants.
pub(crate) fn clipboard_choice() -> CommandResult<ClipboardBackend> {
    const NAME: &str = "RELAY_CLIPBOARD";
    let Some(value) = std::env::var_os(NAME).filter(|value| !value.is_empty()) else {
        return Ok(ClipboardBackend::Auto);
    };
    let value = value.to_string_lossy();
    ClipboardBackend::from_name(&value).ok_or_else(|| {
        CommandFailure::usage(format!("{NAME} is `{value}`, which is not a clipboard that relay knows"))
            .hint(format!("it may be one of {}", ClipboardBackend::ALL.map(|known| known.0).join(", ")))
    })
}

/// How somebody who looks elsewhere is reached; `terminal`: through a terminal, too.
pub(crate) fn terminal_env(terminal: bool) -> TerminalEnv {
    let utf8 = ConsoleEnv::from_env().utf8;
    TerminalEnv::from_lookup(|name| std::env::var(name).ok(), terminal, utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wayland_display_is_a_socket_in_the_runtime_directory_or_a_path() {
        let read = |set: &[(&str, &str)]| {
            desktop_from_lookup(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
            })
        };
        let found =
            read(&[("WAYLAND_DISPLAY", "wayland-1"), ("XDG_RUNTIME_DIR", "/run/user/1"), ("DISPLAY", ":0")]);
        assert_eq!(found.wayland, Some("/run/user/1/wayland-1".into()));
        assert_eq!(found.x11.as_deref(), Some(":0"));
        assert_eq!(read(&[("WAYLAND_DISPLAY", "/w/1")]).wayland, Some("/w/1".into()));
        assert_eq!(read(&[("WAYLAND_DISPLAY", "wayland-1"), ("DISPLAY", "")]), DisplayAddresses::default());
    }
}
