//! The desktop and the terminal: which clipboard is watched and how, how relay copies, whether an answer can be pasted, and
//! how somebody who looks elsewhere is told.
//!
//! The clipboard is read to see whether that works. What is on it is not printed, kept or looked at: only whether it
//! is text is said.

use std::time::Duration;

use relaycode_project::config::Config;
use relaycode_tui::notify::{DesktopProbe, Notifier, NotifyMethod};
use relaycode_tui::osc52;
use relaycode_tui::views::gate::human_duration;
use relaycode_watch::clipboard::{
    self, Clipboard, ClipboardBackend, ClipboardContent, ClipboardUnavailable, DisplayAddresses,
};
use relaycode_watch::feed::OWNER_TIMEOUT;

use super::DoctorFinding;
use crate::sys::CLIPBOARD_KEEPS_TEXT;
use crate::{ConsoleEnv, Project, desktop, questions};

/// Bytes that are read of a clipboard to see whether that works; more is text as well.
const PROBE_BYTES: usize = 64 * 1024;

/// The clipboard as a source, and the way that copies go out.
pub(super) fn clipboard(project: &Project) -> [DoctorFinding; 2] {
    let choice = match desktop::clipboard_choice() {
        Ok(choice) => choice,
        Err(failure) => {
            let wrong = DoctorFinding::bad(NAME, failure.message).next_step(failure.hint.unwrap_or_default());
            return [wrong, check_copying(None)];
        }
    };
    let found = desktop::desktop_from_env();
    match clipboard::open(&found, choice) {
        Ok(mut opened) => {
            let interval = settings(project).watcher.clipboard_poll_interval;
            let said = describe_clipboard(opened.as_ref(), &found, choice, Duration::from_millis(interval));
            let name = opened.name();
            [check_readable(&mut *opened, &said), check_copying(Some(name))]
        }
        Err(why) => [missing_clipboard(&why, choice), check_copying(None)],
    }
}

const NAME: &str = "clipboard";

/// `X11, which tells of changes`
fn describe_clipboard(
    clipboard: &dyn Clipboard,
    found: &DisplayAddresses,
    choice: ClipboardBackend,
    interval: Duration,
) -> String {
    let name = clipboard.name();
    // By itself relay takes Wayland's where it can be had.
    let beside = match name == "X11" && found.wayland.is_some() && choice == ClipboardBackend::Auto {
        true => " (XWayland's: the Wayland compositor lets no program watch its own)",
        false => "",
    };
    match clipboard.notifies_changes() {
        true => format!("{name}{beside}, which tells of changes"),
        false => format!("{name}{beside}, looked at every {}", human_duration(interval)),
    }
}

/// Whether it can be read. What is there goes as it came.
fn check_readable(clipboard: &mut dyn Clipboard, said: &str) -> DoctorFinding {
    let there = match clipboard.read(PROBE_BYTES, OWNER_TIMEOUT) {
        Ok(ClipboardContent::Text(_) | ClipboardContent::TooLarge) => "there is text on it",
        Ok(ClipboardContent::OwnCopy) => "there is text on it that relay copied",
        Ok(ClipboardContent::Empty) => "it is empty",
        Ok(ClipboardContent::NotText) => "there is no text on it",
        Ok(ClipboardContent::NotUtf8) => "there is text on it that is not UTF-8",
        Ok(ClipboardContent::Secret) => "what is on it is marked as a secret, and is not read",
        Ok(ClipboardContent::Silent) => {
            let said = format!("{said}; but the program that has what is on it does not hand it over");
            return DoctorFinding::note(NAME, said).next_step("copy something anew, and ask again");
        }
        Err(error) => return DoctorFinding::bad(NAME, error.to_string()),
    };
    DoctorFinding::good(NAME, format!("{said}; it can be read: {there}"))
}

/// There is none to watch: what that means, and the ways out.
fn missing_clipboard(why: &ClipboardUnavailable, choice: ClipboardBackend) -> DoctorFinding {
    const PASTE: &str = "paste answers into `relay watch`, or save them and `relay apply` the file";
    let said = why.to_string();
    match why {
        ClipboardUnavailable::NoDesktop if choice != ClipboardBackend::Auto => {
            DoctorFinding::bad(NAME, format!("RELAY_CLIPBOARD asks for one that is not here: {said}"))
                .next_step("unset RELAY_CLIPBOARD")
        }
        ClipboardUnavailable::NoDesktop => DoctorFinding::note(NAME, said).next_step(PASTE),
        ClipboardUnavailable::NoDataControl => {
            DoctorFinding::note(NAME, format!("{said}. GNOME is one of these")).next_step(
                "start relay where DISPLAY is set (XWayland), paste answers into `relay watch`, or \
             `wl-paste | relay apply -` (from wl-clipboard)",
            )
        }
        ClipboardUnavailable::Off => {
            DoctorFinding::note(NAME, "switched off by RELAY_CLIPBOARD=none").next_step(PASTE)
        }
        ClipboardUnavailable::Unreachable { .. } if choice != ClipboardBackend::Auto => {
            DoctorFinding::bad(NAME, said)
                .next_step("see to it that the display answers this user, or unset RELAY_CLIPBOARD")
        }
        ClipboardUnavailable::Unreachable { .. } => DoctorFinding::note(NAME, said).next_step(format!(
            "see to it that the display answers this user (WAYLAND_DISPLAY, DISPLAY); until then {PASTE}"
        )),
    }
}

/// How copies go out: onto the clipboard of that name, or through the terminal.
fn check_copying(clipboard: Option<&str>) -> DoctorFinding {
    const NAME: &str = "copying";
    if let Some(name) = clipboard {
        let said = match CLIPBOARD_KEEPS_TEXT {
            false => {
                format!("onto the clipboard ({name}); a small process holds the text until another is copied")
            }
            true => format!("onto the clipboard ({name})"),
        };
        return DoctorFinding::good(NAME, said);
    }
    if questions::open_terminal().is_none() {
        return DoctorFinding::note(NAME, "there is neither a clipboard nor a terminal to copy to")
            .next_step("`relay prompt > prompt.md` writes to a file instead");
    }
    let said = "through the terminal (OSC 52), which does not say whether it took it";
    let next = osc52::copy_advice(&desktop::terminal_env(true)).unwrap_or(
        "kitty, WezTerm, ghostty, foot and Alacritty take it as they are; xterm and iTerm2 have to be told to",
    );
    DoctorFinding::note(NAME, said).next_step(next)
}

/// Whether an answer can be pasted into `relay watch`.
pub(super) fn paste() -> DoctorFinding {
    const NAME: &str = "paste";
    const INSTEAD: &str = "`relay apply -` reads an answer from a pipe, or up to Ctrl-D";
    if ConsoleEnv::from_env().dumb {
        DoctorFinding::note(NAME, "this terminal (TERM) does not mark where pasted text begins and ends")
            .next_step(INSTEAD)
    } else if questions::open_terminal().is_none() {
        DoctorFinding::note(NAME, "there is no terminal to paste into").next_step(INSTEAD)
    } else {
        DoctorFinding::good(NAME, "an answer that is pasted into `relay watch` is taken as a whole")
    }
}

/// How somebody who looks elsewhere is told.
pub(super) fn notifications(project: &Project) -> DoctorFinding {
    const NAME: &str = "notifications";
    const SERVERS: &str = "install a program that shows them, such as dunst (X11) or mako (Wayland)";
    if !settings(project).core.enable_notifications {
        return DoctorFinding::good(NAME, "switched off (`core.enableNotifications`)");
    }
    let notifier = Notifier::new(desktop::terminal_env(questions::open_terminal().is_some()));
    let (otherwise, shown) = match notifier.terminal_method() {
        NotifyMethod::Osc9 | NotifyMethod::Osc777 => ("the terminal shows them", true),
        NotifyMethod::Bell => ("the terminal's bell rings", false),
        NotifyMethod::Desktop | NotifyMethod::Nothing => ("nobody is told", false),
    };
    match notifier.probe() {
        DesktopProbe::ServerRunning => DoctorFinding::good(NAME, "the desktop shows them"),
        DesktopProbe::Startable => {
            DoctorFinding::good(NAME, "the desktop shows them; the first one starts what shows them")
        }
        DesktopProbe::NoServer => {
            DoctorFinding::note(NAME, format!("nobody on this desktop shows them: {otherwise}"))
                .next_step(SERVERS)
        }
        DesktopProbe::Failed(error) => DoctorFinding::note(NAME, format!("{error}: {otherwise}")),
        DesktopProbe::None if shown => DoctorFinding::good(NAME, format!("there is no desktop: {otherwise}")),
        DesktopProbe::None => DoctorFinding::note(NAME, format!("there is no desktop: {otherwise}"))
            .next_step("kitty, WezTerm, ghostty, foot and iTerm2 show them by themselves"),
    }
}

/// The settings that count here; a broken configuration is told elsewhere.
fn settings(project: &Project) -> Config {
    project.config.as_ref().map(|loaded| loaded.config.clone()).unwrap_or_default()
}
