//! What the terminal can show and how it looks, from what the environment and its replies say. All of it is handed in.

use super::ColorDepth;
use super::color::luminance;

/// The variables that decide how many colours are used; an empty one counts as not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalColorEnv {
    /// `COLORTERM`.
    pub color_term: Option<String>,
    /// `WT_SESSION`: set by Windows Terminal.
    pub wt_session: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// `TERM_PROGRAM`.
    pub term_program: Option<String>,
    /// `NO_COLOR`.
    pub no_color: Option<String>,
    /// `COLORFGBG`.
    pub color_fg_bg: Option<String>,
}

impl TerminalColorEnv {
    /// `variable` looks up each variable.
    pub fn from_lookup(variable: impl Fn(&str) -> Option<String>) -> TerminalColorEnv {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        TerminalColorEnv {
            color_term: set("COLORTERM"),
            wt_session: set("WT_SESSION"),
            term: set("TERM"),
            term_program: set("TERM_PROGRAM"),
            no_color: set("NO_COLOR"),
            color_fg_bg: set("COLORFGBG"),
        }
    }

    pub fn color_depth(&self) -> ColorDepth {
        let term = self.term.as_deref().unwrap_or_default();
        if self.no_color.is_some() || term == "dumb" {
            return ColorDepth::None;
        }
        if matches!(self.color_term.as_deref(), Some("truecolor" | "24bit")) || self.wt_session.is_some() {
            return ColorDepth::TrueColor;
        }
        match term {
            "" | "ansi" | "xterm-color" => ColorDepth::Ansi16,
            _ if ["linux", "vt", "cons25", "cygwin"].iter().any(|old| term.starts_with(old)) => {
                ColorDepth::Ansi16
            }
            _ if term.ends_with("-16color") || term.ends_with("-8color") => ColorDepth::Ansi16,
            // These two say nothing of their own about exact colours, and show wrong ones.
            _ if term.starts_with("screen") || self.term_program.as_deref() == Some("Apple_Terminal") => {
                ColorDepth::Ansi256
            }
            _ => ColorDepth::TrueColor,
        }
    }

    /// Whether links work without their address (OSC 8). Terminals that know nothing of it show nothing of the
    /// address, so those that are known not to are left out.
    pub fn has_hyperlinks(&self) -> bool {
        self.color_depth() >= ColorDepth::Ansi256
            && self.term_program.as_deref() != Some("Apple_Terminal")
            && !self.term.as_deref().unwrap_or_default().starts_with("screen")
    }
}

/// What is behind the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TerminalAppearance {
    #[default]
    Dark,
    Light,
}

/// What is known about the background, best first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppearanceSigns<'a> {
    /// The terminal's answer to `OSC 11 ; ?`: `rgb:1e1e/1e1e/1e1e`, with or without what is around it.
    pub background_reply: Option<&'a str>,
    /// That answer is known to be wrong: under Zellij on macOS.
    pub ignores_reply: bool,
    pub color_fg_bg: Option<&'a str>,
    /// What the desktop says, asked for only where the answer is known to be wrong.
    pub system: Option<TerminalAppearance>,
}

impl AppearanceSigns<'_> {
    pub fn appearance(&self) -> TerminalAppearance {
        let reply = self.background_reply.filter(|_| !self.ignores_reply).and_then(reply_appearance);
        let variable = || self.color_fg_bg.and_then(variable_appearance);
        let system = || self.system.filter(|_| self.ignores_reply);
        reply.or_else(variable).or_else(system).unwrap_or_default()
    }
}

fn reply_appearance(reply: &str) -> Option<TerminalAppearance> {
    let at = reply.find("rgb")?;
    let parts = reply[at..].split_once(':')?.1;
    let mut parts = parts.split('/').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_hexdigit).take(4).collect();
        // One to four digits, of which two are enough.
        match digits.len() {
            0 => None,
            1 => u8::from_str_radix(&digits.repeat(2), 16).ok(),
            _ => u8::from_str_radix(&digits[..2], 16).ok(),
        }
    });
    let rgb = (parts.next()??, parts.next()??, parts.next()??);
    // Where black and white text are about equally readable.
    Some(if luminance(rgb) > 0.18 { TerminalAppearance::Light } else { TerminalAppearance::Dark })
}

/// `15;0` or `15;default;0`: the last number is the background.
fn variable_appearance(value: &str) -> Option<TerminalAppearance> {
    let background: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
    Some(if background < 8 { TerminalAppearance::Dark } else { TerminalAppearance::Light })
}
