//! What an output stream can show: colour, characters, width.
//!
//! Without UTF-8 every glyph has an ASCII form and foreign text is escaped to ASCII.

use std::borrow::Cow;
use std::os::fd::AsFd;

use relaycode_text::escape::{EscapeOptions, EscapeTabs};
use relaycode_text::width::{self, Ellipsis};
use terminal_size::terminal_size_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStyle {
    /// Colours are understood and wanted.
    pub color: bool,
    /// UTF-8 is understood.
    pub utf8: bool,
    /// In cells; `None` if it is not a terminal and lines may be long.
    pub width: Option<usize>,
}

/// The meaning of a colour; a glyph or a word always says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintRole {
    /// Added lines, success.
    Good,
    /// Removed lines, refusals.
    Bad,
    /// Needs a look.
    Attention,
    Dim,
    /// Headings.
    Strong,
    GoodWord,
    /// A removed word.
    BadWord,
    GoodBlank,
    /// Removed blanks.
    BadBlank,
    Keyword,
    /// A string or a number in code.
    Literal,
    Name,
}

/// Each has an ASCII form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    Done,
    /// Refused or failed.
    Refused,
    Incoming,
    Reverted,
    /// Removed lines.
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

/// Width of a line where nothing else is known.
const USUAL_WIDTH: usize = 88;
/// Lines are laid out no wider than this, however wide the terminal is.
const WIDEST: usize = 110;
/// … and no narrower.
const NARROWEST: usize = 20;
/// From this width on a line has room for everything.
const ROOMY_WIDTH: usize = 80;
/// Cells a text needs beside its label; with less it goes below.
const MIN_TEXT_CELLS: usize = 24;

impl OutputStyle {
    /// The same style for another stream, which is a terminal.
    pub fn for_stream(self, stream: &impl StreamWidth) -> OutputStyle {
        OutputStyle { width: Some(stream.cells().unwrap_or(USUAL_WIDTH)), ..self }
    }

    /// Cells for laying out a line.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH)
    }

    /// Whether lines may need another layout than on a terminal of the usual width.
    pub fn is_narrow(&self) -> bool {
        self.width.is_some_and(|columns| columns < ROOMY_WIDTH)
    }

    /// Whether `taken` cells leave too little room for text beside them; it then goes below.
    pub fn is_tight(&self, taken: usize) -> bool {
        self.width.is_some_and(|columns| columns < taken + MIN_TEXT_CELLS)
    }

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

    /// A line of code: like [`OutputStyle::safe`], but tabs stay.
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

    /// The title of a change, not yet safe: its arrows are drawn as this style draws them.
    pub fn title<'a>(&self, title: &'a str) -> Cow<'a, str> {
        if self.utf8 { title.into() } else { title.replace('→', self.glyph(Glyph::Arrow)).into() }
    }

    /// Shortens a path to `limit` cells.
    pub fn path(&self, path: &str, limit: usize) -> String {
        width::shorten_path(&self.safe(path), limit, self.ellipsis()).into_owned()
    }

    /// The two names of a file, shortened to so many cells; whole where they would look the same.
    pub(crate) fn rename(&self, (from, to): (&str, &str), (limit, to_limit): (usize, usize)) -> [String; 2] {
        let short = [self.path(from, limit), self.path(to, to_limit)];
        if short[0] == short[1] { [self.safe(from).into_owned(), self.safe(to).into_owned()] } else { short }
    }

    /// Foreign text on one line, cut to `limit` cells.
    pub fn clip(&self, text: &str, limit: usize) -> String {
        width::clip(&self.safe(text), limit, self.ellipsis()).into_owned()
    }

    /// Wraps text that is safe and not painted yet, if the width is bounded; all lines but the first are
    /// indented by `indent`.
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        match self.width {
            Some(columns) => width::wrap(text, columns, indent),
            None => text.to_string(),
        }
    }

    /// Wraps on a narrow terminal only.
    pub(crate) fn wrap_if_narrow(&self, text: &str, indent: usize) -> String {
        if self.is_narrow() { self.wrap(text, indent) } else { text.to_string() }
    }

    /// A path within a sentence: shortened only if it is wider than a line of its own at `indent`.
    pub fn path_in(&self, path: &str, indent: usize) -> String {
        self.path(path, self.width.map_or(usize::MAX, |columns| columns.saturating_sub(indent)))
    }

    fn escape(&self, tabs: EscapeTabs, newlines: bool) -> EscapeOptions {
        EscapeOptions { tabs, newlines, ascii: !self.utf8 }
    }
}

pub trait StreamWidth {
    /// `None` if it is not a terminal, or does not know.
    fn columns(&self) -> Option<usize>;

    /// Cells for laying out lines.
    fn cells(&self) -> Option<usize> {
        self.columns().map(|columns| columns.clamp(NARROWEST, WIDEST))
    }
}

impl<T: AsFd> StreamWidth for T {
    fn columns(&self) -> Option<usize> {
        terminal_size_of(self).map(|(width, _)| usize::from(width.0))
    }
}
