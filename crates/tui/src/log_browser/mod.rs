//! What was done, with the diff of the selected change beside it; undo, redo, revert and commit are keys.
//!
//! ```text
//! Log                                                                      3
//! › / filters: words, origin:agent, file:cart
//! ▸   feat: round totals to cents   2 min ago  clipboard  3 files  +24 −5  │ --- a/src/cart.ts
//!     add retry to the client       1 h ago    agent      5 files  +120    │ +++ b/src/cart.ts
//!   ↩ fix: typo                     yesterday  clipboard  1 file   +3 −1   │ @@ -85,3 +85,3 @@
//! Enter diff · Esc close · u undo · U redo · r revert · c commit · / filter · Tab mark
//! ```
//!
//! The view changes nothing: a [`LogOutcome`] says what is to be done. [`LogBrowser::set_rows`] afterwards keeps the place.

mod lines;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::VecDeque;

use relaycode_change::diff::FileDiff;
use relaycode_change::plan::FilePlan;

use crate::input::{KeyCode, KeyPress};
use crate::pager::{Pager, PagerOutcome, PagerText};
use crate::picker::{ListPicker, PickerOutcome};
use crate::views::diff::{DiffLayout, files_text};
use crate::views::log::LogRow;
use crate::{Glyph, OutputStyle};

/// Diffs that are kept.
const KEPT_DIFFS: usize = 32;
/// So many rows before the end of what is loaded, more is wanted.
const LOAD_AHEAD: usize = 20;

/// A change of the list.
#[derive(Debug, Clone)]
pub struct LogBrowserRow {
    pub row: LogRow,
    /// What it changed, as far as that is known already.
    pub paths: Vec<String>,
}

/// What a change did.
#[derive(Debug, Default)]
pub struct LogDiff {
    pub files: Vec<(FilePlan, FileDiff)>,
    /// What cannot be shown, and why.
    pub note: String,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogOutcome {
    Ignored,
    Changed,
    /// Take the last change back, as `relay undo`.
    Undo,
    /// Bring it back, as `relay redo`.
    Redo,
    /// Take back this one.
    Revert {
        id: String,
    },
    /// Commit exactly these, newest first.
    Commit {
        ids: Vec<String>,
    },
    Closed,
    Quit,
}

/// The state of the browser.
#[derive(Debug)]
pub struct LogBrowser {
    list: ListPicker<LogBrowserRow>,
    total: usize,
    diffs: VecDeque<(String, LogDiff)>,
    painted: RefCell<Option<PaintedDiff>>,
    is_filtering: bool,
    pager: Option<Pager>,
    note: String,
}

/// The diff that was drawn last.
#[derive(Debug)]
struct PaintedDiff {
    id: String,
    look: (bool, bool),
    lines: Vec<String>,
}

impl LogBrowser {
    /// The first rows of the log, of so many.
    pub fn new(rows: Vec<LogBrowserRow>, total: usize) -> LogBrowser {
        let mut list = ListPicker::new("Log", "nothing has been applied here yet")
            .multi_select()
            .with_preview()
            .with_enter("diff")
            .with_filter_hint("/ filters: words, origin:agent, file:cart")
            .with_keys(lines::KEYS);
        list.set_typing(false);
        let mut browser = LogBrowser {
            list,
            total,
            diffs: VecDeque::new(),
            painted: RefCell::new(None),
            is_filtering: false,
            pager: None,
            note: String::new(),
        };
        browser.set_rows(rows, total);
        browser
    }

    /// The rows anew, as after a change was undone; the same change stays selected.
    pub fn set_rows(&mut self, rows: Vec<LogBrowserRow>, total: usize) {
        self.total = total;
        let selected = self.selected_id().map(str::to_string);
        let place = self.list.selected_index();
        self.list.set_items(rows.into_iter().map(lines::item).collect());
        let same =
            |id: &String| self.list.items().iter().position(|item| item.value.row.id.as_ref() == Some(id));
        if let Some(place) = selected.as_ref().and_then(same).or(place) {
            self.list.select_index(place);
        }
        self.painted.take();
    }

    /// Older rows that follow those that are there.
    pub fn add_rows(&mut self, rows: Vec<LogBrowserRow>) {
        self.list.add_items(rows.into_iter().map(lines::item));
    }

    /// How many rows there are, if more of them are wanted now.
    pub fn wants_more(&self) -> Option<usize> {
        let loaded = self.list.items().len();
        let near_end = self.list.selected_index().is_none_or(|at| at + LOAD_AHEAD >= loaded);
        (loaded < self.total && near_end).then_some(loaded)
    }

    /// The change whose diff is to be shown and is not there yet.
    pub fn wants_diff(&self) -> Option<&str> {
        self.selected_id().filter(|id| self.diffs.iter().all(|(known, _)| known != id))
    }

    pub fn set_diff(&mut self, id: &str, diff: LogDiff) {
        self.diffs.retain(|(known, _)| known != id);
        self.diffs.push_back((id.to_string(), diff));
        if self.diffs.len() > KEPT_DIFFS {
            self.diffs.pop_front();
        }
        self.painted.take();
    }

    /// How an action went, for the last row; until the next key.
    pub fn set_note(&mut self, note: &str) {
        self.note = note.to_string();
    }

    pub fn selected_id(&self) -> Option<&str> {
        self.list.selected().and_then(|row| row.row.id.as_deref())
    }

    pub fn insert_text(&mut self, text: &str) {
        match &mut self.pager {
            Some(pager) => pager.insert_text(text),
            None if self.is_filtering => self.list.insert_text(text),
            None => {}
        }
    }

    pub fn handle_key(&mut self, key: KeyPress) -> LogOutcome {
        self.note.clear();
        if let Some(pager) = &mut self.pager {
            return match pager.handle_key(key) {
                PagerOutcome::Ignored => LogOutcome::Ignored,
                PagerOutcome::Changed => LogOutcome::Changed,
                PagerOutcome::Closed => {
                    self.pager = None;
                    LogOutcome::Changed
                }
            };
        }
        if self.is_filtering {
            return self.filter_key(key);
        }
        match key.typed_char() {
            Some('q') => LogOutcome::Closed,
            Some('/') => {
                self.set_filtering(true);
                LogOutcome::Changed
            }
            Some('u') => LogOutcome::Undo,
            Some('U') => LogOutcome::Redo,
            Some('r') => self.revert(),
            Some('c') => self.commit(),
            Some('j') => self.list_key(KeyPress::plain(KeyCode::Down)),
            Some('k') => self.list_key(KeyPress::plain(KeyCode::Up)),
            Some(' ') => self.list_key(KeyPress::plain(KeyCode::PageDown)),
            Some(_) => LogOutcome::Ignored,
            None if key.code == KeyCode::Backspace => LogOutcome::Ignored,
            None => self.list_key(key),
        }
    }

    fn set_filtering(&mut self, is_filtering: bool) {
        self.is_filtering = is_filtering;
        self.list.set_typing(is_filtering);
    }

    fn filter_key(&mut self, key: KeyPress) -> LogOutcome {
        match key.code {
            // What was typed stays as the filter.
            KeyCode::Enter => self.set_filtering(false),
            KeyCode::Escape => {
                self.set_filtering(false);
                if !self.list.query().is_empty() {
                    self.list.handle_key(key);
                }
            }
            _ => return self.list_key(key),
        }
        LogOutcome::Changed
    }

    fn list_key(&mut self, key: KeyPress) -> LogOutcome {
        match self.list.handle_key(key) {
            PickerOutcome::Ignored => LogOutcome::Ignored,
            PickerOutcome::Changed => LogOutcome::Changed,
            PickerOutcome::Closed => LogOutcome::Closed,
            PickerOutcome::Quit => LogOutcome::Quit,
            PickerOutcome::Chosen(_) => self.open_pager(),
        }
    }

    fn revert(&mut self) -> LogOutcome {
        let Some(row) = self.list.selected().map(|row| &row.row) else { return LogOutcome::Ignored };
        self.note = match (&row.id, row.undone, row.revertible) {
            (None, ..) => "this one cannot be read".to_string(),
            (_, true, _) => "it is undone already; U brings the last one back".to_string(),
            (_, _, false) => "it can no longer be undone".to_string(),
            (Some(id), ..) => return LogOutcome::Revert { id: id.clone() },
        };
        LogOutcome::Changed
    }

    fn commit(&mut self) -> LogOutcome {
        let rows = self.list.marked_or_selected().into_iter().filter_map(|at| self.list.items().get(at));
        let ids: Vec<String> = rows.filter_map(|item| item.value.row.id.clone()).collect();
        if ids.is_empty() { LogOutcome::Ignored } else { LogOutcome::Commit { ids } }
    }

    fn open_pager(&mut self) -> LogOutcome {
        let Some(row) = self.list.selected() else { return LogOutcome::Ignored };
        let Some(diff) = row.row.id.as_ref().and_then(|id| self.diff(id)) else {
            self.note = "its diff is not there yet".to_string();
            return LogOutcome::Changed;
        };
        // The pager has its own colours and cuts nothing.
        let plain = OutputStyle { color: false, utf8: true, width: None };
        let text = diff_text(diff, &plain);
        self.pager = Some(Pager::new(row.row.summary.clone(), PagerText::diff(text)));
        LogOutcome::Changed
    }

    fn diff(&self, id: &str) -> Option<&LogDiff> {
        self.diffs.iter().find(|(known, _)| known == id).map(|(_, diff)| diff)
    }
}

fn diff_text(diff: &LogDiff, style: &OutputStyle) -> String {
    let files = diff.files.iter().map(|(file, diff)| (file, diff));
    let mut text = files_text(files, DiffLayout::Unified, style).trim_start_matches('\n').to_string();
    if !diff.note.is_empty() {
        text += &format!("{} {}\n", style.glyph(Glyph::Refused), style.block(&diff.note));
    }
    text
}
