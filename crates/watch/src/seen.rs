//! What became of the texts that were taken up, so that the same one again is told once and asks nobody.
//!
//! Texts are known by a hash that means nothing outside this process; none is kept.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

/// Texts that are remembered.
pub const REMEMBERED: usize = 256;

/// What became of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It is in the project.
    In,
    /// A person said no, or the gate did: it would have to be asked, or judged, once more.
    NotTaken,
    /// It does not fit as the project is now.
    Unfit,
    /// relay itself copied it.
    Ours,
}

/// What is to be done with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is new.
    New,
    /// It was taken up before: try it again, and tell only if that ends otherwise.
    Retry,
    /// It was taken up before: tell so.
    Tell(Became),
    /// It was taken up before, and that was told.
    Hush,
}

/// The texts that were taken up, newest last.
#[derive(Debug, Default)]
pub struct Seen {
    hash: RandomState,
    texts: VecDeque<Text>,
}

#[derive(Debug)]
struct Text {
    hash: u64,
    became: Became,
    told: bool,
}

impl Seen {
    /// A text came.
    pub fn judge(&mut self, text: &str) -> Verdict {
        let hash = self.hash.hash_one(text);
        match self.texts.iter_mut().find(|known| known.hash == hash) {
            None => Verdict::New,
            Some(Text { became: Became::Unfit, .. }) => Verdict::Retry,
            Some(Text { told: true, .. } | Text { became: Became::Ours, .. }) => Verdict::Hush,
            Some(known) => {
                known.told = true;
                Verdict::Tell(known.became)
            }
        }
    }

    /// What became of a text; `true` if the same became of it before, and that was told already.
    pub fn remember(&mut self, text: &str, became: Became) -> bool {
        let hash = self.hash.hash_one(text);
        let before = self.texts.iter().position(|known| known.hash == hash);
        let before = before.and_then(|at| self.texts.remove(at));
        let again = before.as_ref().is_some_and(|known| known.became == became);
        let told = before.is_some_and(|known| again && known.told);
        if self.texts.len() >= REMEMBERED {
            self.texts.pop_front();
        }
        self.texts.push_back(Text { hash, became, told: told || again });
        told
    }

    /// Something was undone: of no text is it known any more that it is in the project.
    pub fn undone(&mut self) {
        self.texts.retain(|known| known.became != Became::In);
    }

    /// relay itself copied this text: whoever copies it once more, as clipboard managers do, says nothing new.
    pub fn ours(&mut self, text: &str) {
        self.remember(text, Became::Ours);
    }

    /// Forgets a text: it is to be taken up as if it were new.
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
        let mut seen = Seen::default();
        assert_eq!(seen.judge("a"), Verdict::New);
        assert!(!seen.remember("a", Became::In));
        assert_eq!(seen.judge("a"), Verdict::Tell(Became::In));
        assert_eq!(seen.judge("a"), Verdict::Hush);
        seen.forget("a");
        assert_eq!(seen.judge("a"), Verdict::New);
    }

    #[test]
    fn what_was_undone_is_not_in_any_more() {
        let mut seen = Seen::default();
        seen.remember("a", Became::In);
        seen.remember("b", Became::NotTaken);
        seen.undone();
        assert_eq!(seen.judge("a"), Verdict::New);
        assert_eq!(seen.judge("b"), Verdict::Tell(Became::NotTaken));
    }

    #[test]
    fn what_did_not_fit_is_tried_again_and_told_only_once() {
        let mut seen = Seen::default();
        assert!(!seen.remember("a", Became::Unfit));
        assert_eq!(seen.judge("a"), Verdict::Retry);
        assert!(!seen.remember("a", Became::Unfit), "told: it still does not fit");
        assert_eq!(seen.judge("a"), Verdict::Retry);
        assert!(seen.remember("a", Became::Unfit), "nothing new to tell");
        assert!(!seen.remember("a", Became::In));
    }

    #[test]
    fn what_relay_copied_is_never_told() {
        let mut seen = Seen::default();
        seen.ours("a");
        assert_eq!(seen.judge("a"), Verdict::Hush);
    }

    #[test]
    fn only_so_many_are_remembered() {
        let mut seen = Seen::default();
        for number in 0..=REMEMBERED {
            seen.remember(&number.to_string(), Became::In);
        }
        assert_eq!(seen.judge("0"), Verdict::New);
        assert_eq!(seen.judge("1"), Verdict::Tell(Became::In));
    }
}
