//! Telling a person who looks elsewhere: by the desktop, or else through the terminal.
//!
//! Two things are kept whatever happens: telling never fails and never holds the caller up for more
//! than a moment, and no text of a notice is obeyed by a terminal or read as markup by a desktop.

mod address;
#[cfg(target_os = "linux")]
mod bus;
mod desktop;
mod environment;
mod error;
#[cfg(target_os = "linux")]
mod marshal;
mod sanitize;
#[cfg(target_os = "linux")]
mod server;
mod terminal;

use std::io::Write;

pub use desktop::{DEADLINE, DesktopProbe, SHOWN_WAIT};
pub(crate) use environment::Multiplexer;
pub use environment::TerminalEnv;
pub use error::BusError;

use desktop::{DesktopNotification, DesktopNotifier};
use sanitize::sanitize_line;

/// Cells of a summary that are shown.
pub const SUMMARY_CELLS: usize = 80;
/// Cells of a body that are shown.
pub const BODY_CELLS: usize = 200;

/// Something to tell. The texts may be foreign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notification {
    /// What happened, in a few words.
    pub summary: String,
    /// More about it. May be empty.
    pub body: String,
    /// Somebody has to act: it stays until it is seen, or until the next one takes its place.
    pub urgent: bool,
}

/// How a person can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyMethod {
    /// By the desktop's notifications.
    Desktop,
    /// Through the terminal, which shows a notification (`OSC 9`).
    Osc9,
    /// Through the terminal, which shows a notification (`OSC 777`).
    Osc777,
    /// By the terminal's bell.
    Bell,
    /// Not at all.
    Nothing,
}

/// Tells notices, each by the best way there is.
///
/// ```
/// use relaycode_tui::notify::{Notice, Notifier, Reach, Surroundings};
///
/// let around = Surroundings { term: Some("xterm-kitty".into()), terminal: true, utf8: true, ..Default::default() };
/// let notifier = Notifier::new(around);
/// assert_eq!(notifier.reach(), Reach::Osc9);
///
/// let mut terminal = Vec::new();
/// let notice = Notice { summary: "my-app: apply?".into(), body: "3 files".into(), urgent: true };
/// notifier.tell(&notice, &mut terminal);
/// assert_eq!(terminal, b"\x1b]9;relay: my-app: apply?: 3 files\x07");
/// ```
#[derive(Debug)]
pub struct Notifier {
    around: TerminalEnv,
    desktop: Option<DesktopNotifier>,
}

impl Notifier {
    /// A notifier for these surroundings. Connects to nothing yet.
    pub fn new(surroundings: TerminalEnv) -> Notifier {
        let desktop = surroundings.desktop_bus_addresses().map(DesktopNotifier::new);
        Notifier { around: surroundings, desktop }
    }

    /// Tells `notice` by the desktop. If that is not known to have worked after [`SHOWN_WAIT`], because
    /// there is none, it fails or it hangs, the terminal is used as well.
    pub fn notify(&self, notice: &Notification, terminal: &mut dyn Write) {
        if self.desktop.as_ref().is_some_and(|desktop| desktop.show(to_desktop(notice))) {
            return;
        }
        let sequence = terminal::sequence(self.terminal_method(), notice, &self.around);
        // A terminal that is gone has nobody in front of it.
        let _gone = terminal.write_all(sequence.as_bytes()).and_then(|()| terminal.flush());
    }

    /// What is tried first, by what the environment says. [`probe`](Notifier::probe) says whether it works.
    pub fn method(&self) -> NotifyMethod {
        if self.desktop.is_some() { NotifyMethod::Desktop } else { self.terminal_method() }
    }

    /// What is used where the desktop does not show it.
    pub fn terminal_method(&self) -> NotifyMethod {
        terminal::detect_method(&self.around)
    }

    /// Looks who shows notifications on this desktop. Shows none, and takes [`DEADLINE`] at most.
    pub fn probe(&self) -> DesktopProbe {
        self.desktop.as_ref().map_or(DesktopProbe::None, DesktopNotifier::probe)
    }
}

/// The notice as the desktop gets it. Servers read the body as markup, the summary as it is.
fn to_desktop(notice: &Notification) -> DesktopNotification {
    let body = sanitize_line(&notice.body, BODY_CELLS, true)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    DesktopNotification {
        summary: sanitize_line(&notice.summary, SUMMARY_CELLS, true),
        body,
        urgent: notice.urgent,
    }
}

#[cfg(test)]
mod tests;
