//! What keys do in the tree, by stage.

use super::{LeftBranchSummary, SUMMARY_CHOICES, TreeFilterMode, TreeMove, TreeOutcome, TreeStage, TreeView};
use crate::input::{KeyCode, KeyPress};
use crate::picker::TextField;

impl TreeView {
    pub fn handle_key(&mut self, key: KeyPress) -> TreeOutcome {
        if key == KeyPress::ctrl('c') && self.stage != TreeStage::Summarizing {
            return TreeOutcome::Closed;
        }
        match std::mem::replace(&mut self.stage, TreeStage::Browse) {
            TreeStage::Browse => self.browse_key(key),
            TreeStage::Label(field) => self.label_key(field, key),
            TreeStage::Summary { to, choice } => self.summary_key(to, choice, key),
            TreeStage::CustomPrompt { to, words } => self.custom_prompt_key(to, words, key),
            TreeStage::Summarizing => {
                self.stage = TreeStage::Summarizing;
                match key.code {
                    KeyCode::Escape => TreeOutcome::AbortSummary,
                    _ if key == KeyPress::ctrl('c') => TreeOutcome::AbortSummary,
                    _ => TreeOutcome::Ignored,
                }
            }
        }
    }

    /// Pasted text goes where typed text goes.
    pub fn insert_text(&mut self, text: &str) {
        match &mut self.stage {
            TreeStage::Browse => {
                if self.query.insert(text) {
                    self.query_changed();
                }
            }
            TreeStage::Label(field) | TreeStage::CustomPrompt { words: field, .. } => {
                field.insert(text);
            }
            TreeStage::Summary { .. } | TreeStage::Summarizing => {}
        }
    }

    fn browse_key(&mut self, key: KeyPress) -> TreeOutcome {
        let page = self.page.get().max(1);
        let last = self.visible.rows().len().saturating_sub(1);
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Up, ..) => self.select(self.selected.checked_sub(1).unwrap_or(last)),
            (KeyCode::Down, ..) => self.select(if self.selected >= last { 0 } else { self.selected + 1 }),
            (KeyCode::Left | KeyCode::PageUp, ..) => self.select(self.selected.saturating_sub(page)),
            (KeyCode::Right | KeyCode::PageDown, ..) => self.select((self.selected + page).min(last)),
            (KeyCode::Home, ..) => self.select(0),
            (KeyCode::End, ..) => self.select(last),
            (KeyCode::Enter, ..) => self.choose(),
            (KeyCode::Escape, ..) if self.query.is_empty() => TreeOutcome::Closed,
            (KeyCode::Escape, ..) => {
                self.query.clear();
                self.query_changed();
                TreeOutcome::Changed
            }
            (KeyCode::Char('o' | 'O'), true, _) => {
                // Some terminals tell Shift by the letter.
                let is_back = key.shift || key.code == KeyCode::Char('O');
                let by = if is_back { TreeFilterMode::ALL.len() - 1 } else { 1 };
                self.set_filter(self.filter.cycled(by))
            }
            (KeyCode::Char(letter), false, true) => match letter.to_ascii_lowercase() {
                'd' => self.set_filter(TreeFilterMode::Default),
                't' => self.set_filter(TreeFilterMode::NoTools),
                'u' => self.set_filter(TreeFilterMode::UserOnly),
                'l' => self.set_filter(TreeFilterMode::LabeledOnly),
                'a' => self.set_filter(TreeFilterMode::All),
                _ => TreeOutcome::Ignored,
            },
            // A search does not care about case, so the letter is free.
            (KeyCode::Char('L'), false, false) => match self.selected_entry() {
                None => TreeOutcome::Ignored,
                Some(entry) => {
                    let label = entry.label.clone().unwrap_or_default();
                    self.stage = TreeStage::Label(TextField::with_text(&label));
                    TreeOutcome::Changed
                }
            },
            _ if self.query.handle_filter_key(key) => {
                self.query_changed();
                TreeOutcome::Changed
            }
            _ => TreeOutcome::Ignored,
        }
    }

    fn label_key(&mut self, mut field: TextField, key: KeyPress) -> TreeOutcome {
        match key.code {
            KeyCode::Escape => TreeOutcome::Changed,
            KeyCode::Enter => {
                let label = Some(field.text().trim().to_string()).filter(|label| !label.is_empty());
                let Some(index) = self.selected_index() else { return TreeOutcome::Changed };
                let entry = &mut self.entries[index];
                if entry.label == label {
                    return TreeOutcome::Changed;
                }
                entry.label.clone_from(&label);
                let entry = entry.id.clone();
                self.show_again(Some(index));
                TreeOutcome::SetLabel { entry, label }
            }
            _ => {
                let changed = field.handle_key(key);
                self.stage = TreeStage::Label(field);
                if changed { TreeOutcome::Changed } else { TreeOutcome::Ignored }
            }
        }
    }

    fn summary_key(&mut self, to: TreeMove, choice: usize, key: KeyPress) -> TreeOutcome {
        let count = SUMMARY_CHOICES.len();
        let choice = match key.code {
            // Back to the tree.
            KeyCode::Escape => return TreeOutcome::Changed,
            KeyCode::Up => (choice + count - 1) % count,
            KeyCode::Down => (choice + 1) % count,
            KeyCode::Enter => return self.summary_chosen(to, choice),
            _ => {
                self.stage = TreeStage::Summary { to, choice };
                return TreeOutcome::Ignored;
            }
        };
        self.stage = TreeStage::Summary { to, choice };
        TreeOutcome::Changed
    }

    fn summary_chosen(&mut self, to: TreeMove, choice: usize) -> TreeOutcome {
        match choice {
            0 => TreeOutcome::Move(to),
            1 => self.summarize(to, LeftBranchSummary::Summarize),
            _ => {
                self.stage = TreeStage::CustomPrompt { to, words: TextField::default() };
                TreeOutcome::Changed
            }
        }
    }

    fn custom_prompt_key(&mut self, to: TreeMove, mut words: TextField, key: KeyPress) -> TreeOutcome {
        match key.code {
            // Back to the choice.
            KeyCode::Escape => {
                self.stage = TreeStage::Summary { to, choice: SUMMARY_CHOICES.len() - 1 };
                TreeOutcome::Changed
            }
            KeyCode::Enter => match words.text().trim() {
                "" => self.summarize(to, LeftBranchSummary::Summarize),
                said => self.summarize(to, LeftBranchSummary::Custom(said.to_string())),
            },
            _ => {
                let changed = words.handle_key(key);
                self.stage = TreeStage::CustomPrompt { to, words };
                if changed { TreeOutcome::Changed } else { TreeOutcome::Ignored }
            }
        }
    }

    fn summarize(&mut self, to: TreeMove, summary: LeftBranchSummary) -> TreeOutcome {
        self.stage = TreeStage::Summarizing;
        TreeOutcome::Move(TreeMove { summary, ..to })
    }

    fn choose(&mut self) -> TreeOutcome {
        let Some(entry) = self.selected_entry() else { return TreeOutcome::Ignored };
        if entry.is_leaf {
            return TreeOutcome::AlreadyThere;
        }
        let parent = entry.parent.and_then(|parent| self.entries.get(parent)).map(|parent| parent.id.clone());
        let to = TreeMove {
            entry: entry.id.clone(),
            leaf: if entry.prompt.is_some() { parent } else { Some(entry.id.clone()) },
            prefill: entry.prompt.clone(),
            summary: LeftBranchSummary::None,
        };
        if !self.asks_for_summary {
            return TreeOutcome::Move(to);
        }
        self.stage = TreeStage::Summary { to, choice: 0 };
        TreeOutcome::Changed
    }

    fn select(&mut self, place: usize) -> TreeOutcome {
        self.selected = place;
        TreeOutcome::Changed
    }

    fn set_filter(&mut self, filter: TreeFilterMode) -> TreeOutcome {
        let index = self.selected_index();
        self.filter = filter;
        self.show_again(index);
        TreeOutcome::Changed
    }

    fn query_changed(&mut self) {
        let index = self.selected_index();
        self.show_again(index);
    }
}
