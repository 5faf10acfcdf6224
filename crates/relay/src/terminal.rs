//! What the place that relay prints to can do: colour, characters, width.
//!
//! What the environment says about it is read here and nowhere else: `NO_COLOR` (not empty: no colour), `TERM` (`dumb`:
//! no colour), `LC_ALL`, `LC_CTYPE`, `LANG` (the first that is set says whether UTF-8 is understood).
//! Without UTF-8 every sign has an ASCII form and foreign text is escaped down to ASCII.

use std::borrow::Cow;
use std::io::IsTerminal;

use clap::ValueEnum;
use relaycode_text::escape::{Escape, Tabs};
use relaycode_text::width::{self, Ellipsis};
use terminal_size::terminal_size_of;

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    no_color: bool,
    dumb: bool,
    utf8: bool,
}

impl Environment {
    /// Reads it from the process.
    pub(crate) fn read() -> Environment {
        Environment::from(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    fn from(get: impl Fn(&str) -> Option<String>) -> Environment {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        let locale = set("LC_ALL")
            .or_else(|| set("LC_CTYPE"))
            .or_else(|| set("LANG"))
            .unwrap_or_default()
            .to_ascii_lowercase();
        Environment {
            no_color: set("NO_COLOR").is_some(),
            dumb: set("TERM").is_some_and(|term| term == "dumb"),
            utf8: cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8"),
        }
    }
}

/// How to print to one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Colours are understood and wanted.
    pub(crate) color: bool,
    /// UTF-8 is understood.
    pub(crate) utf8: bool,
    /// Cells in a line; `None` if it is no terminal and lines may be long.
    pub(crate) width: Option<usize>,
}

/// What a colour stands for; a sign or a word always says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Lines that come in, things that are done.
    Good,
    /// Lines that go, things that are refused.
    Bad,
    /// Something to look at.
    Look,
    /// Secondary.
    Dim,
    /// Headings.
    Strong,
}

/// The signs, each with an ASCII form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Done,
    Refused,
    Incoming,
    Reverted,
    Minus,
    Arrow,
    Dot,
    More,
    CarriageReturn,
}

/// A line's width where nothing says otherwise.
const USUAL_WIDTH: usize = 88;
/// Lines are laid out no wider than this, however wide the terminal is.
const WIDEST: usize = 110;
/// … and no narrower.
const NARROWEST: usize = 40;

impl Look {
    /// How to print to `stream`.
    pub(crate) fn of(
        stream: &(impl IsTerminal + AsStream),
        environment: &Environment,
        color: ColorChoice,
    ) -> Look {
        let terminal = stream.is_terminal();
        let width =
            terminal.then(|| stream.columns()).flatten().map(|columns| columns.clamp(NARROWEST, WIDEST));
        Look {
            color: match color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => terminal && !environment.no_color && !environment.dumb,
            },
            utf8: environment.utf8,
            width,
        }
    }

    /// The same on another stream, which is a terminal.
    pub(crate) fn on(self, stream: &impl AsStream) -> Look {
        Look { width: Some(stream.columns().unwrap_or(USUAL_WIDTH).clamp(NARROWEST, WIDEST)), ..self }
    }

    /// The cells that a line is laid out in.
    pub(crate) fn columns(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH)
    }

    /// `text` in a colour.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_string();
        }
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "31",
            Paint::Look => "33",
            Paint::Dim => "2",
            Paint::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A sign.
    pub(crate) fn sign(&self, sign: Sign) -> &'static str {
        let (utf8, ascii) = match sign {
            Sign::Done => ("✓", "ok"),
            Sign::Refused => ("✗", "x"),
            Sign::Incoming => ("▸", ">"),
            Sign::Reverted => ("↩", "<"),
            Sign::Minus => ("−", "-"),
            Sign::Arrow => ("→", "->"),
            Sign::Dot => ("·", "-"),
            Sign::More => ("…", "..."),
            Sign::CarriageReturn => ("␍", "^M"),
        };
        if self.utf8 { utf8 } else { ascii }
    }

    fn ellipsis(&self) -> Ellipsis {
        if self.utf8 { Ellipsis::Unicode } else { Ellipsis::Ascii }
    }

    /// Foreign text on one line, with nothing in it that a terminal obeys or hides.
    pub(crate) fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(Tabs::Show, false).apply(text)
    }

    /// A line of code: like [`safe`](Look::safe), but tabs stay tabs.
    pub(crate) fn code<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(Tabs::Keep, false).apply(text)
    }

    /// Several lines of foreign text: line feeds and tabs stay.
    pub(crate) fn block<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(Tabs::Keep, true).apply(text)
    }

    /// A line of code without its indentation, cut to `limit` cells.
    pub(crate) fn excerpt(&self, text: &str, limit: usize) -> String {
        let safe = self.escape(Tabs::Expand, false).apply(text.trim());
        width::clip(&safe, limit, self.ellipsis()).into_owned()
    }

    /// A path in at most `limit` cells.
    pub(crate) fn path(&self, path: &str, limit: usize) -> String {
        width::shorten_path(&self.safe(path), limit, self.ellipsis()).into_owned()
    }

    /// Foreign text on one line, cut to `limit` cells.
    pub(crate) fn clip(&self, text: &str, limit: usize) -> String {
        width::clip(&self.safe(text), limit, self.ellipsis()).into_owned()
    }

    /// Text that is safe and not painted yet, broken between words where the width is bounded; all
    /// lines but the first are indented by `indent`.
    pub(crate) fn wrap(&self, text: &str, indent: usize) -> String {
        match self.width {
            Some(columns) => width::wrap(text, columns, indent),
            None => text.to_string(),
        }
    }

    fn escape(&self, tabs: Tabs, newlines: bool) -> Escape {
        Escape { tabs, newlines, ascii: !self.utf8 }
    }
}

/// A stream whose width can be asked for.
pub(crate) trait AsStream {
    /// Its columns, if it is a terminal that knows them.
    fn columns(&self) -> Option<usize>;
}

impl AsStream for std::io::Stdout {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0))
    }
}

impl AsStream for std::io::Stderr {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0))
    }
}

impl AsStream for std::fs::File {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0)).filter(|columns| *columns > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(set: &[(&str, &str)]) -> Environment {
        Environment::from(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_string())
        })
    }

    #[test]
    fn the_locale_says_whether_utf8_is_understood() {
        assert!(environment(&[("LANG", "de_DE.UTF-8")]).utf8);
        assert!(environment(&[("LC_ALL", "C.utf8"), ("LANG", "C")]).utf8);
        assert!(!environment(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]).utf8 || cfg!(windows));
        assert!(environment(&[("LC_ALL", ""), ("LANG", "en_US.UTF-8")]).utf8);
        assert!(!environment(&[]).utf8 || cfg!(windows));
    }

    #[test]
    fn an_empty_no_color_means_nothing() {
        assert!(environment(&[("NO_COLOR", "1")]).no_color);
        assert!(!environment(&[("NO_COLOR", "")]).no_color);
        assert!(environment(&[("TERM", "dumb")]).dumb);
    }
}
