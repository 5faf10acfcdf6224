//! Searching earlier prompts while typing, the newest first.

use super::fragment::EditorFragment;
use super::{EditorOutcome, PromptEditor};
use crate::input::{KeyPress, PROMPT_BYTES};
use crate::keymap::{KeyAction, KeyContext, Keymap};

/// Prompts that one search finds.
const HITS: usize = 50;
/// Bytes of a query.
const QUERY_BYTES: usize = 256;

/// Where earlier prompts are found.
pub trait PromptSearchSource {
    /// Those that match, the newest first; at most `limit`. For an empty query: the newest.
    fn search(&mut self, query: &str, limit: usize) -> Vec<String>;
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HistorySearch {
    pub(super) query: String,
    pub(super) hits: Vec<String>,
    /// The hit that is shown.
    pub(super) index: usize,
}

impl HistorySearch {
    pub(super) fn hit(&self) -> Option<&str> {
        self.hits.get(self.index).map(String::as_str)
    }
}

impl PromptEditor {
    pub fn set_search_source(&mut self, source: Box<dyn PromptSearchSource>) {
        self.source = Some(source);
    }

    /// Whether keys go to the search in earlier prompts.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    pub(super) fn open_search(&mut self) {
        self.search = Some(HistorySearch::default());
        self.run_search();
    }

    pub(super) fn cancel_search(&mut self) {
        self.search = None;
    }

    pub(super) fn extend_search(&mut self, text: &str) -> EditorOutcome {
        if let Some(search) = &mut self.search {
            let line = text.lines().next().unwrap_or_default();
            let room = QUERY_BYTES.saturating_sub(search.query.len());
            search.query.push_str(&line[..super::boundaries::floor(line, room)]);
        }
        self.run_search()
    }

    pub(super) fn handle_search_key(&mut self, key: KeyPress, keymap: &Keymap) -> EditorOutcome {
        let contexts = [KeyContext::Input, KeyContext::Select, KeyContext::App, KeyContext::Editor];
        let action = keymap.action(&contexts, key);
        if let Some(c) = key.typed_char() {
            return self.extend_search(c.encode_utf8(&mut [0; 4]));
        }
        match action {
            Some(KeyAction::SearchHistory | KeyAction::SelectUp) => self.step_search(true),
            Some(KeyAction::SelectDown) => self.step_search(false),
            Some(KeyAction::Submit | KeyAction::Complete | KeyAction::CursorRight) => self.accept_search(),
            Some(
                KeyAction::SelectCancel | KeyAction::Interrupt | KeyAction::Clear | KeyAction::ExternalEditor,
            ) => {
                self.cancel_search();
                EditorOutcome::Moved
            }
            Some(KeyAction::DeleteBackward) => {
                if let Some(search) = &mut self.search {
                    let start = super::boundaries::cluster_start(&search.query, search.query.len(), 0);
                    search.query.truncate(start);
                }
                self.run_search()
            }
            Some(KeyAction::KillToLineStart | KeyAction::KillWordBackward) => {
                if let Some(search) = &mut self.search {
                    search.query.clear();
                }
                self.run_search()
            }
            Some(action @ (KeyAction::Suspend | KeyAction::Exit)) => EditorOutcome::Unhandled(action),
            _ => EditorOutcome::Ignored,
        }
    }

    fn run_search(&mut self) -> EditorOutcome {
        if let (Some(search), Some(source)) = (&mut self.search, &mut self.source) {
            search.hits = source.search(&search.query, HITS);
            search.hits.retain(|hit| hit.len() <= PROMPT_BYTES);
            search.hits.truncate(HITS);
            search.index = 0;
        }
        EditorOutcome::Moved
    }

    /// Older is further down the list of hits.
    fn step_search(&mut self, older: bool) -> EditorOutcome {
        let Some(search) = &mut self.search else { return EditorOutcome::Ignored };
        let next = if older { search.index + 1 } else { search.index.wrapping_sub(1) };
        if next >= search.hits.len() {
            return EditorOutcome::Ignored;
        }
        search.index = next;
        EditorOutcome::Moved
    }

    /// The hit becomes the text; it is not sent yet.
    fn accept_search(&mut self) -> EditorOutcome {
        let hit = self.search.take().and_then(|search| search.hits.into_iter().nth(search.index));
        match hit {
            Some(hit) => {
                self.set_fragment(&EditorFragment::plain(hit.replace("\r\n", "\n").replace('\r', "\n")));
                EditorOutcome::Changed
            }
            None => EditorOutcome::Moved,
        }
    }
}
