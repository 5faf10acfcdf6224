//! Finding words in the text: lower case finds both cases, a capital letter only itself.

use std::ops::Range;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PagerSearch {
    words: String,
    minds_case: bool,
}

impl PagerSearch {
    /// `None` if there is nothing to look for.
    pub(super) fn new(words: &str) -> Option<PagerSearch> {
        let minds_case = words.chars().any(char::is_uppercase);
        (!words.is_empty()).then(|| PagerSearch { words: words.to_string(), minds_case })
    }

    /// The first one that begins at `from` or behind it.
    pub(super) fn next(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let haystack = text.as_bytes().get(from..)?;
        let needle = self.words.as_bytes();
        let at = match self.minds_case {
            true => memchr::memmem::find(haystack, needle)?,
            false => {
                let first = *needle.first()?;
                let mut starts =
                    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), haystack);
                starts.find(|at| is_same(haystack.get(*at..at + needle.len()), needle))?
            }
        };
        Some(from + at..from + at + needle.len())
    }

    /// The last one that begins before `before`.
    pub(super) fn previous(&self, text: &str, before: usize) -> Option<Range<usize>> {
        let needle = self.words.as_bytes();
        let end = (before + needle.len()).saturating_sub(1).min(text.len());
        let haystack = text.as_bytes().get(..end)?;
        let at = match self.minds_case {
            true => memchr::memmem::rfind(haystack, needle)?,
            false => {
                let first = *needle.first()?;
                let (low, high) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
                let mut starts = memchr::memrchr2_iter(low, high, haystack);
                starts.find(|at| is_same(haystack.get(*at..at + needle.len()), needle))?
            }
        };
        Some(at..at + needle.len())
    }

    /// All within a piece.
    pub(super) fn all_in(&self, piece: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(range) = self.next(piece, from) {
            from = range.end;
            found.push(range);
        }
        found
    }
}

fn is_same(found: Option<&[u8]>, needle: &[u8]) -> bool {
    found.is_some_and(|found| found.eq_ignore_ascii_case(needle))
}
