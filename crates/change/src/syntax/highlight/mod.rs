//! The syntax classes of a text (comment, string, keyword …), for colours in a diff.
//!
//! One sweep over the grammar's tree, the same for every language: node kinds say what they are by their
//! names, and `node_kinds` knows the few names that mislead. Colours are a convenience: a file without
//! grammar, too large or too slow to parse has none, silently.
//!
//! The spans of a line are in order, do not overlap and lie on character boundaries. They are kept only for
//! the requested lines, and only for the beginning of very long ones.

mod keywords;
mod node_kinds;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use ast_grep_language::LanguageExt;
use tree_sitter::{Tree, TreeCursor};

pub use self::keywords::language_keywords;
use self::node_kinds::{SyntaxNodeKind, SyntaxNodeKinds, is_function_name, is_key, is_type_name};
use super::{ParseDeadline, StopFlag, language, parse};
use crate::proposal::path::RelPath;

/// Larger files get no colours.
pub const HIGHLIGHT_BYTES: usize = 512 * 1024;

/// Beyond these bytes a line gets no colours.
pub const HIGHLIGHT_LINE_BYTES: usize = 2_000;

/// Nodes visited between two looks at the clock.
const NODES_PER_LOOK: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxClass {
    Comment,
    /// A string, a character, a regular expression.
    Text,
    Number,
    Keyword,
    Type,
    /// The name of a function where it is defined or called; the key of an entry.
    Name,
}

/// Bytes of a line, and their class.
pub type SyntaxSpan = (Range<usize>, SyntaxClass);

/// For the requested lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyntaxSpans {
    /// In order.
    lines: Vec<SyntaxLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SyntaxLine {
    number: usize,
    /// In the text, without its ending.
    bytes: Range<usize>,
    spans: Vec<SyntaxSpan>,
}

impl SyntaxSpans {
    /// By line number from 1; empty for a line that was not requested.
    pub fn line(&self, number: usize) -> &[SyntaxSpan] {
        let found = self.lines.binary_search_by_key(&number, |line| line.number);
        found.map_or(&[], |at| &self.lines[at].spans)
    }
}

/// Classifies the lines `wanted` (numbers from 1, as a diff counts them) of the file `path`; `None` if
/// there is no grammar for it, if it is too large, or if `budget` is used up.
///
/// ```
/// use std::time::Duration;
/// use relaycode_change::{proposal::path::RelPath, syntax::highlight::{SyntaxClass, highlight_lines}};
/// let path = RelPath::parse("a.rs").unwrap();
/// let found = highlight_lines(&path, "fn f() {}\nlet x = 12;\n", &[2..3], Duration::from_secs(5)).unwrap();
/// assert_eq!(found.line(1), []);
/// assert_eq!(found.line(2), [(0..3, SyntaxClass::Keyword), (8..10, SyntaxClass::Number)]);
/// ```
pub fn highlight_lines(
    path: &RelPath,
    text: &str,
    wanted: &[Range<usize>],
    budget: Duration,
) -> Option<SyntaxSpans> {
    let language = language::for_highlight(path)?;
    if text.len() > HIGHLIGHT_BYTES {
        return None;
    }
    let deadline = Instant::now().checked_add(budget);
    // Grammars know no lone carriage return; as a line feed it has the same place.
    let line_feeds = (!text.contains('\n') && text.contains('\r')).then(|| text.replace('\r', "\n"));
    let text = line_feeds.as_deref().unwrap_or(text);
    let mut canvas = SyntaxPainter::of(text, wanted);
    if canvas.lines.is_empty() {
        return Some(SyntaxSpans::default());
    }
    let tree = parse(text, language, &ParseDeadline { time: deadline, stop: &StopFlag::default() })?;
    let kinds = SyntaxNodeKinds::for_grammar(&language.get_ts_language(), language);
    canvas.walk(&tree, &kinds, deadline)?;
    Some(SyntaxSpans { lines: canvas.lines })
}

/// The node that the sweep is in, and what that means for its children.
#[derive(Clone, Copy)]
struct SyntaxFrame {
    kind: SyntaxNodeKind,
    /// The class of bytes that no child claims.
    class: Option<SyntaxClass>,
    /// The target of a call or a definition: the name in it is a [`SyntaxClass::Name`].
    named: bool,
}

/// What a node is, given its parent.
fn enter_node(cursor: &TreeCursor<'_>, kinds: &SyntaxNodeKinds, parent: Option<&SyntaxFrame>) -> SyntaxFrame {
    let node = cursor.node();
    let kind = kinds.of_node(node.kind_id());
    let Some(parent) = parent else { return SyntaxFrame { kind, class: None, named: false } };
    let role = kinds.role(cursor.field_id());
    let leaf = node.child_count() == 0;
    let named = node.is_named() && is_function_name(parent.kind, parent.named, role);
    let class = match kind {
        SyntaxNodeKind::Interpolation => None,
        _ if is_key(parent.kind, role) => Some(SyntaxClass::Name),
        // Everything inside a string is the string, up to an interpolation.
        _ if parent.class.is_some() => parent.class,
        SyntaxNodeKind::Class(class) => Some(class),
        SyntaxNodeKind::Word if leaf => Some(SyntaxClass::Keyword),
        _ if leaf && node.is_named() && is_type_name(parent.kind, role) => Some(SyntaxClass::Type),
        _ if leaf && named => Some(SyntaxClass::Name),
        _ => None,
    };
    SyntaxFrame { kind, class, named }
}

/// The requested lines, painted from left to right.
struct SyntaxPainter<'a> {
    text: &'a str,
    lines: Vec<SyntaxLine>,
    /// Everything before this byte is painted.
    at: usize,
    /// The first line that is not wholly painted.
    line: usize,
}

impl<'a> SyntaxPainter<'a> {
    fn of(text: &'a str, wanted: &[Range<usize>]) -> SyntaxPainter<'a> {
        let mut wanted: Vec<&Range<usize>> = wanted.iter().collect();
        wanted.sort_by_key(|range| (range.start, range.end));
        let mut wanted = wanted.into_iter().peekable();
        let mut lines = Vec::new();
        let mut start = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let number = index + 1;
            while wanted.next_if(|range| range.end <= number).is_some() {}
            let Some(range) = wanted.peek() else { break };
            if range.contains(&number) {
                let mut end = line.trim_end_matches(['\n', '\r']).len().min(HIGHLIGHT_LINE_BYTES);
                while !line.is_char_boundary(end) {
                    end -= 1;
                }
                lines.push(SyntaxLine { number, bytes: start..start + end, spans: Vec::new() });
            }
            start += line.len();
        }
        SyntaxPainter { text, lines, at: 0, line: 0 }
    }

    /// Walks the tree in the order of the text. Every byte gets the class of the innermost node around it.
    fn walk(&mut self, tree: &Tree, kinds: &SyntaxNodeKinds, deadline: Option<Instant>) -> Option<()> {
        let mut cursor = tree.walk();
        let mut frames: Vec<SyntaxFrame> = Vec::new();
        let mut visited = 0_usize;
        loop {
            visited += 1;
            if visited.is_multiple_of(NODES_PER_LOOK) && deadline.is_some_and(|at| Instant::now() >= at) {
                return None;
            }
            let node = cursor.node();
            let outside = frames.last().and_then(|frame| frame.class);
            self.paint(node.start_byte(), outside);
            let frame = enter_node(&cursor, kinds, frames.last());
            if self.wants(node.byte_range()) && cursor.goto_first_child() {
                frames.push(frame);
                continue;
            }
            self.paint(node.end_byte(), frame.class);
            while !cursor.goto_next_sibling() {
                let Some(frame) = frames.pop() else { return Some(()) };
                cursor.goto_parent();
                self.paint(cursor.node().end_byte(), frame.class);
            }
        }
    }

    /// Whether some of these bytes are still to be painted.
    fn wants(&self, bytes: Range<usize>) -> bool {
        let next = self.lines[self.line..].iter().find(|line| line.bytes.end > bytes.start);
        next.is_some_and(|line| line.bytes.start < bytes.end)
    }

    /// Paints from the end of the last span up to the byte `end`.
    fn paint(&mut self, end: usize, class: Option<SyntaxClass>) {
        let from = self.at;
        self.at = end.max(from);
        while let Some(line) = self.lines.get_mut(self.line) {
            if let Some(class) = class {
                let bytes = from.max(line.bytes.start)..self.at.min(line.bytes.end);
                line.add(bytes, class, self.text);
            }
            if line.bytes.end > self.at {
                return;
            }
            self.line += 1;
        }
    }
}

impl SyntaxLine {
    fn add(&mut self, bytes: Range<usize>, class: SyntaxClass, text: &str) {
        // Ignore a grammar that ends in the middle of a character.
        if bytes.is_empty() || !text.is_char_boundary(bytes.start) || !text.is_char_boundary(bytes.end) {
            return;
        }
        let bytes = bytes.start - self.bytes.start..bytes.end - self.bytes.start;
        match self.spans.last_mut() {
            Some((last, of)) if *of == class && last.end == bytes.start => last.end = bytes.end,
            _ => self.spans.push((bytes, class)),
        }
    }
}
