//! What the place that relay prints to can do: colour, characters, width.
//!
//! Without UTF-8 every sign has an ASCII form and foreign text is escaped down to ASCII.

use std::borrow::Cow;

use relaycode_text::escape::{EscapeOptions, EscapeTabs};
use relaycode_text::width::{self, Ellipsis};
use terminal_size::terminal_size_of;

/// How to print to one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStyle {
    /// Colours are understood and wanted.
    pub color: bool,
    /// UTF-8 is understood.
    pub utf8: bool,
    /// Cells in a line; `None` if it is no terminal and lines may be long.
    pub width: Option<usize>,
}

/// What a colour stands for; a sign or a word always says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintRole {
    /// Lines that come in, things that are done.
    Good,
    /// Lines that go, things that are refused.
    Bad,
    /// Something to look at.
    Attention,
    /// Secondary.
    Dim,
    /// Headings.
    Strong,
    /// A word that comes in.
    GoodWord,
    /// A word that goes.
    BadWord,
    /// Blanks that come in.
    GoodBlank,
    /// Blanks that go.
    BadBlank,
    /// A word of a language.
    Keyword,
    /// A string or a number in code.
    Literal,
    /// The name of a type or of a function in code.
    Name,
}

/// The signs, each with an ASCII form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// It is done.
    Done,
    /// Refused or failed.
    Refused,
    /// A change that comes in.
    Incoming,
    /// A change that was taken back.
    Reverted,
    /// Lines that go.
    Minus,
    /// From one to another.
    Arrow,
    /// Between parts of a line.
    Dot,
    /// Something was cut.
    More,
    /// A carriage return before a line feed.
    CarriageReturn,
    /// Between two columns.
    Bar,
}

/// A line's width where nothing says otherwise.
const USUAL_WIDTH: usize = 88;
/// Lines are laid out no wider than this, however wide the terminal is.
const WIDEST: usize = 110;
/// … and no narrower.
const NARROWEST: usize = 20;
/// From here on a line has room for everything that belongs on it.
const ROOMY_WIDTH: usize = 80;
/// Cells that a text needs beside its label; with less it stands below it.
const MIN_TEXT_CELLS: usize = 24;

impl OutputStyle {
    /// The same on another stream, which is a terminal.
    pub fn for_stream(self, stream: &impl StreamWidth) -> OutputStyle {
        OutputStyle { width: Some(stream.cells().unwrap_or(USUAL_WIDTH)), ..self }
    }

    /// The cells that a line is laid out in.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH)
    }

    /// Whether lines may have to be laid out in another way than on a terminal of the usual width.
    pub fn is_narrow(&self) -> bool {
        self.width.is_some_and(|columns| columns < ROOMY_WIDTH)
    }

    /// Whether too little is left beside `taken` cells for text to stand there; it then stands below.
    pub fn is_tight(&self, taken: usize) -> bool {
        self.width.is_some_and(|columns| columns < taken + MIN_TEXT_CELLS)
    }

    /// `text` in a colour.
    pub fn paint(&self, paint: PaintRole, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_string();
        }
        let code = match paint {
            PaintRole::Good => "32",
            PaintRole::Bad => "31",
            PaintRole::Attention => "33",
            PaintRole::Dim => "2",
            PaintRole::Strong => "1",
            PaintRole::GoodWord => "1;32",
            PaintRole::BadWord => "1;31",
            PaintRole::GoodBlank => "4;32",
            PaintRole::BadBlank => "4;31",
            PaintRole::Keyword => "35",
            PaintRole::Literal => "36",
            PaintRole::Name => "94",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A sign.
    pub fn glyph(&self, sign: Glyph) -> &'static str {
        let (utf8, ascii) = match sign {
            Glyph::Done => ("✓", "ok"),
            Glyph::Refused => ("✗", "x"),
            Glyph::Incoming => ("▸", ">"),
            Glyph::Reverted => ("↩", "<"),
            Glyph::Minus => ("−", "-"),
            Glyph::Arrow => ("→", "->"),
            Glyph::Dot => ("·", "-"),
            Glyph::More => ("…", "..."),
            Glyph::CarriageReturn => ("␍", "^M"),
            Glyph::Bar => ("│", "|"),
        };
        if self.utf8 { utf8 } else { ascii }
    }

    fn ellipsis(&self) -> Ellipsis {
        if self.utf8 { Ellipsis::Unicode } else { Ellipsis::Ascii }
    }

    /// Foreign text on one line, with nothing in it that a terminal obeys or hides.
    pub fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(EscapeTabs::Show, false).apply(text)
    }

    /// A line of code: like [`safe`](Look::safe), but tabs stay tabs.
    pub fn code<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(EscapeTabs::Keep, false).apply(text)
    }

    /// Several lines of foreign text: line feeds and tabs stay.
    pub fn block<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.escape(EscapeTabs::Keep, true).apply(text)
    }

    /// A line of code without its indentation, cut to `limit` cells.
    pub fn excerpt(&self, text: &str, limit: usize) -> String {
        let safe = self.escape(EscapeTabs::Expand, false).apply(text.trim());
        width::clip(&safe, limit, self.ellipsis()).into_owned()
    }

    /// A path in at most `limit` cells.
    pub fn path(&self, path: &str, limit: usize) -> String {
        width::shorten_path(&self.safe(path), limit, self.ellipsis()).into_owned()
    }

    /// Foreign text on one line, cut to `limit` cells.
    pub fn clip(&self, text: &str, limit: usize) -> String {
        width::clip(&self.safe(text), limit, self.ellipsis()).into_owned()
    }

    /// Text that is safe and not painted yet, broken between words where the width is bounded; all
    /// lines but the first are indented by `indent`.
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        match self.width {
            Some(columns) => width::wrap(text, columns, indent),
            None => text.to_string(),
        }
    }

    /// The same on a narrow terminal; elsewhere the text stays on one line.
    pub(crate) fn wrap_if_narrow(&self, text: &str, indent: usize) -> String {
        if self.is_narrow() { self.wrap(text, indent) } else { text.to_string() }
    }

    /// A path that is part of a sentence: not cut, unless it is wider than a line of its own with `indent`.
    pub fn path_in(&self, path: &str, indent: usize) -> String {
        self.path(path, self.width.map_or(usize::MAX, |columns| columns.saturating_sub(indent)))
    }

    fn escape(&self, tabs: EscapeTabs, newlines: bool) -> EscapeOptions {
        EscapeOptions { tabs, newlines, ascii: !self.utf8 }
    }
}

/// A stream whose width can be asked for.
pub trait StreamWidth {
    /// Its columns, if it is a terminal that knows them.
    fn columns(&self) -> Option<usize>;

    /// The cells that lines are laid out in there.
    fn cells(&self) -> Option<usize> {
        self.columns().map(|columns| columns.clamp(NARROWEST, WIDEST))
    }
}

impl StreamWidth for std::io::Stdout {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0))
    }
}

impl StreamWidth for std::io::Stderr {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0))
    }
}

impl StreamWidth for std::fs::File {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0)).filter(|columns| *columns > 0)
    }
}
