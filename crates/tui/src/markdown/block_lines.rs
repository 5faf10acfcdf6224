//! Blocks as lines: each with what stands before it because of the quotes and items it is in, none wider than asked.

use relaycode_text::plural::pluralize;

use super::block::{BlockContent, BlockPrefix, ItemMark, MarkdownBlock};
use super::half_inline::close_inline;
use super::inline::inline_spans;
use super::styled_spans::{SpanLook, StyledSpan, cut_spans, safe_prose, wrap_spans};
use super::table;
use crate::cells;
use crate::highlight::{CodeSpan, paint_code_line};
use crate::theme::{SymbolKey, ThemeStyle, ThemeToken};

/// Cells before code.
const CODE_INDENT: usize = 2;
/// Widest rule.
const RULE_CELLS: usize = 40;
/// Text keeps at least so many cells, however deep it is.
const TEXT_CELLS: usize = 8;

/// Appends the lines of a block.
pub(super) fn push_lines(out: &mut Vec<String>, block: &MarkdownBlock, style: &ThemeStyle, width: usize) {
    let width = width.max(2);
    let prefix = PrefixText::of(block, style, width);
    if let Some(shared) = block.gap {
        out.push(prefix.gap(shared));
    }
    let room = width.saturating_sub(prefix.cells).max(2);
    for (at, line) in content_lines(block, style, room).into_iter().enumerate() {
        let before = if at == 0 { &prefix.first } else { &prefix.rest };
        out.push(if line.is_empty() { before.trim_end().to_owned() } else { format!("{before}{line}") });
    }
}

/// What stands before the first line of a block, and before the others.
struct PrefixText {
    first: String,
    rest: String,
    cells: usize,
    /// The part for the lines between blocks, by depth.
    parts: Vec<String>,
}

impl PrefixText {
    fn of(block: &MarkdownBlock, style: &ThemeStyle, width: usize) -> PrefixText {
        let mut text = PrefixText { first: String::new(), rest: String::new(), cells: 0, parts: Vec::new() };
        for part in &block.prefix {
            let (mark, token, wide, shown) = match part {
                BlockPrefix::Quote => {
                    let bar = style.symbol(SymbolKey::QuoteBar).to_owned();
                    let wide = cells(&bar) + 1;
                    (bar, ThemeToken::MdQuoteBorder, wide, true)
                }
                BlockPrefix::Item { mark, shown } => {
                    let sign = match mark {
                        ItemMark::Bullet => style.symbol(SymbolKey::Bullet).to_owned(),
                        ItemMark::Number(number, sign) => format!("{number}{sign}"),
                        ItemMark::Task(true) => style.symbol(SymbolKey::TaskDone).to_owned(),
                        ItemMark::Task(false) => style.symbol(SymbolKey::TaskOpen).to_owned(),
                    };
                    let wide = cells(&sign) + 1;
                    (sign, ThemeToken::MdListBullet, wide, *shown)
                }
            };
            // Too deep for the width: the outer levels are left out.
            if text.cells + wide + TEXT_CELLS > width {
                if wide + TEXT_CELLS > width {
                    continue;
                }
                text = PrefixText { first: String::new(), rest: String::new(), cells: 0, parts: text.parts };
            }
            let painted = format!("{} ", style.paint(token, &mark));
            let blank = " ".repeat(wide);
            let is_quote = matches!(part, BlockPrefix::Quote);
            text.first.push_str(if shown { &painted } else { &blank });
            text.rest.push_str(if is_quote { &painted } else { &blank });
            text.parts.push(if is_quote { painted } else { blank });
            text.cells += wide;
        }
        text
    }

    fn gap(&self, shared: usize) -> String {
        let parts = &self.parts[..shared.min(self.parts.len())];
        parts.concat().trim_end().to_owned()
    }
}

fn content_lines(block: &MarkdownBlock, style: &ThemeStyle, width: usize) -> Vec<String> {
    let quoted = block.prefix.iter().any(|part| matches!(part, BlockPrefix::Quote));
    let base = SpanLook {
        token: Some(if quoted { ThemeToken::MdQuote } else { ThemeToken::Text }),
        ..SpanLook::default()
    };
    let wrapped = |spans: &[StyledSpan]| -> Vec<String> {
        wrap_spans(spans, width).iter().map(|line| line.painted(style)).collect()
    };
    match &block.content {
        BlockContent::Paragraph { source, live } => {
            let closed = if *live { close_inline(source) } else { source.clone() };
            wrapped(&inline_spans(style, closed.trim(), &base))
        }
        BlockContent::Heading { level, source } => heading_lines(*level, source, style, width),
        BlockContent::Rule => {
            vec![style.paint(ThemeToken::MdHr, &style.symbol(SymbolKey::Rule).repeat(width.min(RULE_CELLS)))]
        }
        BlockContent::CodeHead(name) => {
            let name = style.output.clip(name, width.saturating_sub(CODE_INDENT));
            vec![indented(&style.paint(ThemeToken::MdCodeBlockBorder, &name), width)]
        }
        BlockContent::CodeLine { line, spans } => code_lines(line, spans, style, width),
        BlockContent::CodeFolded { hidden, open } => {
            let more = style.symbol(SymbolKey::More);
            let so_far = if *open { " so far" } else { "" };
            let text = format!("{more} {}{so_far}", pluralize(*hidden, "more line"));
            let text = style.output.clip(&text, width.saturating_sub(CODE_INDENT));
            vec![indented(&style.paint(ThemeToken::Dim, &text), width)]
        }
        BlockContent::Html(line) => {
            let look = SpanLook { token: Some(ThemeToken::Muted), ..SpanLook::default() };
            wrapped(&[StyledSpan { text: safe_prose(style, line), look }])
        }
        BlockContent::Table(table) => table::lines(table, style, width),
        BlockContent::Nothing => vec![String::new()],
    }
}

/// Without colours the signs stay, so that a heading is one.
fn heading_lines(level: usize, source: &str, style: &ThemeStyle, width: usize) -> Vec<String> {
    let look = SpanLook {
        token: Some(ThemeToken::MdHeading),
        bold: level <= 3,
        italic: level > 3,
        underline: level == 1,
        ..SpanLook::default()
    };
    let mut spans = inline_spans(style, source, &look);
    if !style.is_painted() {
        spans.insert(0, StyledSpan { text: format!("{} ", "#".repeat(level)), look: SpanLook::default() });
    }
    wrap_spans(&spans, width).iter().map(|line| line.painted(style)).collect()
}

fn indented(text: &str, width: usize) -> String {
    if width > CODE_INDENT + TEXT_CELLS {
        format!("{}{text}", " ".repeat(CODE_INDENT))
    } else {
        text.to_owned()
    }
}

/// A line of code, cut where it is wider than the room: its blanks matter, so it is not broken between words.
fn code_lines(line: &str, spans: &[CodeSpan], style: &ThemeStyle, width: usize) -> Vec<String> {
    let room = if width > CODE_INDENT + TEXT_CELLS { width - CODE_INDENT } else { width };
    if line.is_empty() {
        return vec![String::new()];
    }
    if crate::cells(&style.output.safe(line)) <= room && !has_mark_pile(line) {
        return vec![indented(&paint_code_line(style, line, spans, ThemeToken::MdCodeBlock), width)];
    }
    let pieces = code_pieces(line, spans, style);
    cut_spans(&pieces, room).iter().map(|line| indented(&line.painted(style), width)).collect()
}

/// Whether more zero-width marks follow one another than any letter needs.
fn has_mark_pile(line: &str) -> bool {
    let mut marks = 0;
    line.chars().any(|c| {
        marks = if !c.is_ascii() && super::styled_spans::char_cells(c) == 0 { marks + 1 } else { 0 };
        marks > 8
    })
}

/// Safe text with its colour.
fn code_pieces(line: &str, spans: &[CodeSpan], style: &ThemeStyle) -> Vec<StyledSpan> {
    let mut pieces = Vec::new();
    let mut push = |text: &str, token: ThemeToken| {
        if !text.is_empty() {
            let look = SpanLook { token: Some(token), ..SpanLook::default() };
            pieces.push(StyledSpan { text: style.output.safe(text).into_owned(), look });
        }
    };
    let mut at = 0;
    for (bytes, token) in spans {
        push(&line[at..bytes.start.max(at)], ThemeToken::MdCodeBlock);
        push(&line[bytes.clone()], *token);
        at = bytes.end;
    }
    push(&line[at..], ThemeToken::MdCodeBlock);
    pieces
}
