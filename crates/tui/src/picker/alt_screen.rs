//! A full-screen view on the terminal's second screen: only rows that differ are written.

use std::fmt::Write;

/// What the terminal shows while a full-screen view is open.
#[derive(Debug, Default)]
pub struct AltScreen {
    shown: Vec<String>,
    size: (usize, usize),
}

impl AltScreen {
    /// Opens the second screen, without a cursor and without wrapping at the edge.
    pub const ENTER: &'static str = "\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[2J\x1b[H";
    /// The first screen comes back as it was.
    pub const LEAVE: &'static str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

    /// What to write so that the terminal shows `lines`; nothing if it does already.
    pub fn frame(&mut self, lines: &[String], width: usize, height: usize) -> String {
        let mut out = String::new();
        if self.size != (width, height) {
            self.size = (width, height);
            self.shown.clear();
            out.push_str("\x1b[0m\x1b[2J");
        }
        self.shown.resize(height, String::new());
        let empty = String::new();
        for (at, shown) in self.shown.iter_mut().enumerate() {
            let line = lines.get(at).unwrap_or(&empty);
            if shown != line {
                let _ = write!(out, "\x1b[{};1H{line}\x1b[0m\x1b[K", at + 1);
                shown.clone_from(line);
            }
        }
        if out.is_empty() { out } else { format!("\x1b[?2026h{out}\x1b[?2026l") }
    }

    /// Everything is written again by the next frame, as after the terminal was stopped.
    pub fn forget(&mut self) {
        *self = AltScreen::default();
    }
}
