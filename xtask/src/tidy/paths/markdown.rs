//! What a page writes as code: spans in its text, and lines of its code blocks.

/// A piece of code on a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CodeSpan {
    /// The line that its paragraph begins on, or its own in a code block; from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// It is a line that somebody types: in a block of shell, or after a `$`.
    pub(super) is_typed: bool,
    /// Which paragraph it stands in.
    pub(super) paragraph: usize,
}

/// All pieces of code, in order. Other lines of code blocks are what programs print, and no pieces.
pub(super) fn code_spans(page: &str) -> Vec<CodeSpan> {
    let mut spans = Vec::new();
    let mut paragraph = Paragraph::default();
    let mut fence: Option<&str> = None;
    for (at, line) in page.lines().enumerate() {
        let marker = line.trim_start().strip_prefix("```");
        match (fence, marker) {
            (None, Some(language)) => {
                paragraph.end(&mut spans);
                fence = Some(language.trim());
            }
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => {
                let typed = line.trim_start().strip_prefix("$ ").or((language == "sh").then_some(line));
                spans.extend(typed.map(|text| CodeSpan {
                    line: at + 1,
                    text: text.trim().to_owned(),
                    is_typed: true,
                    paragraph: paragraph.number,
                }));
            }
            (None, None) if line.trim().is_empty() => paragraph.end(&mut spans),
            (None, None) => paragraph.add(at + 1, line),
        }
    }
    paragraph.end(&mut spans);
    spans
}

/// The paragraph that is being read: a span may go on in its next line.
#[derive(Default)]
struct Paragraph {
    number: usize,
    line: usize,
    text: String,
}

impl Paragraph {
    fn add(&mut self, line: usize, text: &str) {
        if self.text.is_empty() {
            self.line = line;
        }
        self.text.push_str(text.trim());
        self.text.push(' ');
    }

    fn end(&mut self, spans: &mut Vec<CodeSpan>) {
        let pieces = self.text.split('`').skip(1).step_by(2).filter(|text| !text.is_empty());
        spans.extend(pieces.map(|text| CodeSpan {
            line: self.line,
            text: text.to_owned(),
            is_typed: false,
            paragraph: self.number,
        }));
        *self = Paragraph { number: self.number + 1, ..Paragraph::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_over_lines_and_blocks_give_what_is_typed() {
        let page = "# A\n\nSee `b c` and `d\ne`.\n\n```sh\nf  # g\n```\n\n```\n$ h\nprinted\n```\n";
        let found: Vec<(usize, String, bool)> =
            code_spans(page).into_iter().map(|span| (span.line, span.text, span.is_typed)).collect();
        let expected = [(3, "b c", false), (3, "d e", false), (7, "f  # g", true), (11, "h", true)];
        assert_eq!(found, expected.map(|(line, text, typed)| (line, text.to_owned(), typed)));
    }
}
