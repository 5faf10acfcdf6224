//! Plain forms of a line: what remains when typography, indentation or layout is forgiven.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The blanks at the beginning of a line.
pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The plain form of a typographic character, if it has one.
pub(super) fn plain_character(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' | '\u{FF02}' => "\"",
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' | '\u{FF07}' => "'",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => "-",
        '\u{00A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => " ",
        '\u{2026}' => "...",
        _ => return None,
    })
}

/// The line with quotes, dashes and blanks in their plain form, and composed characters.
pub(super) fn plain_punctuation(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let composed: Cow<'_, str> = match is_nfc_quick(line.chars()) {
        IsNormalized::Yes => Cow::Borrowed(line),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(line.nfc().collect()),
    };
    if !composed.chars().any(|c| plain_character(c).is_some()) {
        return composed;
    }
    let mut plain = String::with_capacity(composed.len());
    for c in composed.chars() {
        match plain_character(c) {
            Some(text) => plain.push_str(text),
            None => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

/// The words (letters, digits, `_`) and single signs of a line, without the blanks between them.
pub(crate) fn words_and_signs(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut word: Option<usize> = None;
    for (at, c) in line.char_indices() {
        if c.is_alphanumeric() || c == '_' {
            word.get_or_insert(at);
            continue;
        }
        if let Some(start) = word.take() {
            tokens.push(&line[start..at]);
        }
        if !c.is_whitespace() {
            tokens.push(&line[at..at + c.len_utf8()]);
        }
    }
    tokens.extend(word.map(|start| &line[start..]));
    tokens
}

/// Makes those typographic characters plain that are in `which`.
pub(super) fn replace_typography(line: &str, which: &[char]) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match plain_character(c) {
            Some(text) if which.contains(&c) => out.push_str(text),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_becomes_plain() {
        assert_eq!(
            plain_punctuation("say \u{201C}hi\u{201D} \u{2013} it\u{2019}s\u{a0}ok\u{2026}"),
            "say \"hi\" - it's ok..."
        );
        assert_eq!(plain_punctuation("cafe\u{301}"), "caf\u{e9}");
        assert!(matches!(plain_punctuation("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn only_the_given_characters_are_replaced() {
        assert_eq!(
            replace_typography("\u{201C}a\u{201D} \u{2014}", &['\u{201C}', '\u{201D}']),
            "\"a\" \u{2014}"
        );
    }
}
