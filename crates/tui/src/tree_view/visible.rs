//! Which entries a filter and a search leave, and the shape that they have then: what hangs below an entry that is left
//! out hangs below the nearest one that is shown.

use relaycode_session::{EntryRole, EntryType};

use super::{TreeEntry, TreeFilterMode};
use crate::views::sessions::tree_shape::{TreeShapeRow, tree_rows};

/// The rows from top to bottom; `at` counts in all entries.
#[derive(Debug, Default)]
pub(super) struct VisibleTree {
    rows: Vec<TreeShapeRow>,
    /// How many the filter leaves without the search.
    passing: usize,
    /// The row of each entry that is shown.
    places: Vec<Option<u32>>,
}

/// What a search looks at, in lower case; the label is not among it, since it can change.
pub(super) fn folded_text(entry: &TreeEntry) -> String {
    format!("{} {} {}", entry.who, entry.text, entry.search).to_lowercase()
}

impl VisibleTree {
    pub(super) fn new(
        entries: &[TreeEntry],
        folded: &[String],
        filter: TreeFilterMode,
        query: &str,
    ) -> VisibleTree {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut passing = 0;
        // For each entry its nearest visible ancestor, itself included, by its place among the visible.
        let mut stands: Vec<Option<usize>> = Vec::with_capacity(entries.len());
        let (mut shown, mut parents) = (Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let above = entry.parent.and_then(|parent| stands.get(parent).copied().flatten());
            let passes = passes_filter(entry, filter);
            passing += usize::from(passes);
            if passes && fits_search(entry, folded.get(at).map_or("", String::as_str), &words) {
                stands.push(Some(shown.len()));
                shown.push(at);
                parents.push(above);
            } else {
                stands.push(above);
            }
        }
        let mut rows = tree_rows(&parents);
        for row in &mut rows {
            row.at = shown[row.at];
        }
        let mut places = vec![None; entries.len()];
        for (place, row) in rows.iter().enumerate() {
            places[row.at] = u32::try_from(place).ok();
        }
        VisibleTree { rows, passing, places }
    }

    pub(super) fn rows(&self) -> &[TreeShapeRow] {
        &self.rows
    }

    pub(super) fn passing(&self) -> usize {
        self.passing
    }

    /// The place of an entry, or of its nearest ancestor that is shown.
    pub(super) fn nearest_place(&self, entries: &[TreeEntry], index: usize) -> usize {
        let mut at = Some(index);
        // Parents stand before their children, so this ends.
        while let Some(index) = at {
            if let Some(place) = self.places.get(index).copied().flatten() {
                return place as usize;
            }
            at = entries.get(index).and_then(|entry| entry.parent).filter(|parent| *parent < index);
        }
        0
    }
}

fn passes_filter(entry: &TreeEntry, filter: TreeFilterMode) -> bool {
    let is_hidden = entry.is_bookkeeping || entry.is_silent;
    match filter {
        TreeFilterMode::All => true,
        TreeFilterMode::Default => !is_hidden,
        TreeFilterMode::NoTools => !is_hidden && entry.role != EntryRole::ToolResult,
        TreeFilterMode::UserOnly => entry.kind == EntryType::Message && entry.role == EntryRole::User,
        TreeFilterMode::LabeledOnly => entry.label.is_some(),
    }
}

fn fits_search(entry: &TreeEntry, folded: &str, words: &[String]) -> bool {
    let label = entry.label.as_ref().map(|label| label.to_lowercase()).unwrap_or_default();
    words.iter().all(|word| label.contains(word.as_str()) || folded.contains(word.as_str()))
}
