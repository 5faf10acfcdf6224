//! A number and what it counts, in every message.

use std::fmt::Display;

/// `1 file`, `3 files`, `2 processes`, `2 copies`. Of several words the last is the noun.
pub fn pluralize<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {noun}");
    }
    let is_vowel = |c: char| "aeiou".contains(c);
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{count} {stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::pluralize;

    #[test]
    fn a_number_and_its_noun_agree() {
        for (count, noun, expected) in [
            (1_u64, "file", "1 file"),
            (0, "file", "0 files"),
            (2, "process", "2 processes"),
            (1, "process", "1 process"),
            (1, "other name", "1 other name"),
            (3, "other name", "3 other names"),
            (2, "copy", "2 copies"),
            (2, "key", "2 keys"),
            (2, "branch", "2 branches"),
        ] {
            assert_eq!(pluralize(count, noun), expected);
        }
    }
}
