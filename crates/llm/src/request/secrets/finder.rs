//! Finds secrets in a text.
//!
//! Values are searched for all at once, patterns one after the other; overlapping matches become one, so
//! nothing of either is left over. The engine is linear, and its size is bounded.

use regex::{Regex, RegexBuilder};

use super::file::{SecretEntry, SecretMode, SecretPattern};

/// Most values.
const VALUES: usize = 1000;
/// Largest automaton for values, in bytes.
const VALUES_SIZE: usize = 64 << 20;
/// Most matches tried within one another before continuing after them.
const WITHIN: usize = 64;

#[derive(Debug)]
pub(super) struct SecretFinder {
    /// All values, longest first, and how each is hidden.
    values: Option<Regex>,
    modes: Vec<(String, SecretMode)>,
    patterns: Vec<(Regex, SecretMode)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) mode: SecretMode,
}

impl SecretFinder {
    pub(super) fn new(entries: &[SecretEntry]) -> SecretFinder {
        let mut modes: Vec<(String, SecretMode)> = Vec::new();
        let mut patterns = Vec::new();
        for entry in entries {
            match &entry.pattern {
                SecretPattern::Plain(content) if content.is_empty() => {}
                SecretPattern::Plain(content) => match modes.iter_mut().find(|(known, _)| known == content) {
                    // An entry that somebody wrote takes precedence over one that was found.
                    Some((_, mode)) if *mode == SecretMode::Obfuscate => mode.clone_from(&entry.mode),
                    Some(_) => {}
                    None => modes.push((content.clone(), entry.mode.clone())),
                },
                SecretPattern::Pattern(regex) => patterns.push((regex.clone(), entry.mode.clone())),
            }
        }
        modes.sort_by(|(one, _), (other, _)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        modes.truncate(VALUES);
        let escaped: Vec<String> = modes.iter().map(|(content, _)| regex::escape(content)).collect();
        let built = RegexBuilder::new(&escaped.join("|")).size_limit(VALUES_SIZE).build();
        let values = built.ok().filter(|_| !modes.is_empty());
        SecretFinder { values, modes, patterns }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_none() && self.patterns.is_empty()
    }

    /// In order, without overlap.
    pub(super) fn find(&self, text: &str) -> Vec<SecretSpan> {
        let mut spans = self.values_in(text);
        for (regex, mode) in &self.patterns {
            for found in regex.find_iter(text).filter(|found| !found.is_empty()) {
                spans.push(SecretSpan { start: found.start(), end: found.end(), mode: mode.clone() });
            }
        }
        merge_spans(spans)
    }

    fn values_in(&self, text: &str) -> Vec<SecretSpan> {
        let Some(values) = &self.values else { return Vec::new() };
        let mut spans = Vec::new();
        let (mut at, mut reach, mut within) = (0, 0, 0);
        while let Some(found) = values.find_at(text, at) {
            let mode = self.modes.iter().find(|(content, _)| content == found.as_str());
            let mode = mode.map_or(SecretMode::Obfuscate, |(_, mode)| mode.clone());
            spans.push(SecretSpan { start: found.start(), end: found.end(), mode });
            within = if found.start() < reach { within + 1 } else { 0 };
            reach = reach.max(found.end());
            // Another match may begin within this one and end after it.
            let next = found.start() + found.as_str().chars().next().map_or(1, char::len_utf8);
            at = if within < WITHIN { next } else { reach };
        }
        spans
    }
}

/// Merges overlapping ones. Permanent replacement wins.
fn merge_spans(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut out: Vec<SecretSpan> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if last.mode == SecretMode::Obfuscate {
                    last.mode = span.mode;
                }
            }
            _ => out.push(span),
        }
    }
    out
}
