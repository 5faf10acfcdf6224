//! What was cut, the last first.

use super::fragment::EditorFragment;

const ENTRIES: usize = 30;
/// Bytes that all of them hold together; the last one is always kept.
const RING_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, Default)]
pub(super) struct KillRing {
    /// The last is at the end.
    entries: Vec<EditorFragment>,
    /// How far behind the last one the next yank looks.
    back: usize,
}

impl KillRing {
    /// `joined`: it continues the last one; `backward`: what was cut stood before it.
    pub(super) fn push(&mut self, cut: EditorFragment, joined: bool, backward: bool) {
        self.back = 0;
        match self.entries.last_mut().filter(|_| joined) {
            Some(last) if backward => last.prepend(&cut),
            Some(last) => last.append(&cut),
            None => self.entries.push(cut),
        }
        let sizes = self.entries.iter().rev().map(EditorFragment::sent_bytes);
        let fitting = sizes.scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        let kept = fitting.take_while(|sum| *sum <= RING_BYTES).count().clamp(1, ENTRIES);
        self.entries.drain(..self.entries.len().saturating_sub(kept));
    }

    pub(super) fn yank(&mut self) -> Option<&EditorFragment> {
        self.back = 0;
        self.entries.last()
    }

    /// The one before the one that was yanked; behind the oldest comes the last.
    pub(super) fn yank_before(&mut self) -> Option<&EditorFragment> {
        self.back = (self.back + 1) % self.entries.len().max(1);
        self.entries.len().checked_sub(self.back + 1).and_then(|index| self.entries.get(index))
    }
}
