//! The text of a prompt with its cursor, chips, undo and kill ring. The cursor moves by what a person sees as one character.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::chip::{CHIP_MARK, PromptChip};

/// Most bytes of text that is typed or pasted in place; chips hold more.
pub(super) const TEXT_BYTES: usize = 32 << 10;
/// Steps that can be undone.
const UNDO_STEPS: usize = 200;
/// Texts that were cut and can come back.
const KILLS: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BufferState {
    pub(super) text: String,
    /// In the order of their marks in the text.
    pub(super) chips: Vec<PromptChip>,
    pub(super) cursor: usize,
}

#[derive(Debug, Default)]
pub(super) struct PromptBuffer {
    pub(super) state: BufferState,
    undo: Vec<BufferState>,
    redo: Vec<BufferState>,
    kills: Vec<(String, Vec<PromptChip>)>,
    last: Option<EditKind>,
    /// Where the text of the last yank begins, and how far back in the ring it was.
    yanked: Option<(usize, usize)>,
}

/// Steps of one kind in a row are undone at once, or cut together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditKind {
    Typing,
    Deleting,
    KillForward,
    KillBackward,
    Yank,
    Other,
}

impl PromptBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.state.text.is_empty()
    }

    /// `false` if there is no room.
    pub(super) fn insert(&mut self, text: &str) -> bool {
        if self.state.text.len() + text.len() > TEXT_BYTES {
            return false;
        }
        // A word is undone at once, and so is a run of blanks.
        let is_break = text.chars().any(char::is_whitespace)
            && !self.state.text[..self.state.cursor].ends_with(char::is_whitespace);
        self.begin(if is_break || text.len() > 8 { EditKind::Other } else { EditKind::Typing });
        self.last = Some(EditKind::Typing);
        self.put(text, Vec::new());
        true
    }

    pub(super) fn insert_chip(&mut self, chip: PromptChip) {
        self.begin(EditKind::Other);
        self.put(CHIP_MARK.encode_utf8(&mut [0; 4]), vec![chip]);
    }

    /// Replaces bytes of the text, which must hold no chip.
    pub(super) fn replace(&mut self, range: std::ops::Range<usize>, text: &str) {
        self.begin(EditKind::Other);
        self.state.cursor = range.start;
        self.take(range);
        self.put(text, Vec::new());
    }

    /// Everything at once; can be undone.
    pub(super) fn set(&mut self, state: BufferState) {
        self.begin(EditKind::Other);
        self.state = state;
    }

    pub(super) fn clear_all(&mut self) {
        let kills = std::mem::take(&mut self.kills);
        *self = PromptBuffer { kills, ..PromptBuffer::default() };
    }

    pub(super) fn move_to(&mut self, at: usize) {
        self.last = None;
        self.state.cursor = at;
    }

    pub(super) fn delete_back(&mut self) {
        let from = self.before(self.state.cursor);
        self.delete(from..self.state.cursor, EditKind::Deleting);
    }

    pub(super) fn delete_forward(&mut self) {
        let end = self.after(self.state.cursor);
        self.delete(self.state.cursor..end, EditKind::Deleting);
    }

    pub(super) fn kill_back(&mut self, from: usize) {
        self.kill(from..self.state.cursor, EditKind::KillBackward);
    }

    pub(super) fn kill_forward(&mut self, end: usize) {
        self.kill(self.state.cursor..end, EditKind::KillForward);
    }

    pub(super) fn yank(&mut self) {
        self.yank_nth(0);
    }

    /// Instead of what was just put back, what was cut before that.
    pub(super) fn yank_pop(&mut self) {
        let Some((start, nth)) = self.yanked.filter(|_| self.last == Some(EditKind::Yank)) else { return };
        let cursor = self.state.cursor;
        self.state.cursor = start;
        self.take(start..cursor);
        self.yank_nth((nth + 1) % self.kills.len().max(1));
    }

    pub(super) fn undo(&mut self) {
        if let Some(before) = self.undo.pop() {
            self.redo.push(std::mem::replace(&mut self.state, before));
        }
        self.last = None;
    }

    pub(super) fn redo(&mut self) {
        if let Some(after) = self.redo.pop() {
            self.undo.push(std::mem::replace(&mut self.state, after));
        }
        self.last = None;
    }

    /// The beginning of the character before.
    pub(super) fn before(&self, at: usize) -> usize {
        let text = &self.state.text;
        GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten().unwrap_or(0)
    }

    /// The end of the character at a place.
    pub(super) fn after(&self, at: usize) -> usize {
        let text = &self.state.text;
        GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
    }

    /// The nearest boundary of characters at or before a place.
    pub(super) fn boundary(&self, at: usize) -> usize {
        let at = at.min(self.state.text.len());
        let ends = self.state.text.grapheme_indices(true).map(|(start, _)| start);
        ends.take_while(|start| *start <= at).last().filter(|_| at < self.state.text.len()).unwrap_or(at)
    }

    pub(super) fn word_before(&self) -> usize {
        let head = &self.state.text[..self.state.cursor];
        let trimmed = head.trim_end_matches(|c: char| !is_word(c));
        trimmed.trim_end_matches(is_word).len()
    }

    pub(super) fn word_after(&self) -> usize {
        let tail = &self.state.text[self.state.cursor..];
        let rest = tail.trim_start_matches(|c: char| !is_word(c)).trim_start_matches(is_word);
        self.state.text.len() - rest.len()
    }

    /// Back over blanks and to the blank before.
    pub(super) fn space_before(&self) -> usize {
        let head = &self.state.text[..self.state.cursor];
        head.trim_end().trim_end_matches(|c: char| !c.is_whitespace()).len()
    }

    pub(super) fn line_start(&self) -> usize {
        self.state.text[..self.state.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    pub(super) fn line_end(&self) -> usize {
        let tail = &self.state.text[self.state.cursor..];
        tail.find('\n').map_or(self.state.text.len(), |at| self.state.cursor + at)
    }

    fn delete(&mut self, range: std::ops::Range<usize>, kind: EditKind) {
        if range.is_empty() {
            return;
        }
        self.begin(kind);
        self.state.cursor = range.start;
        self.take(range);
    }

    fn kill(&mut self, range: std::ops::Range<usize>, kind: EditKind) {
        if range.is_empty() {
            return;
        }
        let goes_on = self.last == Some(kind);
        self.begin(kind);
        self.state.cursor = range.start;
        let (text, chips) = self.take(range);
        match self.kills.last_mut().filter(|_| goes_on) {
            Some((before, known)) if kind == EditKind::KillForward => {
                before.push_str(&text);
                known.extend(chips);
            }
            Some((before, known)) => {
                before.insert_str(0, &text);
                known.splice(0..0, chips);
            }
            None => self.kills.push((text, chips)),
        }
        if self.kills.len() > KILLS {
            self.kills.remove(0);
        }
    }

    fn yank_nth(&mut self, nth: usize) {
        let Some((text, chips)) = self.kills.len().checked_sub(nth + 1).map(|at| self.kills[at].clone())
        else {
            return;
        };
        if self.state.text.len() + text.len() > TEXT_BYTES {
            return;
        }
        self.begin(EditKind::Yank);
        let start = self.state.cursor;
        self.put(&text, chips);
        self.yanked = Some((start, nth));
    }

    /// Before a change: what was there can come back.
    fn begin(&mut self, kind: EditKind) {
        if self.last != Some(kind) || kind == EditKind::Other {
            self.undo.push(self.state.clone());
            if self.undo.len() > UNDO_STEPS {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.last = Some(kind);
    }

    fn put(&mut self, text: &str, chips: Vec<PromptChip>) {
        let at = self.chips_before(self.state.cursor);
        self.state.chips.splice(at..at, chips);
        self.state.text.insert_str(self.state.cursor, text);
        self.state.cursor += text.len();
    }

    fn take(&mut self, range: std::ops::Range<usize>) -> (String, Vec<PromptChip>) {
        let chips = self.chips_before(range.start)..self.chips_before(range.end);
        let chips = self.state.chips.drain(chips).collect();
        (self.state.text.drain(range).collect(), chips)
    }

    pub(super) fn chips_before(&self, at: usize) -> usize {
        self.state.text[..at].matches(CHIP_MARK).count().min(self.state.chips.len())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
