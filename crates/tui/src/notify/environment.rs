//! What the environment says about the desktop and the terminal.
//!
//! The one list of the variables that decide how a person is notified and how text is copied. The binary
//! passes the values in: this crate never reads the environment.

/// The relevant variables as found. An empty variable counts as not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalEnv {
    /// `DBUS_SESSION_BUS_ADDRESS`: where the desktop's message bus listens.
    pub bus_address: Option<String>,
    /// `XDG_RUNTIME_DIR`: holds the socket `bus` where the address is not set.
    pub runtime_dir: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// `TERM_PROGRAM`: the terminal's name, or `tmux`.
    pub term_program: Option<String>,
    /// `LC_TERMINAL`: the terminal's name as iTerm2 passes it through SSH.
    pub lc_terminal: Option<String>,
    /// `VTE_VERSION`: set by GNOME's terminals and their relatives.
    pub vte_version: Option<String>,
    /// `KITTY_WINDOW_ID`.
    pub kitty_window_id: Option<String>,
    /// `TMUX`: set inside tmux.
    pub tmux: Option<String>,
    /// `STY`: set inside GNU screen.
    pub screen: Option<String>,
    /// `SSH_CONNECTION`: the person sits at another machine.
    pub ssh: Option<String>,
    pub terminal: bool,
    /// The terminal accepts UTF-8.
    pub utf8: bool,
}

impl TerminalEnv {
    /// `variable` looks up each variable; what the terminal can do comes from the caller.
    ///
    /// ```
    /// use relaycode_tui::notify::TerminalEnv;
    ///
    /// let found = TerminalEnv::from_lookup(|name| (name == "TERM").then(|| "foot".to_owned()), true, true);
    /// assert_eq!(found.term.as_deref(), Some("foot"));
    /// assert_eq!(found.tmux, None);
    /// ```
    pub fn from_lookup(variable: impl Fn(&str) -> Option<String>, terminal: bool, utf8: bool) -> TerminalEnv {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        TerminalEnv {
            bus_address: set("DBUS_SESSION_BUS_ADDRESS"),
            runtime_dir: set("XDG_RUNTIME_DIR"),
            term: set("TERM"),
            term_program: set("TERM_PROGRAM"),
            lc_terminal: set("LC_TERMINAL"),
            vte_version: set("VTE_VERSION"),
            kitty_window_id: set("KITTY_WINDOW_ID"),
            tmux: set("TMUX"),
            screen: set("STY"),
            ssh: set("SSH_CONNECTION"),
            terminal,
            utf8,
        }
    }

    /// What runs between us and the terminal that the person sees.
    pub(crate) fn multiplexer(&self) -> Option<Multiplexer> {
        let term = self.term.as_deref().unwrap_or_default();
        if self.tmux.is_some() || term.starts_with("tmux") {
            return Some(Multiplexer::Tmux);
        }
        (self.screen.is_some() || term.starts_with("screen")).then_some(Multiplexer::Screen)
    }
}

/// A program that draws several terminals into one, and swallows sequences it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Multiplexer {
    Tmux,
    Screen,
}
