//! Remembers what happened to texts, so that the same text again is reported once and asks nobody.
//!
//! Texts are identified by a process-private hash; none is kept.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

/// Most texts remembered.
pub const MAX_REMEMBERED: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastOutcome {
    /// It is in the project.
    Applied,
    /// Rejected by a person or by the gate: it would have to be asked about or checked again.
    Rejected,
    /// It does not fit the project as it is now.
    DoesNotFit,
    /// relay itself copied it.
    OwnCopy,
}

/// What to do with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatVerdict {
    New,
    /// Seen before: try it again, and report only if the result differs.
    Retry,
    /// Seen before: say so.
    Report(PastOutcome),
    /// Seen before, and reported.
    Ignore,
}

/// Newest last.
#[derive(Debug, Default)]
pub struct SeenTexts {
    hash: RandomState,
    texts: VecDeque<SeenText>,
}

#[derive(Debug)]
struct SeenText {
    hash: u64,
    outcome: PastOutcome,
    reported: bool,
}

impl SeenTexts {
    pub fn judge(&mut self, text: &str) -> RepeatVerdict {
        let hash = self.hash.hash_one(text);
        match self.texts.iter_mut().find(|known| known.hash == hash) {
            None => RepeatVerdict::New,
            Some(SeenText { outcome: PastOutcome::DoesNotFit, .. }) => RepeatVerdict::Retry,
            Some(SeenText { reported: true, .. } | SeenText { outcome: PastOutcome::OwnCopy, .. }) => {
                RepeatVerdict::Ignore
            }
            Some(known) => {
                known.reported = true;
                RepeatVerdict::Report(known.outcome)
            }
        }
    }

    /// Returns `true` if the same happened before, and was reported already.
    pub fn remember(&mut self, text: &str, became: PastOutcome) -> bool {
        let hash = self.hash.hash_one(text);
        let before = self.texts.iter().position(|known| known.hash == hash);
        let before = before.and_then(|at| self.texts.remove(at));
        let again = before.as_ref().is_some_and(|known| known.outcome == became);
        let told = before.is_some_and(|known| again && known.reported);
        if self.texts.len() >= MAX_REMEMBERED {
            self.texts.pop_front();
        }
        self.texts.push_back(SeenText { hash, outcome: became, reported: told || again });
        told
    }

    /// After an undo no text is known to be in the project any more.
    pub fn forget_applied(&mut self) {
        self.texts.retain(|known| known.outcome != PastOutcome::Applied);
    }

    /// relay itself copied this text: a clipboard manager that copies it once more says nothing new.
    pub fn remember_own(&mut self, text: &str) {
        self.remember(text, PastOutcome::OwnCopy);
    }

    /// Treats the text as new from now on.
    pub fn forget(&mut self, text: &str) {
        let hash = self.hash.hash_one(text);
        self.texts.retain(|known| known.hash != hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_again_is_told_once() {
        let mut seen = SeenTexts::default();
        assert_eq!(seen.judge("a"), RepeatVerdict::New);
        assert!(!seen.remember("a", PastOutcome::Applied));
        assert_eq!(seen.judge("a"), RepeatVerdict::Report(PastOutcome::Applied));
        assert_eq!(seen.judge("a"), RepeatVerdict::Ignore);
        seen.forget("a");
        assert_eq!(seen.judge("a"), RepeatVerdict::New);
    }

    #[test]
    fn what_was_undone_is_not_in_any_more() {
        let mut seen = SeenTexts::default();
        seen.remember("a", PastOutcome::Applied);
        seen.remember("b", PastOutcome::Rejected);
        seen.forget_applied();
        assert_eq!(seen.judge("a"), RepeatVerdict::New);
        assert_eq!(seen.judge("b"), RepeatVerdict::Report(PastOutcome::Rejected));
    }

    #[test]
    fn what_did_not_fit_is_tried_again_and_told_only_once() {
        let mut seen = SeenTexts::default();
        assert!(!seen.remember("a", PastOutcome::DoesNotFit));
        assert_eq!(seen.judge("a"), RepeatVerdict::Retry);
        assert!(!seen.remember("a", PastOutcome::DoesNotFit), "told: it still does not fit");
        assert_eq!(seen.judge("a"), RepeatVerdict::Retry);
        assert!(seen.remember("a", PastOutcome::DoesNotFit), "nothing new to tell");
        assert!(!seen.remember("a", PastOutcome::Applied));
    }

    #[test]
    fn what_relay_copied_is_never_told() {
        let mut seen = SeenTexts::default();
        seen.remember_own("a");
        assert_eq!(seen.judge("a"), RepeatVerdict::Ignore);
    }

    #[test]
    fn only_so_many_are_remembered() {
        let mut seen = SeenTexts::default();
        for number in 0..=MAX_REMEMBERED {
            seen.remember(&number.to_string(), PastOutcome::Applied);
        }
        assert_eq!(seen.judge("0"), RepeatVerdict::New);
        assert_eq!(seen.judge("1"), RepeatVerdict::Report(PastOutcome::Applied));
    }
}
