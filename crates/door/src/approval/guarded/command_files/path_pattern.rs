//! Names of files with parts that are not known: `*` stands for anything within a name, `**` for anything at all.

use std::collections::BTreeSet;

use relaycode_change::proposal::path::plain_spelling;

/// What may be anything.
pub(super) const ANYTHING: &str = "**";

/// Patterns of one line; more are taken for everything.
const MAX_PATTERNS: usize = 4_096;

/// A pattern for paths below the root, in plain components.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathPattern {
    components: Vec<String>,
}

#[derive(Default)]
pub(super) struct PatternSet {
    patterns: BTreeSet<PathPattern>,
}

impl PatternSet {
    pub(super) fn add(&mut self, pattern: PathPattern) {
        if self.patterns.len() >= MAX_PATTERNS {
            self.patterns = BTreeSet::from([PathPattern::new(ANYTHING)]);
        }
        // The root itself is no file.
        if !pattern.components.is_empty() {
            self.patterns.insert(pattern);
        }
    }

    /// A name as a command has it, run in one of these directories. What is written as a path or with an ending may
    /// also lie where a script goes by itself.
    pub(super) fn add_name(&mut self, name: &str, directories: &[String]) {
        if name.is_empty() {
            return;
        }
        let (pattern, path) = (name.contains('*'), name.contains(['/', '\\']));
        if path || (!pattern && name.contains('.')) {
            self.add(PathPattern::anywhere(name));
        }
        if name.starts_with('/') {
            // The root may be reached by another path: what the name ends with counts.
            let components = plain_components(name);
            (1..components.len())
                .for_each(|from| self.add(PathPattern { components: components[from..].to_vec() }));
        }
        for directory in directories {
            self.add(PathPattern::new(&join(directory, name)));
        }
    }

    pub(super) fn extend(&mut self, other: PatternSet) {
        other.patterns.into_iter().for_each(|pattern| self.add(pattern));
    }

    pub(super) fn matches(&self, path: &[String]) -> bool {
        self.patterns.iter().any(|pattern| matches_components(&pattern.components, path))
    }
}

impl PathPattern {
    pub(super) fn new(path: &str) -> PathPattern {
        PathPattern { components: plain_components(path) }
    }

    /// At any depth.
    pub(super) fn anywhere(path: &str) -> PathPattern {
        let mut components = vec![ANYTHING.to_string()];
        components.extend(plain_components(path));
        if components.len() == 1 {
            components.clear();
        }
        PathPattern { components }
    }
}

/// `name` as seen from `directory`; an absolute one is itself.
pub(super) fn join(directory: &str, name: &str) -> String {
    if name.starts_with('/') || directory.is_empty() {
        return name.to_string();
    }
    format!("{directory}/{name}")
}

/// In plain spelling, without `.`, and with `..` resolved as far as it can be. What is above the root is dropped.
fn plain_components(path: &str) -> Vec<String> {
    let mut components: Vec<String> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match components.last() {
                Some(last) if last == ANYTHING => {}
                _ => {
                    components.pop();
                }
            },
            // Something unknown and an end: the end is that of a name.
            _ if part.contains(ANYTHING) => {
                if components.last().is_none_or(|last| last != ANYTHING) {
                    components.push(ANYTHING.to_string());
                }
                let end = part.rsplit(ANYTHING).next().unwrap_or_default();
                if !end.is_empty() {
                    components.push(format!("*{}", plain_spelling(end)));
                }
            }
            _ => components.push(plain_spelling(part)),
        }
    }
    components
}

fn matches_components(pattern: &[String], path: &[String]) -> bool {
    matches_wildcards(pattern, path, |part| part == ANYTHING, |part, name| matches_name(part, name))
}

fn matches_name(pattern: &str, name: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == name;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    matches_wildcards(&pattern, &name, |c| *c == '*', |a, b| a == b)
}

/// Whether a sequence fits a pattern in which some items stand for any number of others. The last of these alone is
/// tried again, so that it takes no more than the product of both lengths.
fn matches_wildcards<P, T>(
    pattern: &[P],
    text: &[T],
    is_wildcard: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut in_text) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while in_text < text.len() {
        if pattern.get(at).is_some_and(&is_wildcard) {
            retry = Some((at + 1, in_text));
            at += 1;
        } else if pattern.get(at).is_some_and(|part| fits(part, &text[in_text])) {
            at += 1;
            in_text += 1;
        } else if let Some((behind, from)) = retry {
            retry = Some((behind, from + 1));
            (at, in_text) = (behind, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_wildcard)
}
