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
    for label in ["File:", "file:", "Path:", "path:", "**File:**"] {
        text = text.strip_prefix(label).unwrap_or(text).trim();
    }
    let text = text.trim_end_matches(':').trim_matches(|c| matches!(c, '`' | '*')).trim_end_matches(':');
    let named = text.contains('/')
        || text.rsplit_once('.').is_some_and(|(_, extension)| {
            !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
        });
    if !named || text.contains(char::is_whitespace) {
        return None;
    }
    RelPath::parse(text).ok()
}
