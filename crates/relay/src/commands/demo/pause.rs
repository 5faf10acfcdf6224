//! Between two steps: any key goes on, `q` leaves. Pasted text is no key.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use relaycode_tui::input::decode::InputKey;
use relaycode_tui::{OutputStyle, PaintRole, Terminal, TerminalEvent};

/// How soon a signal is seen that came while a key was waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const PAUSE_PROMPT: &str = "Enter goes on, q leaves";

/// Somebody at a terminal who reads at their own pace.
pub(super) struct DemoPause {
    terminal: Terminal,
    /// Nothing ever comes from here: only keys and the time are waited for.
    never: PipeReader,
    _open: PipeWriter,
}

impl DemoPause {
    pub(super) fn new(terminal: Terminal) -> io::Result<DemoPause> {
        let (never, open) = io::pipe()?;
        Ok(DemoPause { terminal, never, _open: open })
    }

    /// Waits for a key; `false` if the user wants no more, a signal came, or the terminal is gone.
    pub(super) fn wait_to_continue(&self, look: &OutputStyle, stopped: &dyn Fn() -> bool) -> bool {
        let _listening = self.terminal.enter_cbreak();
        self.terminal.discard_typed();
        let asks = look.paint(PaintRole::Dim, PAUSE_PROMPT);
        self.terminal.write_text(&format!("\n{asks}"));
        let goes_on = self.wait_for_key(&asks, stopped);
        // Blanks take it away on every terminal, also on one that understands no sequences.
        self.terminal.write_text(&format!("\r{}\r", " ".repeat(PAUSE_PROMPT.len())));
        goes_on
    }

    fn wait_for_key(&self, asks: &str, stopped: &dyn Fn() -> bool) -> bool {
        while !stopped() {
            match self.terminal.wait_event(self.never.as_fd(), Some(Instant::now() + POLL_INTERVAL)) {
                TerminalEvent::Key(InputKey::Char('q' | 'Q') | InputKey::Ctrl('d') | InputKey::Escape)
                | TerminalEvent::Disconnected(_) => {
                    return false;
                }
                TerminalEvent::Key(_) => return true,
                // It still stands there, and waits.
                TerminalEvent::Paste(_) => self.terminal.write_text(&format!("\r{asks}")),
                TerminalEvent::Wakeup | TerminalEvent::Timeout => {}
            }
        }
        false
    }
}
