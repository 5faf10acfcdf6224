//! What a person typed, as a query that full-text search cannot misread: every word is quoted, all must be there, and
//! the last may be the beginning of one.

use crate::truncate::truncate_str;

/// Words of a query that count.
const MAX_WORDS: usize = 32;
/// Bytes of a query that count.
const MAX_BYTES: usize = 1024;

/// What to look for, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FtsQuery {
    /// There is nothing to look for.
    Empty,
    /// An expression of FTS5.
    Words(String),
    /// Signs alone, which no index of words has: the text as it stands.
    Literal(String),
}

impl FtsQuery {
    pub(super) fn parse(text: &str) -> FtsQuery {
        let text = truncate_str(text, MAX_BYTES).replace('\0', " ");
        let quoted: Vec<String> = text
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric))
            .take(MAX_WORDS)
            .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
            .collect();
        if !quoted.is_empty() {
            return FtsQuery::Words(format!("{} *", quoted.join(" AND ")));
        }
        match text.trim() {
            "" => FtsQuery::Empty,
            signs => FtsQuery::Literal(signs.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_the_last_is_a_beginning() {
        assert_eq!(
            FtsQuery::parse(" fix  the lin"),
            FtsQuery::Words(r#""fix" AND "the" AND "lin" *"#.into())
        );
        assert_eq!(
            FtsQuery::parse(r#"say "no" -> OR"#),
            FtsQuery::Words(r#""say" AND """no""" AND "OR" *"#.into())
        );
        assert_eq!(FtsQuery::parse(" -> "), FtsQuery::Literal("->".into()));
        assert_eq!((FtsQuery::parse(""), FtsQuery::parse("\0 ")), (FtsQuery::Empty, FtsQuery::Empty));
    }
}
