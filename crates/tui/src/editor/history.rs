//! Earlier prompts, one key up and down. What was being written waits below the last of them.

use std::sync::Arc;

use super::fragment::EditorFragment;
use super::{EditorOutcome, PromptEditor};
use crate::input::PROMPT_BYTES;

#[derive(Debug, Clone, Default)]
pub(super) struct HistoryWalk {
    /// The newest at the end.
    entries: Arc<[String]>,
    /// Which one is shown, and what was being written before.
    place: Option<(usize, EditorFragment)>,
}

impl HistoryWalk {
    pub(super) fn leave(&mut self) {
        self.place = None;
    }
}

impl PromptEditor {
    /// Earlier prompts, the newest at the end.
    pub fn set_history(&mut self, entries: Arc<[String]>) {
        self.history = HistoryWalk { entries, place: None };
    }

    pub(super) fn walk_history(&mut self, up: bool) -> EditorOutcome {
        let last = self.history.entries.len();
        let from = self.history.place.as_ref().map_or(last, |(index, _)| *index);
        let candidates: Vec<usize> = if up { (0..from).rev().collect() } else { (from + 1..last).collect() };
        let fits = |index: &&usize| {
            let entry = &self.history.entries[**index];
            entry.len() <= PROMPT_BYTES && *entry != self.text.text && !entry.is_empty()
        };
        match candidates.iter().find(fits).copied() {
            Some(index) => {
                let draft = match self.history.place.take() {
                    Some((_, draft)) => draft,
                    None => self.text.clone(),
                };
                let entry = self.history.entries[index].replace("\r\n", "\n").replace('\r', "\n");
                self.show_entry(&EditorFragment::plain(entry), up);
                self.history.place = Some((index, draft));
                EditorOutcome::Changed
            }
            None if up => EditorOutcome::Ignored,
            None => match self.history.place.take() {
                Some((_, draft)) => {
                    self.show_entry(&draft, up);
                    EditorOutcome::Changed
                }
                None => EditorOutcome::Ignored,
            },
        }
    }

    /// The cursor stands where the same key goes on.
    fn show_entry(&mut self, entry: &EditorFragment, up: bool) {
        self.set_fragment(entry);
        if up {
            let first_row = self.layout.row(&self.text.text, 0);
            self.cursor = first_row.end.min(self.text.text.len());
            if self.layout.row_of(self.cursor) > 0 {
                self.cursor = self.text.before(self.cursor);
            }
        }
    }
}
