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
    let mut out = String::with_capacity(line.len() + spans.len() * 24);
    let mut at = 0;
    for (bytes, token) in spans {
        if bytes.start > at {
            out.push_str(&style.paint(base, &style.output.safe(&line[at..bytes.start])));
        }
        out.push_str(&style.paint(*token, &style.output.safe(&line[bytes.clone()])));
        at = bytes.end;
    }
    out.push_str(&style.paint(base, &style.output.safe(&line[at..])));
    out
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
