//! The live line: one status line at the bottom that is redrawn in place. Everything above it is ordinary
//! output that scrolls away and stays.
//!
//! The cursor rests at the line's beginning. So whatever a terminal does with the line when it is resized,
//! all of it is after the cursor, and erasing from there removes it and nothing else.

use std::fs::File;
use std::io::Write;

use crate::StreamWidth;

#[derive(Debug)]
pub struct LiveLine {
    /// `None`: no terminal that understands it; nothing is drawn.
    screen: Option<File>,
    drawn: String,
}

/// Erases from the cursor to the end of the screen.
const ERASE: &str = "\r\x1b[J";

impl LiveLine {
    /// `screen` must be a terminal that understands escape sequences.
    pub fn new(screen: Option<File>) -> LiveLine {
        LiveLine { screen, drawn: String::new() }
    }

    /// `text` makes the line for a number of cells. One cell stays free: a full line makes some terminals
    /// begin a new one.
    pub fn draw(&mut self, text: impl Fn(usize) -> String) {
        let Some(screen) = &mut self.screen else { return };
        let columns = screen.columns().unwrap_or(80).saturating_sub(1);
        let text = text(columns);
        if text == self.drawn {
            return;
        }
        let _ = screen.write_all(format!("{ERASE}{text}\r").as_bytes());
        self.drawn = text;
    }

    /// Another program used the screen: the line is not there any more.
    pub fn forget_drawn(&mut self) {
        self.drawn.clear();
    }

    /// Before something is printed.
    pub fn erase(&mut self) {
        if let Some(screen) = self.screen.as_mut().filter(|_| !self.drawn.is_empty()) {
            let _ = screen.write_all(ERASE.as_bytes());
            self.drawn.clear();
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.erase();
    }
}
