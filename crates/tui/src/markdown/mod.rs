//! Markdown as it streams in: what is finished becomes lines that never change again, the rest is shown as it stands.
//!
//! Text is cut into blocks line by line (`block_parser`), in time linear in its length and with bounded memory: a
//! paragraph, a table or a line that never ends is cut where it gets too long. What is within a paragraph is read by
//! pulldown-cmark (`inline`). How the text is cut into chunks changes nothing in the finished lines.
//!
//! Everything shown is CommonMark with tables, task lists and strikethrough; HTML, footnotes and definitions of links
//! are shown as they are written.

mod block;
mod block_lines;
mod block_parser;
mod code_lines;
mod half_inline;
mod inline;
mod list_marks;
mod styled_spans;
mod table;
#[cfg(test)]
mod tests;

use block::MarkdownBlock;
use block_parser::BlockParser;

use crate::theme::ThemeStyle;

/// Longest line that is read as one; more is another line of the same paragraph.
pub(crate) const MARKDOWN_LINE_BYTES: usize = 4_000;

/// One answer as it comes.
///
/// ```
/// use relaycode_tui::{OutputStyle, markdown::MarkdownStream, theme::ThemeStyle};
///
/// let style = ThemeStyle::plain(OutputStyle { color: false, utf8: true, width: None });
/// let mut answer = MarkdownStream::new();
/// answer.push("One paragraph.\n\nAnd half");
/// assert_eq!(answer.take_finished(&style, 40), ["One paragraph."]);
/// assert_eq!(answer.live(&style, 40), ["", "And half"]);
/// answer.push(" of another.");
/// answer.finish();
/// assert_eq!(answer.take_finished(&style, 40), ["", "And half of another."]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct MarkdownStream {
    parser: BlockParser,
    /// Finished and not taken yet.
    blocks: Vec<MarkdownBlock>,
    /// The last line, without its end, or the beginning of a very long one.
    partial: String,
    /// `partial` goes on with a line whose beginning was too long.
    continues: bool,
}

impl MarkdownStream {
    pub fn new() -> MarkdownStream {
        MarkdownStream::default()
    }

    /// Of code blocks with more than so many lines only the beginning is shown, and how many lines there are more.
    #[must_use]
    pub fn with_folded_code(mut self, lines: usize) -> MarkdownStream {
        self.parser.fold_code_after = Some(lines.max(1));
        self
    }

    /// More of the answer.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.partial);
        pending.push_str(text);
        let mut at = 0;
        while let Some((line, next)) = next_line(&pending[at..]) {
            let ended = next > line;
            let text = &pending[at..at + line];
            self.parser.read_line(
                if ended { text.strip_suffix('\r').unwrap_or(text) } else { text },
                self.continues,
            );
            self.continues = !ended;
            at += next;
        }
        self.partial = pending.split_off(at);
        self.blocks.append(&mut self.parser.finished);
    }

    /// The answer is complete.
    pub fn finish(&mut self) {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            self.parser.read_line(last.strip_suffix('\r').unwrap_or(&last), self.continues);
        }
        self.continues = false;
        self.parser.finish();
        self.blocks.append(&mut self.parser.finished);
    }

    /// Lines that can never change any more, each once, in order.
    pub fn take_finished(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let blocks = std::mem::take(&mut self.blocks);
        let mut lines = Vec::with_capacity(blocks.len());
        for block in &blocks {
            block_lines::push_lines(&mut lines, block, style, width);
        }
        lines
    }

    /// The open rest, as far as it is known: below the finished lines that were taken. Half a construct is shown as what
    /// it will most likely be.
    pub fn live(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut parser = self.parser.clone();
        let partial = self.partial.trim_end_matches('\r');
        if !partial.is_empty() && !parser.is_half_mark(partial) {
            parser.read_line(partial, self.continues);
        }
        parser.finish_live();
        let mut lines = Vec::new();
        for block in self.blocks.iter().chain(&parser.finished) {
            block_lines::push_lines(&mut lines, block, style, width);
        }
        lines
    }

    /// Whether nothing is open or waits to be taken.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.partial.is_empty() && !self.parser.is_open()
    }

    /// Lines of the code block that is open, if one is.
    pub fn open_code_lines(&self) -> Option<usize> {
        self.parser.open_code_lines()
    }
}

/// A whole text at once.
pub fn markdown_lines(text: &str, style: &ThemeStyle, width: usize) -> Vec<String> {
    let mut stream = MarkdownStream::new();
    stream.push(text);
    stream.finish();
    stream.take_finished(style, width)
}

/// Bytes of the first line and of it with its ending, if it is complete or too long; the same for one that is too long.
/// The decision looks at no byte behind the limit, so that it does not depend on how much has come.
fn next_line(text: &str) -> Option<(usize, usize)> {
    let head = &text.as_bytes()[..text.len().min(MARKDOWN_LINE_BYTES)];
    if let Some(end) = memchr::memchr(b'\n', head) {
        return Some((end, end + 1));
    }
    if text.len() < MARKDOWN_LINE_BYTES + 4 {
        return None;
    }
    let is_end = |at: &usize| text.is_char_boundary(*at);
    let mut cut = (0..=MARKDOWN_LINE_BYTES).rev().find(is_end).unwrap_or(0);
    // Not between the two halves of a line's end, where it would become visible.
    if text.as_bytes()[cut - 1] == b'\r' {
        cut -= 1;
    }
    Some((cut, cut))
}
