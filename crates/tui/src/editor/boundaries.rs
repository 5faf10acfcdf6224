//! Where characters and words begin, as a person sees them.
//!
//! Nothing looks further than [`CLUSTER_BYTES`] for the limits of a character: a pile of thousands of combining marks counts as
//! several, and a key costs the same in every text.

use unicode_segmentation::UnicodeSegmentation;

use super::fragment::EditorFragment;

/// Bytes that one character of a text has at most.
const CLUSTER_BYTES: usize = 128;

/// The end of the character that begins at `at`; `at` if nothing does.
pub(super) fn cluster_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    // Two ASCII characters never make one; a line feed is one by itself.
    match (bytes.get(at), bytes.get(at + 1)) {
        (None, _) => return at,
        (Some(first), second) if first.is_ascii() && second.is_none_or(u8::is_ascii) => return at + 1,
        _ => {}
    }
    let window = &text[at..floor(text, at + CLUSTER_BYTES)];
    window.graphemes(true).next().map_or(at, |cluster| at + cluster.len())
}

/// The beginning of the character that ends at `at`, not before `least`.
pub(super) fn cluster_start(text: &str, at: usize, least: usize) -> usize {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if before.is_some_and(u8::is_ascii) {
        return (at - 1).max(least);
    }
    let window = &text[floor(text, at.saturating_sub(2 * CLUSTER_BYTES)).max(least)..at];
    window.graphemes(true).next_back().map_or(at, |cluster| at - cluster.len())
}

/// The nearest character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl EditorFragment {
    /// The place one character or chip before `at`.
    pub(super) fn before(&self, at: usize) -> usize {
        if let Some(chip) = self.chip_beside(at, false) {
            return chip.start;
        }
        cluster_start(&self.text, at, self.chipless_around(at).start)
    }

    /// The place one character or chip behind `at`.
    pub(super) fn behind(&self, at: usize) -> usize {
        if let Some(chip) = self.chip_beside(at, true) {
            return chip.end;
        }
        cluster_end(&self.text[..self.chipless_around(at).end], at)
    }

    /// The beginning of the word at or before `at`; a chip is a word.
    pub(super) fn word_before(&self, at: usize, is_word: impl Fn(char) -> bool) -> usize {
        let mut at = at;
        let mut seen_word = false;
        loop {
            if let Some(chip) = self.chip_beside(at, false) {
                return if seen_word { at } else { chip.start };
            }
            let least = self.chipless_around(at).start;
            let mut reached = least;
            for (index, c) in self.text[least..at].char_indices().rev() {
                if seen_word && !is_word(c) {
                    return least + index + c.len_utf8();
                }
                seen_word |= is_word(c);
                reached = least + index;
            }
            if reached == 0 || seen_word {
                return reached;
            }
            at = reached;
        }
    }

    /// The end of the word at or behind `at`.
    pub(super) fn word_behind(&self, at: usize, is_word: impl Fn(char) -> bool) -> usize {
        let mut at = at;
        let mut seen_word = false;
        loop {
            if let Some(chip) = self.chip_beside(at, true) {
                return if seen_word { at } else { chip.end };
            }
            let most = self.chipless_around(at).end;
            for (index, c) in self.text[at..most].char_indices() {
                if seen_word && !is_word(c) {
                    return at + index;
                }
                seen_word |= is_word(c);
            }
            if most == self.text.len() || seen_word {
                return most;
            }
            at = most;
        }
    }

    /// The beginning of the line that `at` is in.
    pub(super) fn line_start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(0, |before| before + 1)
    }

    /// The end of the line that `at` is in.
    pub(super) fn line_end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |end| at + end)
    }
}

/// Letters, digits and `_`; combining marks belong to their letter.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && !c.is_whitespace() && !c.is_control() && is_mark(c))
}

pub(super) fn is_no_blank(c: char) -> bool {
    !c.is_whitespace()
}

fn is_mark(c: char) -> bool {
    relaycode_text::width::cells(c.encode_utf8(&mut [0; 4])) == 0
}
