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

use super::tree_shape::tree_rows;
use crate::{OutputStyle, PaintRole, cells};

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
    let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
    tree_rows(&parents).iter().map(|row| line(&nodes[row.at], &row.lead(u32::MAX, style), style)).collect()
}

fn line(node: &SessionTreeNode, lead: &str, style: &OutputStyle) -> String {
    let bullet = match (node.active, style.utf8) {
        (true, true) => "• ",
        (true, false) => "* ",
        (false, _) => "",
    };
    let label = node.label.as_ref().map(|label| format!("[{}] ", style.clip(label, 40))).unwrap_or_default();
    let who = style.clip(&node.speaker, 40);
    let taken = cells(lead) + cells(bullet) + cells(&label) + cells(&who) + 2;
    let room = style.width.map_or(LONGEST, |width| width.saturating_sub(taken).max(SHORTEST));
    let said = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = if said.is_empty() { who } else { format!("{who}: {}", style.clip(&said, room)) };
    let text = format!("{bullet}{}{rest}", style.paint(PaintRole::Attention, &label));
    let text = if node.active { text } else { style.paint(PaintRole::Dim, &text) };
    format!("{}{text}\n", style.paint(PaintRole::Dim, lead))
}
