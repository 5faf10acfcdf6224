//! Colours for code. Whole files are coloured by their grammar (`source`); code that streams in, line by line by a
//! scanner that remembers only what is open at the end of a line (`scanner`), so that a line once shown never changes
//! and 10,000 lines cost ten times what 1,000 do. Both know a language's words from its grammar.

mod language;
mod scanner;
mod source;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use language::CodeLanguage;
pub use scanner::{CodeScanner, diff_line_token};
pub use source::{paint_source_lines, source_spans};

use crate::theme::{ThemeStyle, ThemeToken};

/// Beyond these bytes a line has no colours.
pub const CODE_LINE_BYTES: usize = 2_000;

/// Bytes of a line, and their colour; in order, without overlap, on character boundaries.
pub type CodeSpan = (Range<usize>, ThemeToken);

/// A line of code made safe and painted; what no span covers has the colour `base`.
pub fn paint_code_line(style: &ThemeStyle, line: &str, spans: &[CodeSpan], base: ThemeToken) -> String {
    let mut painter =
        RunPainter { style, out: String::with_capacity(line.len() * 2), run: String::new(), token: base };
    let mut at = 0;
    for (bytes, token) in spans {
        painter.add(&line[at..bytes.start.max(at)], base);
        painter.add(&line[bytes.clone()], *token);
        at = bytes.end;
    }
    painter.add(&line[at..], base);
    painter.flush();
    painter.out
}

/// Paints neighbours of the same colour together; blanks have none.
struct RunPainter<'a> {
    style: &'a ThemeStyle,
    out: String,
    run: String,
    token: ThemeToken,
}

impl RunPainter<'_> {
    fn add(&mut self, text: &str, token: ThemeToken) {
        if text.is_empty() {
            return;
        }
        let color = |token| self.style.theme.color(token);
        let same = token == self.token || color(token) == color(self.token);
        if !same && !text.bytes().all(|byte| byte == b' ') {
            self.flush();
        }
        if self.run.is_empty() {
            self.token = token;
        }
        self.run.push_str(&self.style.output.safe(text));
    }

    fn flush(&mut self) {
        // Blanks at either end need no colour.
        let text = self.run.trim_matches(' ');
        let start = self.run.len() - self.run.trim_start_matches(' ').len();
        self.out.push_str(&self.run[..start]);
        self.out.push_str(&self.style.paint(self.token, text));
        self.out.push_str(&self.run[start + text.len()..]);
        self.run.clear();
    }
}

/// Tabs as blanks up to the next multiple of four characters.
pub(crate) fn expand_tabs(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\t') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for c in line.chars() {
        if c == '\t' {
            let blanks = relaycode_text::escape::TAB_STOP - column % relaycode_text::escape::TAB_STOP;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out.into()
}
