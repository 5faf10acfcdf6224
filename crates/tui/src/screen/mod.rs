//! Drawing on the terminal: painted lines in, the bytes that show them out. Nothing here reads or writes a terminal.
//!
//! | type | for |
//! |---|---|
//! | [`InlineScreen`] | a conversation: finished lines become scrollback, the lines below them are redrawn |
//! | [`FullScreen`] | a picker or pager that covers everything and leaves no trace |
//!
//! A painted line holds text, colours (SGR) and links (OSC 8). Whatever else it holds is left out here: nothing
//! that gets this far can move the cursor.

mod full;
mod inline;
mod painted_line;
#[cfg(test)]
mod tests;

pub use full::FullScreen;
pub use inline::{InlineScreen, SETTLE_TIME};
pub use painted_line::{painted_cells, strip_paint};

/// Makes a terminal usable again, whatever was switched on: to be written when relay panics, is killed or has been killed.
/// Ends a frame, the full screen, colours and links, every way of sending keys that relay asks for; shows the cursor.
pub const RESET_TERMINAL: &str = "\x1b[?2026l\x1b[?1047l\x1b]8;;\x1b\\\x1b[0m\x1b[?7h\x1b[?25h\
     \x1b[?2004l\x1b[?1004l\x1b[?2031l\x1b[<u\x1b[>4m\r";

const FRAME_BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const FRAME_END: &str = "\x1b[?2026l";
const CURSOR_SHOW: &str = "\x1b[?25h";
const CURSOR_HIDE: &str = "\x1b[?25l";
/// From the cursor to the end of the screen.
const ERASE_BELOW: &str = "\x1b[J";
/// From the cursor to the end of the line.
const ERASE_RIGHT: &str = "\x1b[K";

/// What a terminal is like, as far as it matters for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenTraits {
    pub columns: usize,
    pub rows: usize,
    /// When its width changes, it breaks long lines anew and joins them again. Where this is not known, say no:
    /// relay then leaves an old line standing rather than erase one too many.
    pub reflows: bool,
    pub utf8: bool,
}

impl ScreenTraits {
    /// Whether a terminal re-flows, by what it says of itself in its environment. `env` gives a variable.
    pub fn reflows(env: impl Fn(&str) -> Option<String>) -> bool {
        let term = env("TERM").unwrap_or_default();
        let program = env("TERM_PROGRAM").unwrap_or_default();
        // A multiplexer decides, whatever it runs in; screen sets its own TERM.
        if env("TMUX").is_some() || term.starts_with("tmux") {
            return true;
        }
        if env("STY").is_some() || term.starts_with("screen") {
            return false;
        }
        if env("VTE_VERSION").is_some() || env("KITTY_WINDOW_ID").is_some() || env("WT_SESSION").is_some() {
            return true;
        }
        let known = ["kitty", "ghostty", "alacritty", "foot", "wezterm", "konsole", "contour"];
        known.iter().any(|name| term.contains(name))
            || env("KONSOLE_VERSION").is_some()
            || env("ALACRITTY_WINDOW_ID").is_some()
            || matches!(program.as_str(), "iTerm.app" | "WezTerm" | "ghostty" | "vscode" | "Apple_Terminal")
    }

    /// Cells for laying out a line. The last column stays free: a full line makes some terminals begin a new one.
    pub fn width(&self) -> usize {
        self.columns.saturating_sub(1).max(1)
    }
}

/// `CSI count final`, nothing for a count of 0.
fn push_motion(out: &mut Vec<u8>, count: usize, last: char) {
    match count {
        0 => {}
        1 => out.extend_from_slice(format!("\x1b[{last}").as_bytes()),
        _ => out.extend_from_slice(format!("\x1b[{count}{last}").as_bytes()),
    }
}

/// To a column of the line, from 0.
fn push_column(out: &mut Vec<u8>, column: usize) {
    match column {
        0 => out.push(b'\r'),
        _ => push_motion(out, column + 1, 'G'),
    }
}
