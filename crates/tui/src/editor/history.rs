//! Earlier prompts: those of this session by Up and Down, those of all sessions by a search (Ctrl-R).

use crate::cells;
use crate::input::{KeyCode, KeyPress};
use crate::keymap::{KeyAction, KeyContext, Keymap};
use crate::theme::{ThemeStyle, ThemeToken};

use super::{EditorOutcome, PromptEditor};

/// Where earlier prompts come from. The caller may keep them in a database.
pub trait PromptHistory {
    /// The prompt before last is 1.
    fn recent(&self, back: usize) -> Option<String>;

    /// Prompts that match, the best first, at most `limit`; the newest if the query is empty.
    fn search(&self, query: &str, limit: usize) -> Vec<String>;
}

/// Prompts in memory, the newest last.
#[derive(Debug, Clone, Default)]
pub struct RecentPrompts(pub Vec<String>);

impl PromptHistory for RecentPrompts {
    fn recent(&self, back: usize) -> Option<String> {
        self.0.iter().rev().nth(back).cloned()
    }

    fn search(&self, query: &str, limit: usize) -> Vec<String> {
        let needle = query.to_lowercase();
        let found = self.0.iter().rev().filter(|prompt| prompt.to_lowercase().contains(&needle));
        let mut seen = std::collections::HashSet::new();
        found.filter(|prompt| seen.insert(prompt.as_str())).take(limit).cloned().collect()
    }
}

/// Most prompts that a search looks through.
const FOUND: usize = 100;
/// Those that are shown.
const SHOWN: usize = 6;
/// Longest query, in bytes.
const QUERY_BYTES: usize = 200;

#[derive(Debug)]
pub(super) struct HistorySearch {
    query: String,
    found: Vec<String>,
    chosen: usize,
}

impl HistorySearch {
    pub(super) fn new(history: &dyn PromptHistory) -> HistorySearch {
        HistorySearch { query: String::new(), found: history.search("", FOUND), chosen: 0 }
    }

    fn look(&mut self, history: &dyn PromptHistory) {
        self.found = history.search(&self.query, FOUND);
        self.chosen = 0;
    }

    /// What was found, the best next to the line where the query is typed.
    pub(super) fn lines(&self, style: &ThemeStyle, width: usize) -> (Vec<String>, (usize, usize)) {
        let label = if cells("search: ") + 8 <= width { "search: " } else { "" };
        let room = width.saturating_sub(3);
        let first = (self.chosen + 1).saturating_sub(SHOWN);
        let mut lines: Vec<String> = Vec::new();
        for (number, prompt) in self.found.iter().enumerate().skip(first).take(SHOWN) {
            let text = style.output.clip(prompt, room);
            let sign = if style.output.utf8 { "› " } else { "> " };
            lines.push(match number == self.chosen {
                true => style.paint(ThemeToken::Accent, &format!("{sign}{text}")),
                false => style.paint(ThemeToken::Muted, &format!("  {text}")),
            });
        }
        if self.found.is_empty() {
            lines.push(style.paint(ThemeToken::Muted, &style.output.clip("  no prompt matches", width)));
        }
        lines.reverse();
        let room = width.saturating_sub(label.len() + 1);
        let query = tail_cells(&style.output.safe(&self.query), room);
        lines.push(format!("{}{query}", style.paint(ThemeToken::Dim, label)));
        let cursor = (lines.len() - 1, label.len() + cells(&query));
        (lines, cursor)
    }
}

impl PromptEditor {
    pub(super) fn search_key(
        &mut self,
        key: KeyPress,
        keymap: &Keymap,
        history: &dyn PromptHistory,
    ) -> EditorOutcome {
        let Some(search) = &mut self.search else { return EditorOutcome::Ignored };
        let again = keymap.action(KeyContext::App, key) == Some(KeyAction::SearchHistory);
        let step = match keymap.action(KeyContext::Select, key) {
            _ if again => Some(KeyAction::SelectUp),
            action => action,
        };
        match step {
            Some(KeyAction::SelectUp) => {
                search.chosen = (search.chosen + 1).min(search.found.len().saturating_sub(1));
            }
            Some(KeyAction::SelectDown) => search.chosen = search.chosen.saturating_sub(1),
            Some(KeyAction::SelectConfirm) => {
                let prompt = search.found.get(search.chosen).cloned();
                self.search = None;
                if let Some(prompt) = prompt {
                    self.set_text(&prompt);
                }
            }
            Some(KeyAction::SelectCancel) => self.search = None,
            _ if key.code == KeyCode::Backspace => {
                search.query.pop();
                search.look(history);
            }
            _ if key == KeyPress::ctrl('u') => {
                search.query.clear();
                search.look(history);
            }
            _ => match key.typed_char() {
                Some(c) if search.query.len() < QUERY_BYTES => {
                    search.query.push(c);
                    search.look(history);
                }
                _ => return EditorOutcome::Ignored,
            },
        }
        EditorOutcome::Changed
    }
}

/// The longest end that fits.
fn tail_cells(text: &str, room: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += cells(c.encode_utf8(&mut [0; 4]));
        used <= room
    };
    let kept: Vec<char> = text.chars().rev().take_while(fits).collect();
    kept.into_iter().rev().collect()
}
