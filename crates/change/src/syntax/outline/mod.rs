//! Which lines of a long file can be left out so that what it declares still shows: the bodies of functions, long
//! literals, long comments; of Markdown everything but the headings and the line that follows each.
//!
//! Spans are whole lines, in order and apart; what opens and closes them stays. A text that is too large, has very long
//! lines, does not parse, or takes too long has no outline.

mod markdown;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use ast_grep_language::SupportLang;
use tree_sitter::{Node, Tree};

use super::{FILE_BYTES, ParseDeadline, StopFlag, language, parse};
use crate::proposal::path::RelPath;

/// Larger files get no outline.
pub const OUTLINE_BYTES: usize = 2 << 20;
/// Files with more lines get none.
pub const OUTLINE_LINES: usize = 20_000;
/// A file with a longer line is generated or minified.
pub const OUTLINE_LINE_BYTES: usize = 2_000;
/// Fewer lines than these are not left out: to say so takes a line, too.
pub const MIN_ELIDED_LINES: usize = 5;

/// Nodes visited between two looks at the clock.
const NODES_PER_LOOK: usize = 1_024;

/// The lines (from 0) that can be left out of the file `path`; `None` if there are none, or nothing is known of them.
///
/// ```
/// use std::time::Duration;
/// use relaycode_change::{proposal::path::RelPath, syntax::outline::elidable_lines};
/// let path = RelPath::parse("a.rs").unwrap();
/// let text = format!("fn f() {{\n{}}}\n\nfn g() {{}}\n{}", "    g();\n".repeat(6), "const A: u8 = 1;\n".repeat(9));
/// assert_eq!(elidable_lines(&path, &text, Duration::from_secs(5)), Some(vec![1..7]));
/// ```
pub fn elidable_lines(path: &RelPath, text: &str, budget: Duration) -> Option<Vec<Range<usize>>> {
    let lines: Vec<&str> = text.lines().collect();
    if text.len() > OUTLINE_BYTES
        || lines.len() > OUTLINE_LINES
        || lines.iter().any(|line| line.len() > OUTLINE_LINE_BYTES)
    {
        return None;
    }
    let spans = match path.extension()?.to_ascii_lowercase().as_str() {
        "md" | "markdown" => markdown::elidable_lines(&lines),
        _ => {
            let language = language::for_check(path)?;
            // Between two looks at the clock this grammar may take seconds for more.
            if language == SupportLang::Bash && text.len() > FILE_BYTES {
                return None;
            }
            let deadline = Instant::now().checked_add(budget);
            let tree = parse(text, language, &ParseDeadline { time: deadline, stop: &StopFlag::default() })?;
            elidable_nodes(&tree, &lines, language, deadline)?
        }
    };
    (!spans.is_empty()).then_some(spans)
}

/// The outermost nodes that can be left out. One that is more than half of the file would leave nothing: what is inside
/// of it counts instead.
fn elidable_nodes(
    tree: &Tree,
    lines: &[&str],
    language: SupportLang,
    deadline: Option<Instant>,
) -> Option<Vec<Range<usize>>> {
    if tree.root_node().has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut visited = 0_usize;
    loop {
        visited += 1;
        if visited.is_multiple_of(NODES_PER_LOOK) && deadline.is_some_and(|at| Instant::now() >= at) {
            return None;
        }
        let node = cursor.node();
        let height = node.end_position().row - node.start_position().row;
        let next = spans.last().map_or(0, |span| span.end);
        let found = inner_lines(node, cursor.depth(), lines, language, || {
            let mut parent = cursor.clone();
            parent.goto_parent().then(|| parent.node())
        })
        .filter(|inner| inner.len() >= MIN_ELIDED_LINES && inner.start >= next && inner.end <= lines.len());
        let leaves_some = |inner: &Range<usize>| inner.len() <= lines.len() / 2;
        match found {
            Some(inner) if leaves_some(&inner) => spans.push(inner),
            _ if height >= MIN_ELIDED_LINES && cursor.goto_first_child() => continue,
            _ => {}
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(spans);
            }
        }
    }
}

/// The lines that belong to a node alone, without those that open and close it; `None` if it is not to be left out.
fn inner_lines<'t>(
    node: Node<'t>,
    depth: u32,
    lines: &[&str],
    language: SupportLang,
    parent: impl FnOnce() -> Option<Node<'t>>,
) -> Option<Range<usize>> {
    let kind = node.kind();
    if depth == 0 || !node.is_named() || !(is_body(kind) || is_literal(kind)) {
        return None;
    }
    let (start, end) = (node.start_position(), node.end_position());
    let parent = parent()?;
    if holds_declarations(kind, parent.kind()) {
        return None;
    }
    if !is_indented(kind, language) {
        return Some(start.row + 1..end.row.max(start.row + 1));
    }
    // Nothing but indentation encloses it: its first and last line are its own where nothing else stands on them.
    let is_blank = |text: Option<&str>| text.is_some_and(|text| text.trim().is_empty());
    let mut first = match is_blank(lines.get(start.row)?.get(..start.column)) {
        true => start.row,
        false => start.row + 1,
    };
    // The first line of what documents a function stays.
    let documents = |statement: Node<'_>| {
        statement.kind() == "expression_statement"
            && statement.child(0).is_some_and(|text| text.kind() == "string")
    };
    if first == start.row && node.named_child(0).is_some_and(documents) {
        first += 1;
    }
    // A node may end at the beginning of the line behind it.
    let last = match end.column {
        0 => end.row,
        column if is_blank(lines.get(end.row)?.get(column..)) => end.row + 1,
        _ => end.row,
    };
    // Empty lines at the end separate.
    let trailing = lines.get(first..last)?.iter().rev().take_while(|line| line.trim().is_empty()).count();
    Some(first..last - trailing)
}

/// Statements in the grammars that are compiled in.
fn is_body(kind: &str) -> bool {
    matches!(
        kind,
        "block"
            | "statement_block"
            | "compound_statement"
            | "constructor_body"
            | "body_statement"
            | "block_body"
            | "match_block"
            | "switch_body"
            | "switch_block"
            | "do_group"
            | "block_node"
            | "element"
            | "script_element"
            | "style_element"
    )
}

/// Values and comments that may take many lines.
fn is_literal(kind: &str) -> bool {
    matches!(
        kind,
        "array"
            | "array_expression"
            | "array_initializer"
            | "object"
            | "dictionary"
            | "list"
            | "set"
            | "tuple"
            | "hash"
            | "literal_value"
            | "initializer_list"
            | "token_tree"
            | "string"
            | "string_literal"
            | "raw_string_literal"
            | "interpreted_string_literal"
            | "template_string"
            | "heredoc_body"
            | "block_comment"
            | "comment"
    )
}

/// Whether a body is that of a type or a module, whose members are what is wanted.
fn holds_declarations(kind: &str, parent: &str) -> bool {
    match kind {
        "block" | "body_statement" => {
            ["class", "module", "singleton_class", "class_definition"].contains(&parent)
        }
        "statement_block" => ["internal_module", "module", "ambient_declaration"].contains(&parent),
        "block_node" => parent != "block_mapping_pair",
        _ => false,
    }
}

fn is_indented(kind: &str, language: SupportLang) -> bool {
    match language {
        SupportLang::Python => kind == "block",
        SupportLang::Ruby => ["body_statement", "block_body"].contains(&kind),
        SupportLang::Yaml => kind == "block_node",
        _ => false,
    }
}
