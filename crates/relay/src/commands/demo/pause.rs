//! Between two steps: any key goes on, `q` leaves. Pasted text is no key.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use relaycode_tui::input::decode::Key;
use relaycode_tui::input::{Next, Terminal};
use relaycode_tui::look::{Look, Paint};

/// How soon a signal is seen that came while a key was waited for.
const GLANCE: Duration = Duration::from_millis(200);

const ASKS: &str = "Enter goes on, q leaves";

/// Somebody at a terminal who reads at their own pace.
pub(super) struct Pause {
    terminal: Terminal,
    /// Nothing ever comes from here: only keys and the time are waited for.
    never: PipeReader,
    _open: PipeWriter,
}

impl Pause {
    pub(super) fn new(terminal: Terminal) -> io::Result<Pause> {
        let (never, open) = io::pipe()?;
        Ok(Pause { terminal, never, _open: open })
    }

    /// Waits for a key; `false` if the user wants no more, a signal came, or the terminal is gone.
    pub(super) fn goes_on(&self, look: &Look, stopped: &dyn Fn() -> bool) -> bool {
        let _listening = self.terminal.listen();
        self.terminal.forget();
        let asks = look.paint(Paint::Dim, ASKS);
        self.terminal.say(&format!("\n{asks}"));
        let goes_on = self.key(&asks, stopped);
        // Blanks take it away on every terminal, also on one that understands no sequences.
        self.terminal.say(&format!("\r{}\r", " ".repeat(ASKS.len())));
        goes_on
    }

    fn key(&self, asks: &str, stopped: &dyn Fn() -> bool) -> bool {
        while !stopped() {
            match self.terminal.next(self.never.as_fd(), Some(Instant::now() + GLANCE)) {
                Next::Key(Key::Char('q' | 'Q') | Key::Ctrl('d') | Key::Escape) | Next::Gone(_) => {
                    return false;
                }
                Next::Key(_) => return true,
                // It still stands there, and waits.
                Next::Paste(_) => self.terminal.say(&format!("\r{asks}")),
                Next::Woken | Next::Late => {}
            }
        }
        false
    }
}
