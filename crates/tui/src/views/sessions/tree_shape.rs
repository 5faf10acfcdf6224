//! How the lines of a tree begin. A chain keeps its indent; only branches are indented.
//!
//! Invariant: the work is linear in the number of entries and the indent is bounded, however deep the tree.

use crate::{Glyph, OutputStyle};

/// Most levels drawn; of deeper ones the innermost.
const MAX_LEVELS: u32 = 12;

/// An entry at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeShapeRow {
    /// Its index in the list of parents.
    pub(crate) at: usize,
    level: TreeIndent,
    branch: TreeBranch,
}

/// How many branches are open around a line, and which of the innermost have more to come.
#[derive(Debug, Clone, Copy)]
struct TreeIndent {
    depth: u32,
    /// One bit per level, the innermost first.
    more: u64,
}

/// How a line begins: one of several branches, the last of them, or the next of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TreeBranch {
    None,
    Middle,
    Last,
}

/// The rows from top to bottom. Children come in the order of the list; several roots are branches of one that is not shown.
pub(crate) fn tree_rows(parents: &[Option<usize>]) -> Vec<TreeShapeRow> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut roots = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) if *parent < parents.len() && *parent != at => children[*parent].push(at),
            _ => roots.push(at),
        }
    }
    let mut rows = Vec::with_capacity(parents.len());
    let mut open = Vec::new();
    push(&mut open, &roots, TreeIndent { depth: 0, more: 0 });
    while let Some(row) = open.pop() {
        rows.push(row);
        push(&mut open, &children[row.at], row.level);
    }
    rows
}

fn push(open: &mut Vec<TreeShapeRow>, children: &[usize], level: TreeIndent) {
    if let [only] = children {
        open.push(TreeShapeRow { at: *only, level, branch: TreeBranch::None });
        return;
    }
    for (at, child) in children.iter().enumerate().rev() {
        let last = at + 1 == children.len();
        let inner = TreeIndent { depth: level.depth + 1, more: level.more << 1 | u64::from(!last) };
        let branch = if last { TreeBranch::Last } else { TreeBranch::Middle };
        open.push(TreeShapeRow { at: *child, level: inner, branch });
    }
}

impl TreeShapeRow {
    /// The lines of the branches in front, three cells a level; of many levels the innermost that fit `most` levels.
    pub(crate) fn lead(&self, most: u32, style: &OutputStyle) -> String {
        let (bar, tee, corner) =
            if style.utf8 { ("│  ", "├─ ", "└─ ") } else { ("|  ", "|- ", "`- ") };
        let drawn = self.level.depth.min(MAX_LEVELS).min(most);
        let mut lead = String::new();
        if self.level.depth > drawn {
            lead += &format!("{}{} ", style.glyph(Glyph::More), self.level.depth - drawn);
        }
        for inner in (0..drawn).rev() {
            lead += match (inner, self.branch) {
                (0, TreeBranch::Middle) => tee,
                (0, TreeBranch::Last) => corner,
                _ if self.level.more >> inner & 1 == 1 => bar,
                _ => "   ",
            };
        }
        lead
    }
}
