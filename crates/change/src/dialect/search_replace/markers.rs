//! The marker lines of search/replace blocks in the spellings that models use, and the backslash
//! that keeps content from being taken for one.

use super::super::opening::{is_spaced_name, path_line};
use crate::proposal::path::RelPath;

/// How the ends of a block are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SearchMarkerStyle {
    pub(super) sign: SearchMarkerSign,
    pub(super) count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchMarkerSign {
    /// `<<<<<<< SEARCH` and `>>>>>>> REPLACE`.
    Angle,
    /// `------- SEARCH` and `+++++++ REPLACE`.
    Dash,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SearchMarker {
    /// `<<<<<<< SEARCH`, perhaps with the file's name.
    Search {
        ends: SearchMarkerStyle,
        /// The file after the word.
        path: Option<RelPath>,
    },
    /// `=======`.
    Separator { count: usize },
    /// `>>>>>>> REPLACE`.
    Replace(SearchMarkerStyle),
    /// `<<<<<<< HEAD` and the like: what git writes when a merge fails.
    Conflict,
}

/// A marker has five to nine signs.
pub(super) fn parse_marker(line: &str) -> Option<SearchMarker> {
    let sign = *line.as_bytes().first()?;
    if !matches!(sign, b'<' | b'>' | b'=' | b'-' | b'+') {
        return None;
    }
    let count = line.bytes().take_while(|byte| *byte == sign).count();
    if !(5..=9).contains(&count) {
        return None;
    }
    let rest = line[count..].trim();
    let ends = |sign| SearchMarkerStyle { sign, count };
    match sign {
        b'=' => rest.is_empty().then_some(SearchMarker::Separator { count }),
        b'<' | b'-' => {
            let sign = if sign == b'<' { SearchMarkerSign::Angle } else { SearchMarkerSign::Dash };
            if let Some(rest) = after_word(rest, &["SEARCH", "ORIGINAL"]) {
                let spaced = || is_spaced_name(rest).then(|| RelPath::parse(rest).ok()).flatten();
                return Some(SearchMarker::Search {
                    ends: ends(sign),
                    path: path_line(rest).or_else(spaced),
                });
            }
            (sign == SearchMarkerSign::Angle && line[count..].starts_with(' ') && !rest.is_empty())
                .then_some(SearchMarker::Conflict)
        }
        _ => {
            let sign = if sign == b'>' { SearchMarkerSign::Angle } else { SearchMarkerSign::Dash };
            after_word(rest, &["REPLACE", "UPDATED"]).map(|_| SearchMarker::Replace(ends(sign)))
        }
    }
}

/// The text after one of the words, without the angle that some models add.
fn after_word<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    words.iter().find_map(|word| {
        let found = text.get(..word.len())?;
        let rest = &text[word.len()..];
        let bounded = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        (found.eq_ignore_ascii_case(word) && bounded).then(|| rest.trim_start_matches(['<', '>', ':']).trim())
    })
}

/// `:start_line:N` (`true`) or `:end_line:N` (`false`).
pub(super) fn parse_line_marker(line: &str) -> Option<(bool, usize)> {
    let (is_start, rest) = match line.strip_prefix(":start_line:") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix(":end_line:")?),
    };
    Some((is_start, rest.trim().parse().ok()?))
}

/// Escapes a line of content that looks like a marker.
pub(super) fn escape_marker(line: &str) -> String {
    if needs_escape(line) { format!("\\{line}") } else { line.to_owned() }
}

/// Removes the backslash that [`escape_marker`] adds.
pub(super) fn unescape_marker(line: &str) -> String {
    match line.strip_prefix('\\') {
        Some(rest) if needs_escape(rest) => rest.to_owned(),
        _ => line.to_owned(),
    }
}

/// Whether the line is a marker after any number of backslashes: those get one more, so that reading
/// removes exactly what writing added.
fn needs_escape(line: &str) -> bool {
    let bare = line.trim_start_matches('\\');
    let seven = ["<<<<<<<", "=======", ">>>>>>>", "-------"];
    seven.iter().any(|signs| bare.starts_with(signs))
        || bare.starts_with(":start_line:")
        || bare.starts_with(":end_line:")
        || parse_marker(bare).is_some()
}
