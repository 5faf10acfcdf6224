//! `/tree`: the conversation as a tree to walk through, search, label and go on from.
//!
//! ```text
//! Session tree                                      default · 7 of 9
//! › type to search
//!   • user: Start task
//!   • assistant: Plan
//!   ├─ • user: Try approach A
//!   │  • assistant: A result
//! ▸ │  • [milestone] user: Continue A
//!   └─ user: Try approach B
//!      assistant: B result
//! Enter go there · L label · Ctrl+O filter · Esc close
//! ```
//!
//! The view moves nothing: what is chosen is a [`TreeMove`] that the caller carries out.
//!
//! | module | for |
//! |---|---|
//! | `keys` | what keys do, stage by stage |
//! | `rows` | what is drawn |
//! | `visible` | which entries a filter and a search leave |

mod keys;
mod rows;
#[cfg(test)]
mod tests;
mod visible;

use std::cell::Cell;

pub use relaycode_session::view::outline::{TreeEntry, tree_entries};

use crate::picker::TextField;
use visible::{VisibleTree, folded_text};

/// Said when the entry is chosen after which the conversation continues anyway.
pub const ALREADY_THERE: &str = "Already at this point";

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeFilterMode {
    #[default]
    Default,
    NoTools,
    UserOnly,
    LabeledOnly,
    All,
}

impl TreeFilterMode {
    /// In the order in which Ctrl+O goes through them.
    pub const ALL: [TreeFilterMode; 5] = [
        TreeFilterMode::Default,
        TreeFilterMode::NoTools,
        TreeFilterMode::UserOnly,
        TreeFilterMode::LabeledOnly,
        TreeFilterMode::All,
    ];

    pub fn name(self) -> &'static str {
        ["default", "no-tools", "user-only", "labeled-only", "all"][self as usize]
    }

    fn cycled(self, by: usize) -> TreeFilterMode {
        TreeFilterMode::ALL[(self as usize + by) % TreeFilterMode::ALL.len()]
    }
}

/// What becomes of the entries that a move leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftBranchSummary {
    None,
    Summarize,
    /// With these words of the user's.
    Custom(String),
}

/// Where the conversation is to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeMove {
    /// The chosen entry.
    pub entry: String,
    /// The next entry's parent; `None` for the very beginning.
    pub leaf: Option<String>,
    /// What goes into the editor, to be said again.
    pub prefill: Option<String>,
    pub summary: LeftBranchSummary,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeOutcome {
    Ignored,
    /// Draw again.
    Changed,
    /// Close; nothing moves.
    Closed,
    /// Close and say [`ALREADY_THERE`].
    AlreadyThere,
    /// Close and go there. With a summary, keep the view: [`TreeView::reopen`] if that is stopped.
    Move(TreeMove),
    /// Set the label of an entry, or take it away; the view shows it already.
    SetLabel {
        entry: String,
        label: Option<String>,
    },
    /// Stop the summary that is being written.
    AbortSummary,
}

/// What the keys go to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TreeStage {
    Browse,
    Label(TextField),
    /// Which of the [`SUMMARY_CHOICES`].
    Summary {
        to: TreeMove,
        choice: usize,
    },
    CustomPrompt {
        to: TreeMove,
        words: TextField,
    },
    Summarizing,
}

const SUMMARY_CHOICES: [&str; 3] = ["No summary", "Summarize", "Summarize with custom prompt"];

/// The state of the selector.
#[derive(Debug)]
pub struct TreeView {
    entries: Vec<TreeEntry>,
    /// What a search looks at, for each of them.
    folded: Vec<String>,
    /// `branchSummary.enabled`
    asks_for_summary: bool,
    filter: TreeFilterMode,
    query: TextField,
    visible: VisibleTree,
    /// Place among the visible rows.
    selected: usize,
    stage: TreeStage,
    /// Rows of the list, as the last drawing found.
    page: Cell<usize>,
}

impl TreeView {
    /// Begins at the entry after which the conversation continues.
    pub fn new(entries: Vec<TreeEntry>, asks_for_summary: bool) -> TreeView {
        let mut view = TreeView {
            folded: entries.iter().map(folded_text).collect(),
            entries,
            asks_for_summary,
            filter: TreeFilterMode::Default,
            query: TextField::default(),
            visible: VisibleTree::default(),
            selected: 0,
            stage: TreeStage::Browse,
            page: Cell::new(5),
        };
        let leaf = view.entries.iter().position(|entry| entry.is_leaf);
        view.show_again(leaf);
        view
    }

    /// After entries came or went; filter, search and place stay.
    pub fn replace_entries(&mut self, entries: Vec<TreeEntry>) {
        let selected = self.selected_entry().map(|entry| entry.id.clone());
        self.folded = entries.iter().map(folded_text).collect();
        self.entries = entries;
        let index = selected.and_then(|id| self.entries.iter().position(|entry| entry.id == id));
        self.show_again(index);
    }

    /// Back to the tree, as after a summary was stopped.
    pub fn reopen(&mut self) {
        self.stage = TreeStage::Browse;
    }

    pub fn filter(&self) -> TreeFilterMode {
        self.filter
    }

    pub fn selected_entry(&self) -> Option<&TreeEntry> {
        self.entries.get(self.selected_index()?)
    }

    fn selected_index(&self) -> Option<usize> {
        self.visible.rows().get(self.selected).map(|row| row.at)
    }

    /// Filters anew; stays at `index`, or at its nearest ancestor that is visible.
    fn show_again(&mut self, index: Option<usize>) {
        self.visible = VisibleTree::new(&self.entries, &self.folded, self.filter, self.query.text());
        self.selected = index.map_or(0, |index| self.visible.nearest_place(&self.entries, index));
    }
}
