//! Remarks behind a path that say what its block is not: the whole new text of the file. `src/a.ts (before)`,
//! `src/a.ts - excerpt`, `src/a.ts old`.

/// The block shows how something was or is done.
const SHOWN: &[&str] = &["before", "example", "examples", "old", "original", "outdated", "previous"];
/// The block has some of the file.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "abridged", "current", "excerpt", "existing", "extract", "fragment", "line", "lines", "part", "partial", "section",
    "shortened", "snippet", "startline", "truncated",
];
/// Words that do not change the sense.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "a", "an", "and", "change", "changed", "changes", "code", "complete", "content", "contents", "context", "file", "for",
    "from", "full", "here", "implementation", "in", "is", "just", "not", "of", "only", "reference", "relevant", "state",
    "the", "this", "to", "usage", "version", "whole",
];

/// What a remark says about the block below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockRemark {
    /// It shows something, and changes nothing.
    Shown,
    /// It is only a part of the file.
    Part,
}

/// Reads what stands behind a path. `None` if it says something else: one unknown word is enough.
pub(super) fn read(text: &str) -> Option<BlockRemark> {
    let mut found = None;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.map(str::to_lowercase) {
        let digits = word.strip_prefix('l').filter(|digits| !digits.is_empty()).unwrap_or(&word);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let word = word.as_str();
        match word {
            _ if SHOWN.contains(&word) => found = Some(BlockRemark::Shown),
            _ if PARTS.contains(&word) || (is_number && digits.len() < word.len()) => {
                found = found.or(Some(BlockRemark::Part));
            }
            _ if is_number || FILLERS.contains(&word) => {}
            _ => return None,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_about_the_block_are_told_from_others() {
        for (remark, expected) in [
            ("- excerpt", Some(BlockRemark::Part)),
            ("- old version", Some(BlockRemark::Shown)),
            ("— original", Some(BlockRemark::Shown)),
            ("(lines 1-3)", Some(BlockRemark::Part)),
            ("(L1-L3)", Some(BlockRemark::Part)),
            ("[old]", Some(BlockRemark::Shown)),
            ("(existing code)", Some(BlockRemark::Part)),
            ("(relevant part only)", Some(BlockRemark::Part)),
            ("{1,3}", None),
            ("(new)", None),
            ("- the existing handler, now with a cache", None),
            ("- fix the old lookup", None),
            ("- the start", None),
            ("", None),
        ] {
            assert_eq!(read(remark), expected, "{remark}");
        }
    }
}
