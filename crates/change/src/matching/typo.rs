//! Distinguishes a typo from a different meaning. Two lines are *nearly* the same if they differ in blanks
//! inside the line, in one word by one letter, as when a model misremembers a long name, or if both are
//! comments that say much the same. Numbers, short words and punctuation must agree: there a single
//! character is a different meaning.

use std::collections::HashSet;

use super::normalize::words_and_signs;

/// Shorter words must agree to the letter.
pub(super) const WORD: usize = 5;
/// Shorter words may lack a letter or have an extra one, but not a different one.
pub(super) const LONG_WORD: usize = 8;
/// Longer lines are not compared letter by letter.
pub(super) const LINE: usize = 2_000;

/// The steps for comparing two lines.
pub(super) fn steps(a: &str, b: &str) -> usize {
    (a.len().min(LINE) + b.len().min(LINE)) * 2 + 24
}

/// How two lines differ, if it is little enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineTypo {
    /// Only in blanks between words.
    Blanks,
    /// In one letter of one word. `at_end`: it is the last letter, as between singular and plural.
    Letter { at_end: bool },
    /// Both are comments, and most of their words are the same.
    Comment,
}

/// `None` if they differ in more.
pub(super) fn find_typo(a: &str, b: &str) -> Option<LineTypo> {
    if a.len() > LINE || b.len() > LINE || a.len().abs_diff(b.len()) > a.len().min(b.len()) {
        return None;
    }
    let (a, b) = (words_and_signs(a), words_and_signs(b));
    if a == b {
        return Some(LineTypo::Blanks);
    }
    if let Some(comment) = comment_typo(&a, &b) {
        return Some(comment);
    }
    if a.len() != b.len() {
        return None;
    }
    let mut different = a.iter().zip(&b).filter(|(x, y)| x != y);
    let (x, y) = different.next()?;
    if different.next().is_some() {
        return None;
    }
    letter_typo(x, y)
}

/// Both lines are nothing but a comment of the same kind and share at least two words of three.
fn comment_typo(a: &[&str], b: &[&str]) -> Option<LineTypo> {
    let sign = |line: &[&str]| match line {
        ["/", "/", ..] => Some("//"),
        ["/", "*", ..] => Some("/*"),
        ["#", word, ..] if word.chars().all(char::is_alphanumeric) => Some("#"),
        _ => None,
    };
    let words = |line: &[&str]| -> Vec<String> {
        let words = line.iter().filter(|word| word.chars().all(char::is_alphanumeric));
        words.map(|word| word.to_lowercase()).collect()
    };
    if sign(a)? != sign(b)? {
        return None;
    }
    let (a, b) = (words(a), words(b));
    let theirs: HashSet<&String> = b.iter().collect();
    let shared = a.iter().filter(|word| theirs.contains(word)).count();
    (shared >= 2 && shared * 3 >= a.len().max(b.len()) * 2).then_some(LineTypo::Comment)
}

fn letter_typo(x: &str, y: &str) -> Option<LineTypo> {
    let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    let (short, long) = if x.len() <= y.len() { (&x, &y) } else { (&y, &x) };
    if long.len() < WORD || long.len() - short.len() > 1 {
        return None;
    }
    let head = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let tail = short[head..].iter().rev().zip(long[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (short_rest, long_rest) = (&short[head..short.len() - tail], &long[head..long.len() - tail]);
    let letters = |rest: &[char]| rest.iter().all(|c| c.is_alphabetic() || *c == '_');
    if !letters(short_rest) || !letters(long_rest) {
        return None;
    }
    let at_end = head == long.len() - 1;
    match (short_rest, long_rest) {
        ([], [_]) => Some(LineTypo::Letter { at_end }),
        ([a, b], [c, d]) if a == d && b == c => Some(LineTypo::Letter { at_end: false }),
        // A different case is a different name.
        ([a], [b]) if long.len() >= LONG_WORD && !a.to_lowercase().eq(b.to_lowercase()) => {
            Some(LineTypo::Letter { at_end })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_of_a_long_word_is_a_slip() {
        for (a, b) in [
            ("if self.sutree_only:", "if self.subtree_only:"),
            ("recieve(x)", "receive(x)"),
            ("const result = f()", "const results = f()"),
        ] {
            assert!(find_typo(a, b).is_some(), "{a} / {b}");
        }
        assert_eq!(find_typo("f( a,  b )", "f(a, b)"), Some(LineTypo::Blanks));
        assert_eq!(
            find_typo("// this is an important remark", "// this is a very important remark"),
            Some(LineTypo::Comment)
        );
    }

    #[test]
    fn another_meaning_is_not() {
        for (a, b) in [
            ("x = 10", "x = 11"),
            ("a + b", "a - b"),
            ("calculateTotal();", "calculateSubtotal();"),
            ("test_case_1()", "test_case_2()"),
            ("get(x)", "set(x)"),
            ("f(a)", "f(a, b)"),
            ("import left", "import right"),
            ("// remove the old entry", "// insert a new row"),
            ("#include <one>", "#include <two>"),
            ("let total1 = 0", "let total12 = 0"),
        ] {
            assert_eq!(find_typo(a, b), None, "{a} / {b}");
        }
    }
}
