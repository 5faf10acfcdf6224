//! What a tool's call looks like: one line that says what it was and what came of it, and below it the part of its body that
//! is worth reading at once. Drawn from the card's data alone: a tool added later needs nothing here.
//!
//! ```text
//!   ● read src/client.rs                                  212 lines
//!   ● edit src/client.rs                                  +31 −4
//!       14 - let response = self.http.send(request)?;
//!       14 + let response = self.with_retry(|| self.http.send(request.clone()))?;
//!       … 34 more lines (Ctrl-O)
//!   ✗ bash cargo test client                              exit 101 · 4.2 s
//!       test result: FAILED. 11 passed; 1 failed
//! ```

mod body;
mod call_title;
mod diff;
mod head;
mod json_tree;
#[cfg(test)]
pub(crate) mod tests;

use relaycode_tools::{CardBody, ToolCard};

pub(crate) use body::tail_lines;
pub use call_title::call_title;
pub(crate) use head::{counts, duration_text, title_line};

use head::head_lines;

use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::SpanLine;
use crate::theme::{ThemeStyle, ThemeToken};

/// Narrower terminals have no room for indents.
pub(crate) const CLOSE_COLUMNS: usize = 40;
/// Lines of a body that are drawn at most, even when all of it is wanted.
const MAX_FULL_LINES: usize = 5_000;

/// A call that has ended.
#[derive(Debug, Clone)]
pub struct CallCard {
    /// As the model calls it.
    pub tool: String,
    /// What it was called with: said if the card has no title of its own.
    pub arguments_title: String,
    pub is_error: bool,
    pub card: ToolCard,
}

/// How much of a body is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardExtent {
    /// What is worth reading at once; how much is left out is said.
    Folded,
    Full,
}

/// How cards are drawn.
#[derive(Debug, Clone)]
pub struct CardLook {
    pub extent: CardExtent,
    /// The key that shows what is folded, as people read it: `Ctrl-O`.
    pub expand_key: Option<String>,
}

impl CallCard {
    /// Every line fits into `width` cells.
    pub fn lines(&self, look: &CardLook, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut lines = head_lines(&self.head(style), style, width);
        lines.extend(self.body_lines(look, style, width));
        lines.iter().map(|line| line.clone().clip(width, &style.output).paint(style)).collect()
    }

    /// Whether some of it is left out as long as it is folded.
    pub fn is_folded(&self, style: &ThemeStyle, width: usize) -> bool {
        body::folded_body(self, style, width).left_out > 0
    }

    /// The body alone, at most as much as `look` says.
    fn body_lines(&self, look: &CardLook, style: &ThemeStyle, width: usize) -> Vec<SpanLine> {
        let drawn = match look.extent {
            CardExtent::Folded => body::folded_body(self, style, width),
            CardExtent::Full => body::full_body(self, style, width),
        };
        let body::DrawnBody { mut lines, left_out, is_end } = drawn;
        if left_out > 0 && !lines.is_empty() {
            let more = more_line(left_out, is_end, look, style, width);
            if is_end { lines.insert(0, more) } else { lines.push(more) }
        }
        lines
    }

    fn head(&self, style: &ThemeStyle) -> head::CardHead {
        head::CardHead::of(self, style)
    }

    pub(crate) fn title(&self) -> &str {
        // A call that was refused has no title but its tool's name.
        match self.card.title.trim() {
            title if title.is_empty() || (title == self.tool && !self.arguments_title.is_empty()) => {
                if self.arguments_title.is_empty() { &self.tool } else { &self.arguments_title }
            }
            title => title,
        }
    }

    /// Text that a person would copy.
    pub fn body_text(&self) -> Option<&str> {
        match &self.card.body {
            CardBody::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// Cells before a body.
pub(crate) fn body_indent(width: usize) -> usize {
    if width < CLOSE_COLUMNS { 2 } else { 6 }
}

/// `… 34 more lines (Ctrl-O)`
fn more_line(left_out: usize, is_end: bool, look: &CardLook, style: &ThemeStyle, width: usize) -> SpanLine {
    let lines = if left_out == 1 { "line" } else { "lines" };
    let what = if is_end { format!("{left_out} {lines} before") } else { format!("{left_out} more {lines}") };
    let key = look.expand_key.as_deref().filter(|_| look.extent == CardExtent::Folded);
    let key = key.map(|key| format!(" ({key})")).unwrap_or_default();
    let text = format!(
        "{}{} {what}{key}",
        " ".repeat(body_indent(width)),
        symbol(style, ConversationSymbol::Ellipsis)
    );
    SpanLine::painted(ThemeToken::Dim, text)
}
