//! A finished part of an answer: what it is, and what stands before each of its lines.

use crate::highlight::CodeSpan;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownBlock {
    /// From the outermost on.
    pub(super) prefix: Vec<BlockPrefix>,
    /// An empty line comes before, with so many of the prefixes.
    pub(super) gap: Option<usize>,
    pub(super) content: BlockContent,
}

/// What stands before the lines of a block because of what it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockPrefix {
    Quote,
    Item {
        mark: ItemMark,
        /// The mark itself is before the first line of this block; else as many blanks.
        shown: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemMark {
    Bullet,
    /// With the sign behind the number.
    Number(u64, char),
    /// Whether it is done.
    Task(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockContent {
    /// Its source on one line; [`super::inline::HARD_BREAK`] where a line ends.
    Paragraph {
        source: String,
        live: bool,
    },
    Heading {
        level: usize,
        source: String,
    },
    Rule,
    /// The name of the language.
    CodeHead(String),
    CodeLine {
        line: String,
        spans: Vec<CodeSpan>,
    },
    /// So many lines are not shown; more may come.
    CodeFolded {
        hidden: usize,
        open: bool,
    },
    Html(String),
    Table(MarkdownTable),
    /// An item without text.
    Nothing,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MarkdownTable {
    pub(super) header: Vec<String>,
    pub(super) alignment: Vec<CellAlignment>,
    pub(super) rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CellAlignment {
    #[default]
    Left,
    Center,
    Right,
}
