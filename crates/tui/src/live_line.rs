//! The live line: one line at the bottom that says how things are, drawn over itself. Everything above it is
//! ordinary output that scrolls away and stays.
//!
//! The cursor rests at the line's beginning. So whatever a terminal does with the line when it is resized, all
//! of it is behind the cursor, and erasing from there on takes it away and nothing else.

use std::fs::File;
use std::io::Write;

use crate::layout::style::StreamWidth;

/// The line, and where it is drawn.
#[derive(Debug)]
pub struct LiveLine {
    /// `None`: there is no terminal that understands it, and nothing is drawn.
    screen: Option<File>,
    drawn: String,
}

/// Erases from the cursor to the end of the screen.
const ERASE: &str = "\r\x1b[J";

impl LiveLine {
    /// A line on `screen`, if that is a terminal that understands sequences.
    pub fn new(screen: Option<File>) -> LiveLine {
        LiveLine { screen, drawn: String::new() }
    }

    /// Draws the line that `text` makes for so many cells. One cell stays free: a full line makes some terminals
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

    /// Somebody else had the screen: the line is not there any more.
    pub fn forget_drawn(&mut self) {
        self.drawn.clear();
    }

    /// Takes the line away: something is about to be said.
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
