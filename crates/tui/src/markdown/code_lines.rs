//! Code and HTML that is open: one line after the other, each finished as it comes. Long code may be folded.

use super::block::BlockContent;
use super::block_parser::{BlockParser, OpenLeaf, clean};
use super::list_marks::{closes_fence, leading_blanks};
use crate::highlight::{CodeLanguage, CodeScanner, CodeSpan, expand_tabs};

/// Lines at the end of folded code that are shown rather than counted.
const FOLD_REST: usize = 2;

/// Longest name of a language that is shown.
const NAME_CHARS: usize = 60;

#[derive(Debug, Clone)]
pub(super) struct OpenFence {
    sign: (u8, usize),
    indent: usize,
    scanner: CodeScanner,
    lines: usize,
    /// Lines beyond the fold that may still be shown.
    held: Vec<(String, Vec<CodeSpan>)>,
    hidden: usize,
    /// A line of it is shown.
    begun: bool,
}

impl OpenFence {
    /// Whether what may become the end of the code has begun.
    pub(super) fn is_half_end(&self, text: &str) -> bool {
        text.bytes().all(|byte| byte == self.sign.0)
    }
}

impl BlockParser {
    pub(super) fn open_code_lines(&self) -> Option<usize> {
        match &self.leaf {
            OpenLeaf::Fence(fence) => Some(fence.lines),
            _ => None,
        }
    }

    pub(super) fn open_fence(&mut self, sign: (u8, usize), indent: usize, name: &str) {
        let name: String = clean(name).chars().take(NAME_CHARS).collect();
        let scanner = CodeScanner::new(CodeLanguage::from_name(&name));
        let begun = !name.is_empty();
        if begun {
            self.emit(BlockContent::CodeHead(name), true);
        }
        self.leaf = OpenLeaf::Fence(OpenFence {
            sign,
            indent,
            scanner,
            lines: 0,
            held: Vec::new(),
            hidden: 0,
            begun,
        });
    }

    pub(super) fn fence_line(&mut self, line: &str) {
        let OpenLeaf::Fence(fence) = &self.leaf else { return };
        if closes_fence(line, fence.sign) {
            return self.close_leaf();
        }
        let line = &line[leading_blanks(line).min(fence.indent)..];
        self.fence_code(expand_tabs(line).into_owned());
    }

    pub(super) fn fence_code(&mut self, line: String) {
        let fold = self.fold_code_after;
        let OpenLeaf::Fence(fence) = &mut self.leaf else { return };
        let spans = fence.scanner.next_line(&line);
        fence.lines += 1;
        if fold.is_some_and(|fold| fence.lines > fold) {
            fence.held.push((line, spans));
            if fence.held.len() > FOLD_REST || fence.hidden > 0 {
                fence.hidden += fence.held.len();
                fence.held.clear();
            }
            return;
        }
        let begun = std::mem::replace(&mut fence.begun, true);
        self.code_line(line, spans, begun);
    }

    pub(super) fn code_line(&mut self, line: String, spans: Vec<CodeSpan>, begun: bool) {
        self.emit_continued(BlockContent::CodeLine { line, spans }, begun);
    }

    pub(super) fn html_line(&mut self, line: &str, begun: bool) {
        self.leaf = OpenLeaf::Html { begun: true };
        let line = expand_tabs(line.trim_end()).into_owned();
        self.emit_continued(BlockContent::Html(line), begun);
    }

    pub(super) fn close_fence(&mut self, fence: OpenFence) {
        for (line, spans) in fence.held {
            self.code_line(line, spans, true);
        }
        if fence.hidden > 0 {
            self.emit_continued(BlockContent::CodeFolded { hidden: fence.hidden, open: false }, true);
        }
    }

    /// Of code that is still open: how many lines are not shown so far.
    pub(super) fn count_folded_lines(&mut self) {
        let OpenLeaf::Fence(fence) = &mut self.leaf else { return };
        let hidden = std::mem::take(&mut fence.hidden) + std::mem::take(&mut fence.held).len();
        if hidden > 0 {
            self.emit_continued(BlockContent::CodeFolded { hidden, open: true }, true);
        }
    }
}
