//! The steps of an edited text, and the way back. What is typed or deleted in one go is one step.

use super::fragment::EditorFragment;

/// Steps that are kept.
const STEPS: usize = 1_000;
/// Bytes that they hold together.
const STEP_BYTES: usize = 4 << 20;
/// A step that has more bytes takes no further ones.
const JOINED_BYTES: usize = 4 << 10;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditorStep {
    pub(super) at: usize,
    pub(super) removed: EditorFragment,
    pub(super) inserted: EditorFragment,
    pub(super) cursor_before: usize,
    pub(super) kind: EditorStepKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditorStepKind {
    Typed,
    DeletedBackward,
    DeletedForward,
    Other,
}

#[derive(Debug, Clone, Default)]
pub(super) struct EditorUndo {
    done: Vec<EditorStep>,
    undone: Vec<EditorStep>,
    /// The next step begins anew, whatever it is.
    is_closed: bool,
    bytes: usize,
}

impl EditorStep {
    fn bytes(&self) -> usize {
        self.removed.sent_bytes() + self.inserted.sent_bytes()
    }

    /// `false` if `next` is a step of its own.
    fn take_in(&mut self, next: &EditorStep) -> bool {
        if self.kind != next.kind || self.bytes() > JOINED_BYTES {
            return false;
        }
        match next.kind {
            EditorStepKind::Typed => {
                let begins_word = self.inserted.text.ends_with(char::is_whitespace)
                    && !next.inserted.text.starts_with(char::is_whitespace);
                let is_next = self.at + self.inserted.text.len() == next.at && next.removed.text.is_empty();
                if is_next && !begins_word {
                    self.inserted.append(&next.inserted);
                    return true;
                }
            }
            EditorStepKind::DeletedBackward if next.at + next.removed.text.len() == self.at => {
                self.removed.prepend(&next.removed);
                self.at = next.at;
                return true;
            }
            EditorStepKind::DeletedForward if next.at == self.at => {
                self.removed.append(&next.removed);
                return true;
            }
            _ => {}
        }
        false
    }
}

impl EditorUndo {
    /// What follows is a step of its own.
    pub(super) fn close_step(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn push(&mut self, step: EditorStep) {
        self.undone.clear();
        let is_joined = !self.is_closed && self.done.last_mut().is_some_and(|last| last.take_in(&step));
        self.is_closed = false;
        self.bytes += step.bytes();
        if is_joined {
            return;
        }
        self.done.push(step);
        let (mut dropped, mut freed) = (0, 0);
        while self.done.len() - dropped > STEPS
            || (self.bytes - freed > STEP_BYTES && dropped + 1 < self.done.len())
        {
            freed += self.done[dropped].bytes();
            dropped += 1;
        }
        self.done.drain(..dropped);
        self.bytes -= freed;
    }

    pub(super) fn undo(&mut self, text: &mut EditorFragment) -> Option<EditorStep> {
        let step = self.done.pop()?;
        self.is_closed = true;
        self.bytes -= step.bytes();
        text.splice(step.at..step.at + step.inserted.text.len(), &step.removed);
        self.undone.push(step.clone());
        Some(step)
    }

    pub(super) fn redo(&mut self, text: &mut EditorFragment) -> Option<EditorStep> {
        let step = self.undone.pop()?;
        self.is_closed = true;
        self.bytes += step.bytes();
        text.splice(step.at..step.at + step.removed.text.len(), &step.inserted);
        self.done.push(step.clone());
        Some(step)
    }
}
