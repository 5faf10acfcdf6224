//! Finding entries of a list by a few of their letters: paths, commands, sessions, settings.
//!
//! The letters of each word must occur in their order; all words must match. A word with a capital letter minds the case.
//! Letters at the beginning of words and of path components count more, and so do letters side by side; among equals the
//! shorter text is first, then the earlier one. The same query gives the same hits, however it was typed.

mod align;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use align::FuzzyAligner;

/// Characters of a query that count.
pub const QUERY_CHARS: usize = 64;
/// Bytes of a text that are looked at; what follows does not match.
pub const TEXT_BYTES: usize = 1_024;

/// What somebody typed to find something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FuzzyQuery {
    words: Vec<FuzzyWord>,
    letters: LetterMask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FuzzyWord {
    /// In lower case unless the case counts.
    chars: Vec<char>,
    /// The same, if they are all ASCII.
    ascii: Option<Vec<u8>>,
    with_case: bool,
}

/// How well a text matches, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyMatch {
    pub score: i32,
    /// The bytes at which the matched characters begin, in order.
    pub positions: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyHit {
    /// In the list.
    pub index: usize,
    pub found: FuzzyMatch,
}

/// The best hits, and how many texts match at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FuzzyHits {
    pub total: usize,
    pub hits: Vec<FuzzyHit>,
}

/// A list to search in while a query is typed. A query that continues the previous one looks only at what matched that.
#[derive(Debug, Clone)]
pub struct FuzzyIndex {
    texts: Arc<[String]>,
    letters: Vec<LetterMask>,
    query: String,
    /// What matches `query`; everything at the beginning.
    candidates: Vec<u32>,
}

/// Which letters a text has: most texts that lack one are told by a single comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LetterMask(u64);

impl LetterMask {
    fn of(text: &str) -> LetterMask {
        LetterMask(text.chars().fold(0, |mask, c| mask | LetterMask::bit(c)))
    }

    fn bit(c: char) -> u64 {
        let number = match fold_case(c) {
            c @ 'a'..='z' => c as u32 - 'a' as u32,
            c @ '0'..='9' => 26 + c as u32 - '0' as u32,
            c if c.is_ascii() => 36 + c as u32 % 12,
            c => 48 + c as u32 % 16,
        };
        1 << number
    }

    fn has_all_of(self, other: LetterMask) -> bool {
        self.0 & other.0 == other.0
    }
}

impl FuzzyQuery {
    pub fn new(text: &str) -> FuzzyQuery {
        let head = text.char_indices().nth(QUERY_CHARS).map_or(text, |(at, _)| &text[..at]);
        let words: Vec<FuzzyWord> = head.split_whitespace().map(FuzzyWord::new).collect();
        let letters = words.iter().flat_map(|word| &word.chars).fold(0, |mask, c| mask | LetterMask::bit(*c));
        FuzzyQuery { words, letters: LetterMask(letters) }
    }

    /// Everything matches it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn find(&self, text: &str) -> Option<FuzzyMatch> {
        let text = text_head(text);
        self.has_letters_of(text).then(|| self.align(&mut FuzzyAligner::default(), text))
    }

    /// Every word's letters occur in their order.
    fn has_letters_of(&self, text: &str) -> bool {
        self.words.iter().all(|word| word.is_within(text))
    }

    fn align(&self, aligner: &mut FuzzyAligner, text: &str) -> FuzzyMatch {
        let mut found = FuzzyMatch { score: 0, positions: Vec::new() };
        for word in &self.words {
            found.score += aligner.positions(text, &word.chars, word.with_case, &mut found.positions);
        }
        found.positions.sort_unstable();
        found.positions.dedup();
        found
    }

    fn score(&self, aligner: &mut FuzzyAligner, text: &str) -> i32 {
        self.words.iter().map(|word| aligner.score(text, &word.chars, word.with_case)).sum()
    }

    /// No text can have a better score.
    fn best_score(&self) -> i32 {
        self.words.iter().map(|word| align::best_score(&word.chars)).sum()
    }

    /// Whatever matches this matches the earlier query, too.
    fn continues(&self, earlier: &FuzzyQuery) -> bool {
        earlier.words.len() <= self.words.len()
            && earlier.words.iter().zip(&self.words).all(|(before, now)| now.continues(before))
    }
}

impl FuzzyWord {
    fn new(word: &str) -> FuzzyWord {
        let with_case = word.chars().any(char::is_uppercase);
        let chars: Vec<char> = word.chars().map(|c| if with_case { c } else { fold_case(c) }).collect();
        let ascii = chars.iter().map(|c| u8::try_from(*c).ok().filter(u8::is_ascii)).collect();
        FuzzyWord { chars, ascii, with_case }
    }

    fn is_within(&self, text: &str) -> bool {
        if let Some(ascii) = &self.ascii {
            let mut rest = text.as_bytes();
            return ascii.iter().all(|byte| {
                let at = match self.with_case {
                    true => memchr::memchr(*byte, rest),
                    false => memchr::memchr2(*byte, byte.to_ascii_uppercase(), rest),
                };
                at.map(|at| rest = &rest[at + 1..]).is_some()
            });
        }
        let mut rest = text.chars().map(|c| if self.with_case { c } else { fold_case(c) });
        self.chars.iter().all(|c| rest.any(|other| other == *c))
    }

    fn continues(&self, earlier: &FuzzyWord) -> bool {
        // Minding the case is stricter.
        let folded = |c: &char| if self.with_case && !earlier.with_case { fold_case(*c) } else { *c };
        (self.with_case || !earlier.with_case)
            && self.chars.len() >= earlier.chars.len()
            && earlier.chars.iter().zip(&self.chars).all(|(before, now)| *before == folded(now))
    }
}

impl FuzzyIndex {
    pub fn new(texts: Arc<[String]>) -> FuzzyIndex {
        let letters = texts.iter().map(|text| LetterMask::of(text_head(text))).collect();
        let candidates = all_of(&texts);
        FuzzyIndex { texts, letters, query: String::new(), candidates }
    }

    pub fn texts(&self) -> &Arc<[String]> {
        &self.texts
    }

    /// At most `limit` hits, the best first; for an empty query the first entries of the list.
    pub fn search(&mut self, text: &str, limit: usize) -> FuzzyHits {
        let query = FuzzyQuery::new(text);
        self.narrow(text, &query);
        let total = self.candidates.len();
        if query.is_empty() {
            let hits = self.candidates.iter().take(limit).map(|index| FuzzyHit {
                index: *index as usize,
                found: FuzzyMatch { score: 0, positions: Vec::new() },
            });
            return FuzzyHits { total, hits: hits.collect() };
        }
        let mut aligner = FuzzyAligner::default();
        let order = self.best(&query, limit, &mut aligner);
        let hits = order.into_iter().map(|index| {
            let found = query.align(&mut aligner, text_head(&self.texts[index]));
            FuzzyHit { index, found }
        });
        FuzzyHits { total, hits: hits.collect() }
    }

    fn narrow(&mut self, text: &str, query: &FuzzyQuery) {
        if !query.continues(&FuzzyQuery::new(&self.query)) {
            self.candidates = all_of(&self.texts);
        }
        let (texts, letters) = (&self.texts, &self.letters);
        self.candidates.retain(|index| {
            let index = *index as usize;
            letters[index].has_all_of(query.letters) && query.has_letters_of(text_head(&texts[index]))
        });
        self.query = text.to_string();
    }

    /// The places of the best hits, in their order. A text that cannot be among them is not scored.
    fn best(&self, query: &FuzzyQuery, limit: usize, aligner: &mut FuzzyAligner) -> Vec<usize> {
        let highest = query.best_score();
        // The worst of the best is on top.
        let mut best = BinaryHeap::new();
        for index in &self.candidates {
            let text = &self.texts[*index as usize];
            let rank = |score: i32| (Reverse(score), text.len(), *index);
            let is_full = best.len() >= limit;
            if is_full && best.peek().is_none_or(|worst| rank(highest) >= *worst) {
                continue;
            }
            best.push(rank(query.score(aligner, text_head(text))));
            if is_full {
                best.pop();
            }
        }
        best.into_sorted_vec().into_iter().map(|(_, _, index)| index as usize).collect()
    }
}

fn all_of(texts: &[String]) -> Vec<u32> {
    (0..u32::try_from(texts.len()).unwrap_or(u32::MAX)).collect()
}

fn text_head(text: &str) -> &str {
    if text.len() <= TEXT_BYTES {
        return text;
    }
    let end = (0..=TEXT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// One character for one; nothing beyond ASCII becomes ASCII.
fn fold_case(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().filter(|lower| !lower.is_ascii()).unwrap_or(c)
}
