//! Markdown as blocks, line by line. What is open is a stack of quotes and list items, and in the innermost of them at
//! most one leaf: a paragraph, code, HTML, a table.

use super::MARKDOWN_LINE_BYTES;
use super::block::{BlockContent, BlockPrefix, ItemMark, MarkdownBlock, MarkdownTable};
use super::code_lines::OpenFence;
use super::inline::{HARD_BREAK, HARD_BREAK_TEXT};
use super::list_marks::{
    begins_html, find_fence, find_heading, find_item, find_task, is_half_mark, is_rule, leading_blanks,
    underline_level,
};
use super::table;
use crate::highlight::expand_tabs;

/// Deepest nesting of quotes and items; what is deeper is text.
const DEPTH: usize = 8;
/// Rows of a table that are laid out together; more make another table below, with the same head.
const TABLE_ROWS: usize = 64;
/// Bytes of them.
const TABLE_BYTES: usize = 16_000;
/// Empty lines of code that are kept until more code comes.
const BLANK_LINES: usize = 50;

#[derive(Debug, Clone, Default)]
pub(super) struct BlockParser {
    pub(super) fold_code_after: Option<usize>,
    /// To be taken.
    pub(super) finished: Vec<MarkdownBlock>,
    open: Vec<OpenContainer>,
    pub(super) leaf: OpenLeaf,
    /// An empty line came since the last block.
    blank: bool,
    /// By depth: the last item there, as long as nothing but items followed it.
    lists: Vec<ItemMark>,
    /// What the last block was in, by number, and whether it wants room around it.
    last: Option<(Vec<u64>, bool)>,
    containers: u64,
}

#[derive(Debug, Clone)]
struct OpenContainer {
    number: u64,
    kind: ContainerKind,
}

#[derive(Debug, Clone)]
enum ContainerKind {
    Quote,
    Item { mark: ItemMark, indent: usize, shown: bool },
}

#[derive(Debug, Clone, Default)]
pub(super) enum OpenLeaf {
    #[default]
    None,
    /// Its source so far, and its lines.
    Paragraph {
        source: String,
        lines: usize,
    },
    Fence(OpenFence),
    /// Indented code, and the empty lines at its end.
    Indented {
        blanks: usize,
        begun: bool,
    },
    Html {
        begun: bool,
    },
    Table {
        table: MarkdownTable,
        bytes: usize,
    },
}

impl BlockParser {
    /// A line without its ending; `continues` if the line before was only its beginning.
    pub(super) fn read_line(&mut self, line: &str, continues: bool) {
        if continues {
            return self.continue_line(line);
        }
        let expanded;
        let line = if line.trim_start_matches(' ').starts_with('\t')
            || line.contains("\t") && self.is_structural(line)
        {
            expanded = expand_tabs(line);
            &*expanded
        } else {
            line
        };
        let (matched, rest) = self.match_containers(line);
        let all = matched == self.open.len();
        let is_blank = rest.trim().is_empty();
        if let OpenLeaf::Fence(_) = self.leaf {
            if all {
                return self.fence_line(rest);
            }
            self.close_to(matched);
        }
        if is_blank {
            return self.blank_line(matched);
        }
        if let OpenLeaf::Html { begun } = self.leaf
            && all
        {
            return self.html_line(rest, begun);
        }
        self.text_line(rest, matched);
    }

    /// Everything that is open is complete.
    pub(super) fn finish(&mut self) {
        self.close_to(0);
        self.lists.clear();
    }

    /// As [`BlockParser::finish`], for a look at what is not complete.
    pub(super) fn finish_live(&mut self) {
        self.count_folded_lines();
        let before = self.finished.len();
        self.close_to(0);
        for block in &mut self.finished[before..] {
            if let BlockContent::Paragraph { live, .. } = &mut block.content {
                *live = true;
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty() || !matches!(self.leaf, OpenLeaf::None)
    }

    /// Whether a line that is not complete is only the beginning of a mark: nothing of it is shown until it is clear what
    /// it marks, lest a paragraph be a heading for a moment because a list begins below it.
    pub(super) fn is_half_mark(&self, line: &str) -> bool {
        let text = line.trim();
        match &self.leaf {
            OpenLeaf::Fence(fence) => fence.is_half_end(text),
            OpenLeaf::Paragraph { source, lines: 1 }
                if source.contains('|') && text.bytes().all(|byte| b"|:- ".contains(&byte)) =>
            {
                true
            }
            _ => is_half_mark(text),
        }
    }

    /// Tabs count where they may be part of an indentation.
    fn is_structural(&self, line: &str) -> bool {
        !matches!(self.leaf, OpenLeaf::Fence(_))
            && line
                .trim_start()
                .starts_with(['-', '*', '+', '>', '#', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    }

    fn match_containers<'l>(&self, line: &'l str) -> (usize, &'l str) {
        let mut rest = line;
        for (at, container) in self.open.iter().enumerate() {
            match container.kind {
                ContainerKind::Quote => match strip_quote(rest) {
                    Some(inner) => rest = inner,
                    None => return (at, rest),
                },
                ContainerKind::Item { .. } if rest.trim().is_empty() => {}
                ContainerKind::Item { indent, .. } => {
                    if leading_blanks(rest) < indent {
                        return (at, rest);
                    }
                    rest = &rest[indent..];
                }
            }
        }
        (self.open.len(), rest)
    }

    fn blank_line(&mut self, matched: usize) {
        // A quote ends with an empty line, an item does not.
        let quote = self.open[matched..].iter().position(|open| matches!(open.kind, ContainerKind::Quote));
        match &mut self.leaf {
            OpenLeaf::Indented { blanks, .. } if quote.is_none() => *blanks = (*blanks + 1).min(BLANK_LINES),
            _ => self.close_leaf(),
        }
        if let Some(quote) = quote {
            self.close_to(matched + quote);
        }
        self.blank = true;
    }

    /// A line with text, behind what matched of the open containers.
    fn text_line(&mut self, line: &str, mut matched: usize) {
        let all = matched == self.open.len();
        let mut rest = line;
        let is_paragraph = matches!(self.leaf, OpenLeaf::Paragraph { .. });
        if all
            && is_paragraph
            && leading_blanks(rest) < 4
            && let Some(level) = underline_level(rest.trim_start())
        {
            return self.underlined(level);
        }
        let mut opened = false;
        while leading_blanks(rest) < 4 && matched < DEPTH {
            if let Some(inner) = strip_quote(rest) {
                self.open_container(matched, ContainerKind::Quote);
                rest = inner;
            } else if let Some(item) = find_item(rest).filter(|_| !is_rule(rest.trim())) {
                let interrupts = is_paragraph && all && !opened;
                let is_first = matches!(item.mark, ItemMark::Bullet | ItemMark::Number(1, _));
                if interrupts && (item.is_empty || !is_first) {
                    break;
                }
                // First what is open: it may end the list that was counted.
                self.close_to(matched);
                let mark = self.item_mark(matched, item.mark);
                self.open_container(matched, ContainerKind::Item { mark, indent: item.indent, shown: false });
                rest = &rest[item.length..];
            } else {
                break;
            }
            matched += 1;
            opened = true;
            if rest.trim().is_empty() {
                return;
            }
        }
        self.leaf_line(rest, matched, all && !opened, opened);
    }

    fn leaf_line(&mut self, line: &str, matched: usize, goes_on: bool, opened: bool) {
        let blanks = leading_blanks(line);
        let text = line[blanks..].trim_end_matches('\r');
        if let OpenLeaf::Indented { blanks: empty, begun } = self.leaf {
            if goes_on && blanks >= 4 {
                for _ in 0..empty {
                    self.code_line(String::new(), Vec::new(), begun);
                }
                self.leaf = OpenLeaf::Indented { blanks: 0, begun: true };
                return self.code_line(expand_tabs(&line[4..]).into_owned(), Vec::new(), true);
            }
            self.close_leaf();
        }
        let is_paragraph = matches!(self.leaf, OpenLeaf::Paragraph { .. });
        if blanks >= 4 && !is_paragraph {
            self.close_to(matched);
            self.code_line(expand_tabs(&line[4..]).into_owned(), Vec::new(), false);
            self.leaf = OpenLeaf::Indented { blanks: 0, begun: true };
            return;
        }
        if blanks < 4 {
            if let Some((level, source)) = find_heading(text) {
                self.close_to(matched);
                return self.emit(BlockContent::Heading { level, source: clean(source) }, true);
            }
            if let Some((sign, length, name)) = find_fence(text) {
                self.close_to(matched);
                return self.open_fence((sign, length), blanks, name);
            }
            if is_rule(text.trim_end()) {
                self.close_to(matched);
                return self.emit(BlockContent::Rule, true);
            }
            if begins_html(text) && !is_paragraph {
                self.close_to(matched);
                self.leaf = OpenLeaf::Html { begun: false };
                return self.html_line(line, false);
            }
        }
        match &mut self.leaf {
            // Also where the line leaves out the signs of what it is in.
            OpenLeaf::Paragraph { .. } if !opened => self.paragraph_line(text, goes_on),
            OpenLeaf::Table { .. } if goes_on && text.contains('|') => self.table_row(text),
            _ => {
                self.close_to(matched);
                self.leaf = OpenLeaf::Paragraph { source: String::new(), lines: 0 };
                self.paragraph_line(text, true);
            }
        }
    }

    fn paragraph_line(&mut self, text: &str, goes_on: bool) {
        let OpenLeaf::Paragraph { source, lines } = &mut self.leaf else { return };
        if goes_on
            && *lines == 1
            && source.contains('|')
            && let Some(table) = table::begin(source, text)
        {
            self.leaf = OpenLeaf::Table { table, bytes: 0 };
            return;
        }
        let hard = text.ends_with("  ") || text.ends_with('\\') && !text.ends_with("\\\\");
        let text = text.trim_end();
        let text = if hard { text.strip_suffix('\\').unwrap_or(text) } else { text };
        if !source.is_empty() && !source.ends_with(' ') {
            source.push(' ');
        }
        source.push_str(&clean(text));
        if hard {
            source.push_str(HARD_BREAK_TEXT);
        }
        *lines += 1;
        self.cut_paragraph();
    }

    /// A paragraph that gets too long is shown up to here.
    fn cut_paragraph(&mut self) {
        let OpenLeaf::Paragraph { source, .. } = &mut self.leaf else { return };
        if source.len() < MARKDOWN_LINE_BYTES {
            return;
        }
        let source = std::mem::take(source);
        self.emit_paragraph(source);
        self.leaf = OpenLeaf::Paragraph { source: String::new(), lines: 2 };
        self.last = self.last.take().map(|(within, _)| (within, false));
    }

    /// More of a line whose beginning was too long to wait for its end.
    fn continue_line(&mut self, text: &str) {
        match &mut self.leaf {
            OpenLeaf::Fence(_) => {
                let text = expand_tabs(text).into_owned();
                self.fence_code(text);
            }
            OpenLeaf::Indented { begun, .. } => {
                let begun = *begun;
                self.code_line(expand_tabs(text).into_owned(), Vec::new(), begun);
            }
            OpenLeaf::Html { begun } => {
                let begun = *begun;
                self.html_line(text, begun);
            }
            OpenLeaf::Paragraph { source, .. } => {
                source.push_str(&clean(text));
                self.cut_paragraph();
            }
            _ if text.trim().is_empty() => {}
            _ => {
                self.close_leaf();
                self.leaf = OpenLeaf::Paragraph { source: clean(text), lines: 2 };
                self.cut_paragraph();
            }
        }
    }

    fn underlined(&mut self, level: usize) {
        if let OpenLeaf::Paragraph { source, .. } = std::mem::take(&mut self.leaf) {
            let source = source.replace(HARD_BREAK, " ");
            self.emit(BlockContent::Heading { level, source: source.trim().to_owned() }, true);
        }
    }

    fn table_row(&mut self, text: &str) {
        let OpenLeaf::Table { table, bytes } = &mut self.leaf else { return };
        *bytes += text.len();
        table.rows.push(table::cells_of_row(text, table.header.len()));
        if table.rows.len() < TABLE_ROWS && *bytes < TABLE_BYTES {
            return;
        }
        let next = MarkdownTable { rows: Vec::new(), ..table.clone() };
        let full = std::mem::replace(table, next);
        *bytes = 0;
        self.emit(BlockContent::Table(full), true);
    }

    fn item_mark(&mut self, depth: usize, mark: ItemMark) -> ItemMark {
        // The item before is of the same list if it stood here and only items followed.
        let counted = match (self.lists.get(depth), mark) {
            (Some(ItemMark::Number(number, sign)), ItemMark::Number(_, other)) if *sign == other => {
                ItemMark::Number(number.saturating_add(1), other)
            }
            _ => mark,
        };
        self.lists.truncate(depth);
        // A quote is no list; its place is held by what continues nothing.
        self.lists.resize(depth, ItemMark::Bullet);
        self.lists.push(counted);
        counted
    }

    fn open_container(&mut self, depth: usize, kind: ContainerKind) {
        self.close_to(depth);
        self.containers += 1;
        self.open.push(OpenContainer { number: self.containers, kind });
    }

    /// Closes the leaf and all containers but the first `depth`.
    fn close_to(&mut self, depth: usize) {
        self.close_leaf();
        while self.open.len() > depth {
            let hidden = |open: &OpenContainer| matches!(open.kind, ContainerKind::Item { shown: false, .. });
            if self.open.last().is_some_and(hidden) {
                self.emit(BlockContent::Nothing, false);
            }
            self.open.pop();
        }
    }

    pub(super) fn close_leaf(&mut self) {
        match std::mem::take(&mut self.leaf) {
            OpenLeaf::None | OpenLeaf::Indented { .. } | OpenLeaf::Html { .. } => {}
            OpenLeaf::Paragraph { source, .. } if source.trim().is_empty() => {}
            OpenLeaf::Paragraph { source, .. } => self.emit_paragraph(source),
            OpenLeaf::Table { table, .. } => self.emit(BlockContent::Table(table), true),
            OpenLeaf::Fence(fence) => self.close_fence(fence),
        }
    }

    fn emit_paragraph(&mut self, source: String) {
        let mut source = source;
        if let Some(OpenContainer { kind: ContainerKind::Item { mark, shown: false, .. }, .. }) =
            self.open.last_mut()
            && let Some((done, text)) = find_task(&source)
        {
            *mark = ItemMark::Task(done);
            source = text.to_owned();
        }
        self.emit(BlockContent::Paragraph { source, live: false }, false);
    }

    /// `roomy` blocks stand between empty lines, except within items.
    pub(super) fn emit(&mut self, content: BlockContent, roomy: bool) {
        // A list that something else follows at its own depth is over.
        self.lists.truncate(self.open.len());
        let within: Vec<u64> = self.open.iter().map(|open| open.number).collect();
        let gap = self.last.as_ref().and_then(|(before, was_roomy)| {
            let same = before.iter().zip(&within).take_while(|(one, other)| one == other).count();
            let wanted = (roomy || *was_roomy) && !self.open.iter().any(is_item);
            (self.blank || wanted).then_some(same)
        });
        self.push_block(content, gap);
        self.blank = false;
        self.last = Some((within, roomy));
    }

    /// A further line of the same block, or its first.
    pub(super) fn emit_continued(&mut self, content: BlockContent, begun: bool) {
        if begun {
            self.push_block(content, None);
            self.blank = false;
        } else {
            self.emit(content, true);
        }
    }

    fn push_block(&mut self, content: BlockContent, gap: Option<usize>) {
        let prefix = self.open.iter_mut().map(|open| match &mut open.kind {
            ContainerKind::Quote => BlockPrefix::Quote,
            ContainerKind::Item { mark, shown, .. } => {
                BlockPrefix::Item { mark: *mark, shown: !std::mem::replace(shown, true) }
            }
        });
        let prefix = prefix.collect();
        self.finished.push(MarkdownBlock { prefix, gap, content });
    }
}

fn is_item(open: &OpenContainer) -> bool {
    matches!(open.kind, ContainerKind::Item { .. })
}

/// What is behind `>`, if the line begins with it.
fn strip_quote(line: &str) -> Option<&str> {
    let rest = line[leading_blanks(line).min(3)..].strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The sign that stands for a break is nobody else's, and tabs are blanks.
pub(super) fn clean(text: &str) -> String {
    text.replace(HARD_BREAK, "\u{fffd}").replace('\t', " ")
}
