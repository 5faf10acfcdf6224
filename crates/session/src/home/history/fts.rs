//! Turns what a person typed into a query that full-text search cannot misread: every word is quoted, all
//! must match, and the last may be a prefix.

use crate::truncate::truncate_str;

/// Most words of a query.
const MAX_WORDS: usize = 32;
/// Most bytes of a query.
const MAX_BYTES: usize = 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FtsQuery {
    Empty,
    /// An FTS5 expression.
    Words(String),
    /// Only punctuation, which no index of words has: search for the text as it is.
    Literal(String),
}

impl FtsQuery {
    pub(super) fn parse(text: &str) -> FtsQuery {
        let text = truncate_str(text, MAX_BYTES).replace('\0', " ");
        let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
        let quote = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
        let quoted: Vec<String> = words.take(MAX_WORDS).map(quote).collect();
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
