//! How a block begins: the lines that decide its dialect. Only the first meaningful line counts, so that
//! source code which merely contains a diff is not one.

use crate::proposal::path::RelPath;

/// Most lines naming a file above the first line that counts.
pub(super) const PATH_LINES: usize = 2;

/// The lines of `text` from the first one on that is not blank, not a fence, and not one of at most two
/// lines that name a file.
pub(super) fn opening_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut paths = 0;
    text.split('\n').skip_while(move |line| {
        if line.trim().is_empty() || is_fence(line) {
            return true;
        }
        paths += 1;
        paths <= PATH_LINES && path_line(line).is_some()
    })
}

/// Whether the line opens or closes a Markdown fence.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// The path on a line that holds nothing else, in the forms that models write: bare, in backticks or
/// asterisks, as a comment or a heading, after `File:`, before a colon.
pub(super) fn path_line(line: &str) -> Option<RelPath> {
    // A quick no for most lines.
    if !line.bytes().any(|byte| matches!(byte, b'/' | b'.')) {
        return None;
    }
    let mut text = line.trim();
    for lead in ["//", "#", "--"] {
        while let Some(rest) = text.strip_prefix(lead) {
            text = rest;
        }
        text = text.trim_start();
    }
    let mut is_labelled = false;
    for label in ["File:", "file:", "Path:", "path:", "**File:**"] {
        is_labelled |= text.starts_with(label);
        text = text.strip_prefix(label).unwrap_or(text).trim();
    }
    let text = text.trim_end_matches(':').trim_matches(|c| matches!(c, '`' | '*')).trim_end_matches(':');
    let named = text.contains('/')
        || text.rsplit_once('.').is_some_and(|(_, extension)| {
            !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
        });
    if !named || (text.contains(char::is_whitespace) && !(is_labelled && is_spaced_name(text))) {
        return None;
    }
    RelPath::parse(text).ok()
}

/// Most words of a path that only its label tells from a sentence.
const NAME_WORDS: usize = 3;

/// Whether a text with blanks can be a path where one is announced: few plain words, of which only the last
/// has an extension.
pub(crate) fn is_spaced_name(text: &str) -> bool {
    let has_extension = |word: &str| {
        word.rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && end.starts_with(char::is_alphabetic))
    };
    let plain = |c: char| c.is_alphanumeric() || "._-/ ".contains(c);
    let words: Vec<&str> = text.split(' ').take(NAME_WORDS + 1).collect();
    let Some((last, rest)) = words.split_last() else { return false };
    (1..NAME_WORDS).contains(&rest.len())
        && text.chars().all(plain)
        && has_extension(last)
        && rest.iter().all(|word| !word.is_empty() && !has_extension(word))
}
