//! A conversation as a tree. A chain keeps its indent; only branches are indented.
//!
//! ```text
//! • user: Start task
//! • assistant: Plan
//! ├─ • user: Try approach A
//! │  • assistant: A result
//! │  • [milestone] user: Continue A
//! └─ user: Try approach B
//!    assistant: B result
//! ```
//!
//! Invariant: the work is linear in the number of entries and the indent is bounded, however deep the tree.

use crate::{Glyph, OutputStyle, PaintRole, cells};

/// Most levels drawn; of deeper ones the innermost.
const MAX_LEVELS: u32 = 12;
/// Most cells of a text where lines may be long.
const LONGEST: usize = 200;
/// A text is never cut shorter than this.
const SHORTEST: usize = 12;

#[derive(Debug, Clone, Default)]
pub struct SessionTreeNode {
    /// Index of the parent in the same list.
    pub parent: Option<usize>,
    /// On the path to where the conversation continues.
    pub active: bool,
    pub label: Option<String>,
    /// Who says it, or what it is.
    pub speaker: String,
    pub text: String,
}

/// Children come in the order of the list.
pub fn text(nodes: &[SessionTreeNode], style: &OutputStyle) -> String {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(parent) if parent < nodes.len() && parent != at => children[parent].push(at),
            _ => roots.push(at),
        }
    }
    let mut out = String::new();
    let mut open = Vec::new();
    push(&mut open, &roots, TreeIndent { depth: 0, more: 0 });
    while let Some((at, level, branch)) = open.pop() {
        out += &line(&nodes[at], level, branch, style);
        push(&mut open, &children[at], level);
    }
    out
}

/// How many branches are open around a line, and which of the innermost have more to come.
#[derive(Clone, Copy)]
struct TreeIndent {
    depth: u32,
    /// One bit per level, the innermost first.
    more: u64,
}

/// How a line begins: one of several branches, the last of them, or the next of a chain.
#[derive(Clone, Copy, PartialEq)]
enum TreeBranch {
    None,
    Middle,
    Last,
}

fn push(open: &mut Vec<(usize, TreeIndent, TreeBranch)>, children: &[usize], level: TreeIndent) {
    if let [only] = children {
        open.push((*only, level, TreeBranch::None));
        return;
    }
    for (at, child) in children.iter().enumerate().rev() {
        let last = at + 1 == children.len();
        let inner = TreeIndent { depth: level.depth + 1, more: level.more << 1 | u64::from(!last) };
        open.push((*child, inner, if last { TreeBranch::Last } else { TreeBranch::Middle }));
    }
}

fn line(node: &SessionTreeNode, level: TreeIndent, branch: TreeBranch, style: &OutputStyle) -> String {
    let (bar, tee, corner) = if style.utf8 { ("│  ", "├─ ", "└─ ") } else { ("|  ", "|- ", "`- ") };
    let drawn = level.depth.min(MAX_LEVELS);
    let mut lead = String::new();
    if level.depth > drawn {
        lead += &format!("{}{} ", style.glyph(Glyph::More), level.depth - drawn);
    }
    for inner in (0..drawn).rev() {
        lead += match (inner, branch) {
            (0, TreeBranch::Middle) => tee,
            (0, TreeBranch::Last) => corner,
            _ if level.more >> inner & 1 == 1 => bar,
            _ => "   ",
        };
    }
    let bullet = match (node.active, style.utf8) {
        (true, true) => "• ",
        (true, false) => "* ",
        (false, _) => "",
    };
    let label = node.label.as_ref().map(|label| format!("[{}] ", style.clip(label, 40))).unwrap_or_default();
    let who = style.clip(&node.speaker, 40);
    let taken = cells(&lead) + cells(bullet) + cells(&label) + cells(&who) + 2;
    let room = style.width.map_or(LONGEST, |width| width.saturating_sub(taken).max(SHORTEST));
    let said = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = if said.is_empty() { who } else { format!("{who}: {}", style.clip(&said, room)) };
    let text = format!("{bullet}{}{rest}", style.paint(PaintRole::Attention, &label));
    let text = if node.active { text } else { style.paint(PaintRole::Dim, &text) };
    format!("{}{text}\n", style.paint(PaintRole::Dim, &lead))
}
