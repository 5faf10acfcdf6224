//! Notifies a person who looks elsewhere: through the desktop, or else through the terminal.
//!
//! Two promises: notifying never fails and never delays the caller for more than a moment, and no text of a
//! notification is obeyed by a terminal or read as markup by a desktop.

mod environment;
pub(crate) mod sanitize;
mod terminal;

use std::io::Write;
use std::time::Duration;

use crate::sys::DesktopNotifier;

pub(crate) use environment::Multiplexer;
pub use environment::TerminalEnv;

/// Most cells shown of a summary.
pub const SUMMARY_CELLS: usize = 80;
/// Most cells shown of a body.
pub const BODY_CELLS: usize = 200;

/// The texts may be foreign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notification {
    /// What happened, in a few words.
    pub summary: String,
    /// Details; may be empty.
    pub body: String,
    /// Somebody has to act: it stays until it is seen or replaced.
    pub urgent: bool,
}

/// How a person can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyMethod {
    Desktop,
    /// A notification by the terminal (`OSC 9`).
    Osc9,
    /// A notification by the terminal (`OSC 777`).
    Osc777,
    /// The terminal's bell.
    Bell,
    Nothing,
}

/// Sends notifications by the best available method.
///
/// ```
/// use relaycode_tui::notify::{Notification, Notifier, NotifyMethod, TerminalEnv};
///
/// let around = TerminalEnv { term: Some("xterm-kitty".into()), terminal: true, utf8: true, ..Default::default() };
/// let notifier = Notifier::new(around);
/// assert_eq!(notifier.method(), NotifyMethod::Osc9);
///
/// let mut terminal = Vec::new();
/// let notice = Notification { summary: "my-app: apply?".into(), body: "3 files".into(), urgent: true };
/// notifier.notify(&notice, &mut terminal);
/// assert_eq!(terminal, b"\x1b]9;relay: my-app: apply?: 3 files\x07");
/// ```
#[derive(Debug)]
pub struct Notifier {
    around: TerminalEnv,
    desktop: Option<DesktopNotifier>,
}

impl Notifier {
    /// Connects to nothing yet.
    pub fn new(surroundings: TerminalEnv) -> Notifier {
        let desktop = DesktopNotifier::find(&surroundings);
        Notifier { around: surroundings, desktop }
    }

    /// Notifies through the desktop. If it is not known to have worked after [`SHOWN_WAIT`] (no desktop, an
    /// error, a hang), the terminal is used as well.
    pub fn notify(&self, notice: &Notification, terminal: &mut dyn Write) {
        if self.desktop.as_ref().is_some_and(|desktop| desktop.show(notice)) {
            return;
        }
        let sequence = terminal::sequence(self.terminal_method(), notice, &self.around);
        // A terminal that is gone has nobody in front of it.
        let _gone = terminal.write_all(sequence.as_bytes()).and_then(|()| terminal.flush());
    }

    /// What is tried first, according to the environment. [`probe`](Notifier::probe) tells whether it
    /// works.
    pub fn method(&self) -> NotifyMethod {
        if self.desktop.is_some() { NotifyMethod::Desktop } else { self.terminal_method() }
    }

    /// Used where the desktop does not show the notification.
    pub fn terminal_method(&self) -> NotifyMethod {
        terminal::detect_method(&self.around)
    }

    /// Finds out who shows notifications on this desktop. Shows none, and takes [`DEADLINE`] at most.
    pub fn probe(&self) -> DesktopProbe {
        self.desktop.as_ref().map_or(DesktopProbe::None, DesktopNotifier::probe)
    }
}

#[cfg(test)]
pub(crate) mod tests;

/// For the whole exchange with the notification server.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// How long the caller waits to learn whether it was shown.
pub const SHOWN_WAIT: Duration = Duration::from_millis(100);

/// What the desktop offers.
#[derive(Debug)]
pub enum DesktopProbe {
    /// No bus, or the desktop is not the one this person looks at (SSH).
    None,
    /// There should be a bus, but it cannot be used.
    Failed(BusError),
    /// A bus without a notification server.
    NoServer,
    /// No server runs yet; the first notification starts one.
    Startable,
    ServerRunning,
}

/// Why the desktop could not be reached. Only shown by a check that the user asked for: a failed notification is not an
/// error.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The address names no socket of this machine.
    #[error("the address of the message bus names no socket here; look at DBUS_SESSION_BUS_ADDRESS")]
    NoAddress,
    /// Nobody listens, or the connection broke.
    #[error("the message bus cannot be reached: {0}")]
    Io(std::io::Error),
    #[error("the message bus did not answer in time")]
    TimedOut,
    /// Authentication failed.
    #[error("the message bus does not let this user in; it belongs to whoever started the desktop")]
    Refused,
    /// Its data is not D-Bus.
    #[error("what listens at the address of the message bus is not a message bus")]
    NotABus,
    /// It answered with this error, as plain text.
    #[error("the message bus answered with an error: {0}")]
    Answer(String),
}
