//! Which items fit what was typed, best first.
//!
//! Every word must fit. When the query only grew, only what fitted before is looked at again.

/// A query and the items that fit it.
#[derive(Debug, Default)]
pub(super) struct PickerFilter {
    query: String,
    /// Indices of items.
    fitting: Vec<u32>,
}

/// A text to look in, prepared once.
#[derive(Debug)]
pub(super) struct SearchText {
    folded: Box<str>,
}

impl SearchText {
    pub(super) fn new(parts: &[&str]) -> SearchText {
        SearchText { folded: parts.join("\n").to_lowercase().into_boxed_str() }
    }

    /// A score if every word fits; the higher the better.
    fn score(&self, words: &[String]) -> Option<i64> {
        let mut score = 0;
        for word in words {
            let at = memchr::memmem::find(self.folded.as_bytes(), word.as_bytes())?;
            let starts_word =
                at == 0 || !self.folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            score += if starts_word { 1_000 } else { 0 } - i64::try_from(at.min(500)).unwrap_or(500);
        }
        Some(score)
    }
}

impl PickerFilter {
    /// Everything fits.
    pub(super) fn reset(&mut self, count: usize) {
        self.query.clear();
        self.fitting = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
    }

    pub(super) fn fitting(&self) -> &[u32] {
        &self.fitting
    }

    pub(super) fn apply(&mut self, query: &str, texts: &[SearchText]) {
        let words = query_words(query);
        if words.is_empty() {
            self.reset(texts.len());
            return;
        }
        let narrows = !self.query.is_empty() && query.starts_with(&self.query);
        if !narrows {
            self.reset(texts.len());
        }
        let mut scored: Vec<(i64, u32)> = self
            .fitting
            .iter()
            .filter_map(|index| Some((texts.get(*index as usize)?.score(&words)?, *index)))
            .collect();
        scored.sort_unstable_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
        self.fitting = scored.into_iter().map(|(_, index)| index).collect();
        self.query = query.to_string();
    }
}

fn query_words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}

/// The characters of a label that the query means, by number, rising.
pub(super) fn marks(query: &str, label: &str) -> Vec<usize> {
    let folded: Vec<char> = label.chars().take(1_000).map(|c| c.to_lowercase().next().unwrap_or(c)).collect();
    let mut marked: Vec<usize> = Vec::new();
    for word in query_words(query) {
        let word: Vec<char> = word.chars().collect();
        if let Some(at) = folded.windows(word.len()).position(|window| window == word) {
            marked.extend(at..at + word.len());
        }
    }
    marked.sort_unstable();
    marked.dedup();
    marked
}
