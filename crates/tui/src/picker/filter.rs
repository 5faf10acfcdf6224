//! Which items fit what was typed, best first: labels that hold the words, then whatever else holds them, then labels that
//! hold the letters in their order.
//!
//! When the query only grew, only what held its words before is looked at again. A word such as `file:cart` is looked for in
//! the lines of an item's keywords that begin with `file:`.

use std::sync::Arc;

use crate::fuzzy::{FuzzyIndex, FuzzyQuery};

/// Labels that are found by their letters alone, at most.
const MOST_FUZZY: usize = 2_000;

/// A query and the items that fit it.
#[derive(Debug, Default)]
pub(super) struct PickerFilter {
    /// Words of the query before, and the items that hold them all.
    words: Vec<String>,
    holding: Vec<u32>,
    /// Indices of items, best first.
    fitting: Vec<u32>,
    /// Made when it is needed first.
    labels: Option<FuzzyIndex>,
}

/// A text to look in, prepared once.
#[derive(Debug)]
pub(super) struct SearchText {
    folded: Box<str>,
    /// Bytes of the label, which is the beginning.
    label: usize,
}

impl SearchText {
    pub(super) fn new(label: &str, rest: &[&str]) -> SearchText {
        let mut folded = label.to_lowercase();
        let label = folded.len();
        for part in rest {
            folded.push('\n');
            folded.push_str(&part.to_lowercase());
        }
        SearchText { folded: folded.into_boxed_str(), label }
    }

    fn holds(&self, word: &str) -> bool {
        memchr::memmem::find(self.folded.as_bytes(), word.as_bytes()).is_some() || self.has_field(word)
    }

    /// `file:cart`: a line that begins with `file:` and holds `cart`.
    fn has_field(&self, word: &str) -> bool {
        let Some((name, value)) = word.split_once(':').filter(|(name, _)| !name.is_empty()) else {
            return false;
        };
        let mut lines = self.folded[self.label..].lines();
        lines.any(|line| {
            let field = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
            field.is_some_and(|field| field.contains(value))
        })
    }

    fn label_holds(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.folded[..self.label].contains(word.as_str()))
    }
}

impl PickerFilter {
    /// The items are others than before.
    pub(super) fn reset(&mut self, count: usize) {
        *self = PickerFilter::default();
        self.fitting = all_of(count);
    }

    /// A label has changed.
    pub(super) fn forget_labels(&mut self) {
        self.labels = None;
    }

    pub(super) fn fitting(&self) -> &[u32] {
        &self.fitting
    }

    /// `labels` are asked for once, if ever.
    pub(super) fn apply(
        &mut self,
        query: &str,
        texts: &[SearchText],
        labels: impl FnOnce() -> Arc<[String]>,
    ) {
        let words = query_words(query);
        if words.is_empty() {
            self.words.clear();
            self.fitting = all_of(texts.len());
            return;
        }
        if self.words.is_empty() || !narrows(&self.words, &words) {
            self.holding = all_of(texts.len());
        }
        let text = |index: u32| texts.get(index as usize);
        self.holding
            .retain(|index| text(*index).is_some_and(|text| words.iter().all(|word| text.holds(word))));
        let found = self.labels.get_or_insert_with(|| FuzzyIndex::new(labels())).search(query, MOST_FUZZY);

        let mut is_taken = vec![false; texts.len()];
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for hit in found.hits {
            let Ok(index) = u32::try_from(hit.index) else { continue };
            match text(index).is_some_and(|text| text.label_holds(&words)) {
                true => {
                    is_taken[hit.index] = true;
                    first.push(index);
                }
                false => last.push(index),
            }
        }
        for index in &self.holding {
            if !std::mem::replace(&mut is_taken[*index as usize], true) {
                first.push(*index);
            }
        }
        first.extend(last.into_iter().filter(|index| !is_taken[*index as usize]));
        self.fitting = first;
        self.words = words;
    }
}

fn all_of(count: usize) -> Vec<u32> {
    (0..u32::try_from(count).unwrap_or(u32::MAX)).collect()
}

fn query_words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// Whatever holds all of `now` holds all of `before`.
fn narrows(before: &[String], now: &[String]) -> bool {
    // A field's name counts only from its colon on.
    let grew = |before: &String, now: &String| {
        now.starts_with(before.as_str()) && before.contains(':') == now.contains(':')
    };
    now.len() >= before.len() && before.iter().zip(now).all(|(before, now)| grew(before, now))
}

/// Where the characters of a label begin that the query means, in bytes, rising.
pub(super) fn marks(query: &str, label: &str) -> Vec<usize> {
    let chars: Vec<(usize, char)> =
        label.char_indices().take(1_000).map(|(at, c)| (at, c.to_lowercase().next().unwrap_or(c))).collect();
    let mut marked: Vec<usize> = Vec::new();
    for word in query_words(query) {
        let word_chars: Vec<char> = word.chars().collect();
        let same = |window: &[(usize, char)]| window.iter().map(|(_, c)| c).eq(&word_chars);
        match chars.windows(word_chars.len()).find(|window| same(window)) {
            Some(window) => marked.extend(window.iter().map(|(at, _)| *at)),
            None => marked
                .extend(FuzzyQuery::new(&word).find(label).into_iter().flat_map(|found| found.positions)),
        }
    }
    marked.sort_unstable();
    marked.dedup();
    marked
}
