//! The words being written: a text of several lines with a cursor, and what keys and pastes do to it.
//!
//! Long pastes and images stand in the text as a label in brackets that is moved over and deleted as one. The text that is sent
//! is exactly what was typed and pasted, whatever the screen shows of it. What was pasted is known as such to the end: a name
//! behind `@` in it attaches no file.

mod boundaries;
mod draft;
mod fragment;
mod history;
mod kill_ring;
mod layout;
mod render;
mod search;
mod steps;
#[cfg(test)]
mod tests;
mod undo;

use std::ops::Range;

use crate::input::decode::PastedText;
use crate::input::{KeyPress, PROMPT_BYTES, TypedWords, pasted_text};
use crate::keymap::{KeyAction, KeyContext, Keymap};

use fragment::{EditorChip, EditorFragment, EditorSpanKind};
use history::HistoryWalk;
use kill_ring::KillRing;
use layout::EditorLayout;
use search::HistorySearch;
use undo::{EditorStep, EditorStepKind, EditorUndo};

pub use draft::EditorDraft;
pub use fragment::EditorImage;
pub use render::EditorCursor;
pub use search::PromptSearchSource;

/// A paste with more lines is folded …
const FOLDED_LINES: usize = 10;
/// … and one with more characters.
const FOLDED_CHARS: usize = 1_000;
/// Images of one message.
const MAX_IMAGES: usize = 20;
/// Cells of a row before its width is known.
const USUAL_CELLS: usize = 77;

pub struct PromptEditor {
    text: EditorFragment,
    cursor: usize,
    layout: EditorLayout,
    /// The first row that was shown, and how many.
    shown: Range<usize>,
    undo: EditorUndo,
    kill_ring: KillRing,
    /// What the last key did, as far as the next one depends on it.
    last: LastEdit,
    /// The column to which vertical moves return.
    column: Option<usize>,
    history: HistoryWalk,
    search: Option<HistorySearch>,
    source: Option<Box<dyn PromptSearchSource>>,
    placeholder: String,
    /// Numbers of the labels so far.
    pastes: usize,
    images: usize,
}

/// What came of a key or a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorOutcome {
    /// The text is another.
    Changed,
    /// Only the cursor or the look changed.
    Moved,
    /// To be sent: [`PromptEditor::take`] gives it.
    Submit,
    /// Something for the whole conversation, or for what lies around the editor.
    Unhandled(KeyAction),
    /// Nothing was done, and this says why.
    Refused(EditorRefusal),
    Ignored,
}

/// Why something does not go into the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditorRefusal {
    #[error("not pasted: it has more than {} kB; save it as a file and name that with @", PROMPT_BYTES >> 10)]
    PasteTooLarge,
    #[error("the message is full: {} kB", PROMPT_BYTES >> 10)]
    Full,
    #[error("not added: {MAX_IMAGES} images are in the message already")]
    TooManyImages,
}

/// A message as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditorMessage {
    pub words: TypedWords,
    /// In the order of their labels in the text.
    pub images: Vec<EditorImage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LastEdit {
    Other,
    Kill,
    /// The bytes that were yanked.
    Yank(Range<usize>),
}

impl Default for PromptEditor {
    fn default() -> PromptEditor {
        PromptEditor {
            text: EditorFragment::default(),
            cursor: 0,
            layout: EditorLayout::new("", USUAL_CELLS, true),
            shown: 0..1,
            undo: EditorUndo::default(),
            kill_ring: KillRing::default(),
            last: LastEdit::Other,
            column: None,
            history: HistoryWalk::default(),
            search: None,
            source: None,
            placeholder: String::new(),
            pastes: 0,
            images: 0,
        }
    }
}

impl std::fmt::Debug for PromptEditor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PromptEditor")
            .field("text", &self.text)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

impl PromptEditor {
    /// Shown while nothing is typed.
    pub fn set_placeholder(&mut self, text: &str) {
        self.placeholder = text.to_string();
    }

    /// Nothing is typed, pasted or searched.
    pub fn is_empty(&self) -> bool {
        self.text.text.is_empty() && self.search.is_none()
    }

    /// With labels in the place of long pastes and images.
    pub fn text(&self) -> &str {
        &self.text.text
    }

    /// In bytes of [`PromptEditor::text`].
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether a byte of [`PromptEditor::text`] was typed, and not pasted.
    pub fn is_typed(&self, at: usize) -> bool {
        !self.text.spans.iter().any(|span| span.range.contains(&at))
    }

    /// Bytes that are sent, without images.
    pub fn sent_bytes(&self) -> usize {
        self.text.sent_bytes()
    }

    pub fn handle_key(&mut self, key: KeyPress, keymap: &Keymap) -> EditorOutcome {
        if self.search.is_some() {
            return self.handle_search_key(key, keymap);
        }
        // What leaves an empty text also deletes in one that is not.
        let app = keymap.action_in(KeyContext::App, key);
        let types_here = key.typed_char().is_some() && !self.is_empty();
        if let Some(action) = app.filter(|_| self.is_empty()) {
            return self.app_action(action);
        }
        match keymap.action(&[KeyContext::Input, KeyContext::Editor], key) {
            Some(action) => self.apply_action(action),
            None => match (app.filter(|_| !types_here), key.typed_char()) {
                (Some(action), _) => self.app_action(action),
                (None, Some(c)) => self.type_char(c),
                (None, None) => EditorOutcome::Ignored,
            },
        }
    }

    fn app_action(&mut self, action: KeyAction) -> EditorOutcome {
        if action == KeyAction::SearchHistory && self.source.is_some() {
            self.open_search();
            return EditorOutcome::Moved;
        }
        EditorOutcome::Unhandled(action)
    }

    fn type_char(&mut self, c: char) -> EditorOutcome {
        self.insert(&EditorFragment::plain(c), EditorStepKind::Typed)
    }

    fn insert(&mut self, fragment: &EditorFragment, kind: EditorStepKind) -> EditorOutcome {
        if self.sent_bytes() + fragment.sent_bytes() > PROMPT_BYTES {
            return EditorOutcome::Refused(EditorRefusal::Full);
        }
        self.replace(self.cursor..self.cursor, fragment, kind);
        EditorOutcome::Changed
    }

    /// The only way in which the text changes, but for undo and redo. The cursor stands behind what was put in.
    fn replace(
        &mut self,
        range: Range<usize>,
        with: &EditorFragment,
        kind: EditorStepKind,
    ) -> EditorFragment {
        let removed = self.text.splice(range.clone(), with);
        self.layout.edited(&self.text.text, range.start, range.len(), with.text.len());
        self.undo.push(EditorStep {
            at: range.start,
            removed: removed.clone(),
            inserted: with.clone(),
            cursor_before: self.cursor,
            kind,
        });
        self.cursor = range.start + with.text.len();
        self.column = None;
        self.last = LastEdit::Other;
        removed
    }

    /// Text that somebody pasted. Long text is folded to a label.
    pub fn paste(&mut self, paste: &PastedText) -> EditorOutcome {
        let text = pasted_text(paste);
        if paste.truncated || text.len() > PROMPT_BYTES {
            return EditorOutcome::Refused(EditorRefusal::PasteTooLarge);
        }
        if self.search.is_some() {
            return self.extend_search(&text);
        }
        if text.is_empty() {
            return EditorOutcome::Ignored;
        }
        let lines = text.split('\n').count();
        let is_long = lines > FOLDED_LINES || text.chars().nth(FOLDED_CHARS).is_some();
        let fragment = if is_long {
            let size = match lines {
                1 => format!("{} characters", text.chars().count()),
                lines => format!("{lines} lines"),
            };
            EditorFragment::chip(format!("[paste {}: {size}]", self.pastes + 1), EditorChip::Text(text))
        } else {
            EditorFragment::pasted(text)
        };
        self.undo.close_step();
        let outcome = self.insert(&fragment, EditorStepKind::Other);
        if outcome == EditorOutcome::Changed {
            self.pastes += usize::from(is_long);
        }
        outcome
    }

    /// An image at the cursor, as a label.
    pub fn add_image(&mut self, image: EditorImage) -> EditorOutcome {
        let is_image = |chip: &EditorChip| matches!(chip, EditorChip::Image(_));
        if self.text.spans.iter().filter_map(|span| span.chip()).filter(|chip| is_image(chip)).count()
            >= MAX_IMAGES
        {
            return EditorOutcome::Refused(EditorRefusal::TooManyImages);
        }
        let label = image.label(self.images + 1);
        self.cancel_search();
        let outcome =
            self.insert(&EditorFragment::chip(label, EditorChip::Image(image)), EditorStepKind::Other);
        if outcome == EditorOutcome::Changed {
            self.images += 1;
        }
        outcome
    }

    /// Another text, as if it had been typed; the cursor stands at its end. Undo brings the old one back.
    pub fn set_text(&mut self, text: &str) -> EditorOutcome {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if text.len() > PROMPT_BYTES {
            return EditorOutcome::Refused(EditorRefusal::Full);
        }
        self.set_fragment(&EditorFragment::plain(text));
        EditorOutcome::Changed
    }

    fn set_fragment(&mut self, fragment: &EditorFragment) {
        self.search = None;
        self.undo.close_step();
        self.replace(0..self.text.text.len(), fragment, EditorStepKind::Other);
    }

    /// Replaces typed bytes, as a completion does; the cursor stands behind `with`.
    pub fn replace_typed(&mut self, range: Range<usize>, with: &str) -> EditorOutcome {
        let text = &self.text.text;
        let fits = range.start <= range.end
            && text.is_char_boundary(range.start)
            && text.is_char_boundary(range.end);
        let range = if fits { self.widened(range) } else { return EditorOutcome::Ignored };
        if self.sent_bytes() + with.len() > PROMPT_BYTES {
            return EditorOutcome::Refused(EditorRefusal::Full);
        }
        self.undo.close_step();
        self.replace(range, &EditorFragment::plain(with), EditorStepKind::Other);
        EditorOutcome::Changed
    }

    /// Removes everything; it can be undone, and yanked.
    pub fn clear(&mut self) {
        self.cancel_search();
        if !self.text.text.is_empty() {
            let all = self.text.clone();
            self.set_fragment(&EditorFragment::default());
            self.kill_ring.push(all, false, false);
        }
    }

    /// The message with its pastes unfolded; the editor is empty then and its steps are forgotten.
    pub fn take(&mut self) -> EditorMessage {
        let message = self.message();
        self.text = EditorFragment::default();
        self.cursor = 0;
        self.layout = EditorLayout::new("", USUAL_CELLS, true);
        self.undo = EditorUndo::default();
        self.last = LastEdit::Other;
        self.column = None;
        self.search = None;
        self.history.leave();
        (self.pastes, self.images) = (0, 0);
        message
    }

    fn message(&self) -> EditorMessage {
        let (mut text, mut given, mut images) = (String::new(), Vec::new(), Vec::new());
        let mut reached = 0;
        for span in &self.text.spans {
            text.push_str(&self.text.text[reached..span.range.start]);
            let start = text.len();
            match &span.kind {
                EditorSpanKind::Pasted => text.push_str(&self.text.text[span.range.clone()]),
                EditorSpanKind::Chip(chip) => match &**chip {
                    EditorChip::Text(folded) => text.push_str(folded),
                    EditorChip::Image(image) => {
                        text.push_str(&self.text.text[span.range.clone()]);
                        images.push(image.clone());
                    }
                },
            }
            given.push(start..text.len());
            reached = span.range.end;
        }
        text.push_str(&self.text.text[reached..]);
        EditorMessage { words: TypedWords::new(text, given), images }
    }

    /// No chip is cut.
    fn widened(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text.chip_around(range.start).map_or(range.start, |chip| chip.start);
        let end = self.text.chip_around(range.end).map_or(range.end, |chip| chip.end);
        start..end
    }
}
