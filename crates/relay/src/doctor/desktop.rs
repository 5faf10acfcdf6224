//! The desktop and the terminal: which clipboard is watched and how, how relay copies, whether an answer can be pasted, and
//! how somebody who looks elsewhere is told.
//!
//! The clipboard is read to see whether that works. What is on it is not printed, kept or looked at: only whether it
//! is text is said.

use std::time::Duration;

use relaycode_project::config::{self, Config};
use relaycode_tui::gate::seconds;
use relaycode_tui::notify::{Desk, Notifier, Reach};
use relaycode_tui::osc;
use relaycode_watch::clipboard::{self, Choice, Clipboard, Content, Desktop, NoClipboard};
use relaycode_watch::feed::PATIENCE;

use super::Finding;
use crate::ask;
use crate::context::Context;
use crate::desktop;
use crate::project::Project;
use crate::terminal::Environment;

/// Bytes that are read of a clipboard to see whether that works; more is text as well.
const TRIED: usize = 64 * 1024;

/// The clipboard as a source, and the way that copies go out.
pub(super) fn clipboard(project: &Project, context: &Context<'_>) -> Vec<Finding> {
    let choice = match desktop::choice() {
        Ok(choice) => choice,
        Err(failure) => {
            let wrong = Finding::bad(NAME, failure.message).next(failure.hint.unwrap_or_default());
            return vec![wrong, copying(None)];
        }
    };
    let found = desktop::desktop();
    match clipboard::open(&found, choice) {
        Ok(mut opened) => {
            let interval = settings(project, context).watcher.clipboard_poll_interval;
            let said = how(opened.as_ref(), &found, choice, Duration::from_millis(interval));
            let name = opened.name();
            vec![tried(&mut *opened, &said), copying(Some(name))]
        }
        Err(why) => vec![missing(&why, choice), copying(None)],
    }
}

const NAME: &str = "clipboard";

/// `X11, which tells of changes`
fn how(clipboard: &dyn Clipboard, found: &Desktop, choice: Choice, interval: Duration) -> String {
    let name = clipboard.name();
    // By itself relay takes Wayland's where it can be had.
    let beside = match name == "X11" && found.wayland.is_some() && choice == Choice::Auto {
        true => " (XWayland's: the Wayland compositor lets no program watch its own)",
        false => "",
    };
    match clipboard.tells() {
        true => format!("{name}{beside}, which tells of changes"),
        false => format!("{name}{beside}, looked at every {}", seconds(interval)),
    }
}

/// Whether it can be read. What is there goes as it came.
fn tried(clipboard: &mut dyn Clipboard, said: &str) -> Finding {
    let there = match clipboard.read(TRIED, PATIENCE) {
        Ok(Content::Text(_) | Content::TooLarge) => "there is text on it",
        Ok(Content::Ours) => "there is text on it that relay copied",
        Ok(Content::Empty) => "it is empty",
        Ok(Content::NotText) => "there is no text on it",
        Ok(Content::NotUtf8) => "there is text on it that is not UTF-8",
        Ok(Content::Secret) => "what is on it is marked as a secret, and is not read",
        Ok(Content::Silent) => {
            let said = format!("{said}; but the program that has what is on it does not hand it over");
            return Finding::note(NAME, said).next("copy something anew, and ask again");
        }
        Err(error) => return Finding::bad(NAME, error.to_string()),
    };
    Finding::good(NAME, format!("{said}; it can be read: {there}"))
}

/// There is none to watch: what that means, and the ways out.
fn missing(why: &NoClipboard, choice: Choice) -> Finding {
    const PASTE: &str = "paste answers into `relay watch`, or save them and `relay apply` the file";
    let said = why.to_string();
    match why {
        NoClipboard::NoDesktop if choice != Choice::Auto => {
            Finding::bad(NAME, format!("RELAY_CLIPBOARD asks for one that is not here: {said}"))
                .next("unset RELAY_CLIPBOARD")
        }
        NoClipboard::NoDesktop => Finding::note(NAME, said).next(PASTE),
        NoClipboard::NoDataControl => Finding::note(NAME, format!("{said}. GNOME is one of these")).next(
            "start relay where DISPLAY is set (XWayland), paste answers into `relay watch`, or \
             `wl-paste | relay apply -` (from wl-clipboard)",
        ),
        NoClipboard::Off => Finding::note(NAME, "switched off by RELAY_CLIPBOARD=none").next(PASTE),
        NoClipboard::Unreachable { .. } if choice != Choice::Auto => Finding::bad(NAME, said)
            .next("see to it that the display answers this user, or unset RELAY_CLIPBOARD"),
        NoClipboard::Unreachable { .. } => Finding::note(NAME, said).next(format!(
            "see to it that the display answers this user (WAYLAND_DISPLAY, DISPLAY); until then {PASTE}"
        )),
    }
}

/// How copies go out: onto the clipboard of that name, or through the terminal.
fn copying(clipboard: Option<&str>) -> Finding {
    const NAME: &str = "copying";
    if let Some(name) = clipboard {
        let said = match cfg!(target_os = "linux") {
            true => {
                format!("onto the clipboard ({name}); a small process holds the text until another is copied")
            }
            false => format!("onto the clipboard ({name})"),
        };
        return Finding::good(NAME, said);
    }
    if ask::terminal().is_none() {
        return Finding::note(NAME, "there is neither a clipboard nor a terminal to copy to")
            .next("`relay prompt > prompt.md` writes to a file instead");
    }
    let said = "through the terminal (OSC 52), which does not say whether it took it";
    let next = osc::advice(&desktop::surroundings(true)).unwrap_or(
        "kitty, WezTerm, ghostty, foot and Alacritty take it as they are; xterm and iTerm2 have to be told to",
    );
    Finding::note(NAME, said).next(next)
}

/// Whether an answer can be pasted into `relay watch`.
pub(super) fn paste(_: &Project, _: &Context<'_>) -> Vec<Finding> {
    const NAME: &str = "paste";
    const INSTEAD: &str = "`relay apply -` reads an answer from a pipe, or up to Ctrl-D";
    let found = if Environment::read().dumb {
        Finding::note(NAME, "this terminal (TERM) does not mark where pasted text begins and ends")
            .next(INSTEAD)
    } else if ask::terminal().is_none() {
        Finding::note(NAME, "there is no terminal to paste into").next(INSTEAD)
    } else {
        Finding::good(NAME, "an answer that is pasted into `relay watch` is taken as a whole")
    };
    vec![found]
}

/// How somebody who looks elsewhere is told.
pub(super) fn notifications(project: &Project, context: &Context<'_>) -> Vec<Finding> {
    const NAME: &str = "notifications";
    const SERVERS: &str = "install a program that shows them, such as dunst (X11) or mako (Wayland)";
    if !settings(project, context).core.enable_notifications {
        return vec![Finding::good(NAME, "switched off (`core.enableNotifications`)")];
    }
    let notifier = Notifier::new(desktop::surroundings(ask::terminal().is_some()));
    let (otherwise, shown) = match notifier.reach_by_terminal() {
        Reach::Osc9 | Reach::Osc777 => ("the terminal shows them", true),
        Reach::Bell => ("the terminal's bell rings", false),
        Reach::Desktop | Reach::Nothing => ("nobody is told", false),
    };
    let found = match notifier.probe() {
        Desk::Shows => Finding::good(NAME, "the desktop shows them"),
        Desk::Startable => {
            Finding::good(NAME, "the desktop shows them; the first one starts what shows them")
        }
        Desk::Nobody => {
            Finding::note(NAME, format!("nobody on this desktop shows them: {otherwise}")).next(SERVERS)
        }
        Desk::Failed(error) => Finding::note(NAME, format!("{error}: {otherwise}")),
        Desk::None if shown => Finding::good(NAME, format!("there is no desktop: {otherwise}")),
        Desk::None => Finding::note(NAME, format!("there is no desktop: {otherwise}"))
            .next("kitty, WezTerm, ghostty, foot and iTerm2 show them by themselves"),
    };
    vec![found]
}

/// The settings that count here; a broken configuration is told elsewhere.
fn settings(project: &Project, context: &Context<'_>) -> Config {
    config::load(&project.root, context.home.path.as_deref()).map(|loaded| loaded.config).unwrap_or_default()
}
