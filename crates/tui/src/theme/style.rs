//! Painting text with a theme. Everything that is opened is closed by its own code, never by "reset", so that what is
//! painted may be painted again around it: the outer look comes back behind the inner one.

use std::sync::Arc;

use super::{ColorDepth, SymbolKey, Theme, ThemeToken};
use crate::OutputStyle;

const RESET: &str = "\x1b[0m";

/// Longest address that becomes a link.
const ADDRESS_BYTES: usize = 2_000;

/// An [`OutputStyle`] that paints with a theme. Clones are cheap.
#[derive(Debug, Clone)]
pub struct ThemeStyle {
    pub output: OutputStyle,
    pub theme: Arc<Theme>,
    pub depth: ColorDepth,
}

impl ThemeStyle {
    pub fn new(output: OutputStyle, theme: Arc<Theme>, depth: ColorDepth) -> ThemeStyle {
        ThemeStyle { output, theme, depth }
    }

    /// No colours, no bold, no links: text alone.
    pub fn plain(output: OutputStyle) -> ThemeStyle {
        ThemeStyle::new(OutputStyle { color: false, ..output }, Arc::new(Theme::plain()), ColorDepth::None)
    }

    /// Whether anything but text is shown. Where not, words and signs have to say what bold or colours would.
    pub fn is_painted(&self) -> bool {
        self.depth != ColorDepth::None
    }

    /// Text in the token's colour. What is within may be painted, too: the colour comes back behind it.
    pub fn paint(&self, token: ThemeToken, text: &str) -> String {
        match self.theme.color(token).sgr(self.depth, false) {
            Some(code) => wrap_sgr(&code, "39", text),
            None => text.to_string(),
        }
    }

    /// Text on the token's colour. With 16 colours no background is quiet enough for text of any colour: there only
    /// what is selected is marked, by exchanging the two.
    pub fn paint_on(&self, token: ThemeToken, text: &str) -> String {
        let color = self.theme.color(token);
        if self.depth == ColorDepth::Ansi16 && matches!(color, super::ThemeColor::Rgb(..)) {
            return if token == ThemeToken::SelectedBg {
                wrap_sgr("7", "27", text)
            } else {
                text.to_string()
            };
        }
        match color.sgr(self.depth, true) {
            Some(code) => wrap_sgr(&code, "49", text),
            None => text.to_string(),
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.attribute("1", "22", text)
    }

    pub fn italic(&self, text: &str) -> String {
        self.attribute("3", "23", text)
    }

    pub fn underline(&self, text: &str) -> String {
        self.attribute("4", "24", text)
    }

    pub fn strike(&self, text: &str) -> String {
        self.attribute("9", "29", text)
    }

    /// Whether a link works without its address being seen.
    pub fn has_links(&self) -> bool {
        self.is_painted() && self.theme.hyperlinks
    }

    /// Text that leads to an address, if both the terminal and the address allow it ([`is_link_address`]); else the
    /// text alone.
    pub fn link(&self, address: &str, text: &str) -> String {
        if !self.has_links() || !is_link_address(address) || text.is_empty() {
            return text.to_string();
        }
        format!("\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\")
    }

    pub fn symbol(&self, key: SymbolKey) -> &str {
        self.theme.symbols.get(key, self.output.utf8)
    }

    /// What turns while something is done: the frame for the number of a step.
    pub fn spinner(&self, step: usize) -> &str {
        self.theme.symbols.spinner(step, self.output.utf8)
    }

    fn attribute(&self, on: &str, off: &str, text: &str) -> String {
        if self.is_painted() { wrap_sgr(on, off, text) } else { text.to_string() }
    }
}

fn wrap_sgr(on: &str, off: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let (open, close) = (format!("\x1b[{on}m"), format!("\x1b[{off}m"));
    // Behind something within that ends the same, this look begins again.
    let mut inner = std::borrow::Cow::Borrowed(text);
    for end in [close.as_str(), RESET] {
        if inner.contains(end) {
            inner = inner.replace(end, &format!("{end}{open}")).into();
        }
    }
    format!("{open}{inner}{close}")
}

/// Whether an address may be handed to a terminal: the web, mail, or a file; visible ASCII only, since a terminal opens
/// it without showing it.
pub fn is_link_address(address: &str) -> bool {
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let known = ["http://", "https://", "mailto:", "file://"].iter().any(|scheme| lower.starts_with(scheme));
    known && address.len() <= ADDRESS_BYTES && address.bytes().all(|byte| byte.is_ascii_graphic())
}
