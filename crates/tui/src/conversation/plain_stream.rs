//! An answer as plain lines, wrapped by words: what stands where no Markdown is drawn.

use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Bytes of a line that are drawn; the rest of it begins another.
const MAX_LINE_BYTES: usize = 8_192;

#[derive(Debug, Clone)]
pub(super) struct PlainStream {
    token: ThemeToken,
    open: String,
    is_finished: bool,
}

impl PlainStream {
    pub(super) fn new(token: ThemeToken) -> PlainStream {
        PlainStream { token, open: String::new(), is_finished: false }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.open.push_str(text);
    }

    pub(super) fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Lines that can never change any more.
    pub(super) fn take_finished(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let end = match self.is_finished {
            true => self.open.len(),
            false => self.open.rfind('\n').map_or(0, |at| at + 1),
        };
        let rest = self.open.split_off(end);
        let done = std::mem::replace(&mut self.open, rest);
        self.draw(&done, style, width)
    }

    /// The rest.
    pub(super) fn live(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.draw(&self.open, style, width)
    }

    fn draw(&self, text: &str, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for line in text.lines() {
            let mut rest = line;
            while rest.len() > MAX_LINE_BYTES {
                let end =
                    (0..=MAX_LINE_BYTES).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
                let (head, tail) = rest.split_at(end);
                lines.extend(self.draw_line(head, style, width));
                rest = tail;
            }
            lines.extend(self.draw_line(rest, style, width));
        }
        lines
    }

    fn draw_line(&self, line: &str, style: &ThemeStyle, width: usize) -> Vec<String> {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let below = SpanLine::plain(" ".repeat(blanks.min(width / 2)));
        let line = SpanLine::painted(self.token, shown(&style.output, line.trim_end()));
        line.wrap(width, &below).iter().map(|line| line.paint(style)).collect()
    }
}
