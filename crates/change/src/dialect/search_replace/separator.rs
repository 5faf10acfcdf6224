//! Which line of a search/replace block divides the two texts. Usually there is one candidate. A heading
//! underlined with `=======` makes a second; if it is not clear which is which, the block is refused,
//! because the wrong choice would write a separator into the file.

use std::ops::Range;

use super::super::DialectError;
use super::markers::{SearchMarker, SearchMarkerStyle, parse_marker};

/// Why there is no certain separator. Lines are indexes into the block's body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SeparatorError {
    Missing,
    /// Two lines can be it.
    Unclear(usize, usize),
}

impl SeparatorError {
    /// For a block that begins on line `start` and whose body begins on line `body`.
    pub(super) fn to_dialect_error(&self, start: usize, body: usize) -> DialectError {
        match self {
            SeparatorError::Missing => {
                DialectError::at(start, "the SEARCH block that begins here has no `=======` line")
            }
            SeparatorError::Unclear(first, second) => DialectError::at(
                body + second,
                format!(
                    "line {} and line {} could both divide SEARCH from REPLACE; put a backslash before the `=======` that is content",
                    body + first,
                    body + second
                ),
            ),
        }
    }
}

/// Finds the separator among the lines between SEARCH and REPLACE: one line, or two if the author wrote it
/// twice.
pub(super) fn find(
    body: &[&str],
    ends: SearchMarkerStyle,
    indent: &str,
) -> Result<Range<usize>, SeparatorError> {
    let mut exact = Vec::new();
    let mut other = Vec::new();
    for (at, line) in body.iter().enumerate() {
        if let Some(SearchMarker::Separator { count }) = line.strip_prefix(indent).and_then(parse_marker) {
            if count == ends.count || count == 7 {
                exact.push(at);
            } else {
                other.push(at);
            }
        }
    }
    match (exact.as_slice(), other.as_slice()) {
        ([only], _) => Ok(*only..only + 1),
        ([], []) => Err(SeparatorError::Missing),
        ([], [only]) if is_underline(body, *only) => Err(SeparatorError::Missing),
        ([], [only]) => Ok(*only..only + 1),
        ([], several) | (several, _) => one_of(body, several),
    }
}

fn one_of(body: &[&str], candidates: &[usize]) -> Result<Range<usize>, SeparatorError> {
    let mut dividing = candidates.iter().filter(|at| !is_underline(body, **at));
    match (dividing.next(), dividing.next(), dividing.next()) {
        (Some(only), None, None) => Ok(*only..only + 1),
        (Some(first), Some(second), None)
            if *second == first + 1 && candidates.len() == 2 && below_code(body, *first) =>
        {
            Ok(*first..second + 1)
        }
        _ => Err(SeparatorError::Unclear(
            candidates.first().copied().unwrap_or_default(),
            candidates.get(1).copied().unwrap_or_default(),
        )),
    }
}

/// Whether the line above is indented so far that it cannot be a heading.
fn below_code(body: &[&str], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|above| body[above].starts_with("    ") || body[above].starts_with('\t'))
}

/// Whether the line at `at` is plainly the underline of a heading: below a line of words of about
/// its length, which itself stands at the beginning of a paragraph.
fn is_underline(body: &[&str], at: usize) -> bool {
    let Some(title) = at.checked_sub(1).map(|above| body[above]) else {
        return false;
    };
    let begins_paragraph = at.checked_sub(2).is_none_or(|above| {
        let line = body[above].trim();
        line.is_empty() || matches!(parse_marker(line), Some(SearchMarker::Separator { .. }))
    });
    let words = title.starts_with(char::is_alphanumeric)
        && title.trim_end().chars().all(|c| c.is_alphanumeric() || " -_.,:'!?&/`".contains(c));
    let length = title.trim_end().chars().count();
    let close = length.abs_diff(body[at].trim().len()) <= 1;
    begins_paragraph && words && close
}
