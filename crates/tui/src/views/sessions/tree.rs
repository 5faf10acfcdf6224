//! A conversation as a tree. A chain stays where it is; only where it branches is anything indented.
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

use relaycode_text::width::cells;

use crate::layout::style::{Glyph, OutputStyle, PaintRole};

/// Levels of branches that are drawn; of deeper ones the innermost.
const MAX_LEVELS: u32 = 12;
/// Cells of a text where lines may be long.
const LONGEST: usize = 200;
/// A text is never cut shorter than this.
const SHORTEST: usize = 12;

/// An entry of the tree.
#[derive(Debug, Clone, Default)]
pub struct SessionTreeNode {
    /// The place of the one it follows, in the same list.
    pub parent: Option<usize>,
    /// It is on the way to where the conversation goes on.
    pub active: bool,
    /// Its name.
    pub label: Option<String>,
    /// Who says it, or what it is.
    pub speaker: String,
    /// What it says.
    pub text: String,
}

/// The tree of the nodes; children come in the order of the list.
pub fn text(nodes: &[SessionTreeNode], look: &OutputStyle) -> String {
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
        out += &line(&nodes[at], level, branch, look);
        push(&mut open, &children[at], level);
    }
    out
}

/// Where a line stands: how many branches are open around it, and which of the innermost have more to come.
#[derive(Clone, Copy)]
struct TreeIndent {
    depth: u32,
    /// One bit for each level, the innermost first.
    more: u64,
}

/// How a line begins: as one of several branches, the last of them, or as the next of a chain.
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

fn line(node: &SessionTreeNode, level: TreeIndent, branch: TreeBranch, look: &OutputStyle) -> String {
    let (bar, tee, corner) = if look.utf8 { ("│  ", "├─ ", "└─ ") } else { ("|  ", "|- ", "`- ") };
    let drawn = level.depth.min(MAX_LEVELS);
    let mut lead = String::new();
    if level.depth > drawn {
        lead += &format!("{}{} ", look.glyph(Glyph::More), level.depth - drawn);
    }
    for inner in (0..drawn).rev() {
        lead += match (inner, branch) {
            (0, TreeBranch::Middle) => tee,
            (0, TreeBranch::Last) => corner,
            _ if level.more >> inner & 1 == 1 => bar,
            _ => "   ",
        };
    }
    let bullet = match (node.active, look.utf8) {
        (true, true) => "• ",
        (true, false) => "* ",
        (false, _) => "",
    };
    let label = node.label.as_ref().map(|label| format!("[{}] ", look.clip(label, 40))).unwrap_or_default();
    let who = look.clip(&node.speaker, 40);
    let taken = cells(&lead) + cells(bullet) + cells(&label) + cells(&who) + 2;
    let room = look.width.map_or(LONGEST, |width| width.saturating_sub(taken).max(SHORTEST));
    let said = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = if said.is_empty() { who } else { format!("{who}: {}", look.clip(&said, room)) };
    let text = format!("{bullet}{}{rest}", look.paint(PaintRole::Attention, &label));
    let text = if node.active { text } else { look.paint(PaintRole::Dim, &text) };
    format!("{}{text}\n", look.paint(PaintRole::Dim, &lead))
}
