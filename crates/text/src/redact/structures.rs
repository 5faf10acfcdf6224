//! Secrets without a prefix of their own that have an unmistakable build: numbers, a colon and `AA` (Telegram), three
//! parts of fixed lengths (Discord), sixteen bytes in hex with a known end (Mailgun, Mailchimp).
//!
//! Every one looks at a bounded number of bytes, and only where a word begins.

use std::ops::Range;

use super::run_length;

/// The secret that begins at `at`, where a word begins.
pub(super) fn structured_secret(text: &[u8], at: usize) -> Option<Range<usize>> {
    match text.get(at)? {
        b'0'..=b'9' => telegram_token(text, at).or_else(|| hex_key(text, at)),
        b'M' | b'N' | b'O' => discord_token(text, at),
        b'a'..=b'f' => hex_key(text, at),
        b'p' => airtable_token(text, at),
        _ => None,
    }
    .or_else(|| terraform_token(text, at))
    .or_else(|| azure_secret(text, at))
}

/// `123456789:AA` and 33 more: the number of a bot stays readable.
fn telegram_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    let digits = bounded(text, at, 11, |byte| byte.is_ascii_digit());
    let from = at + digits + 1;
    let rest = text.get(from..)?;
    ((8..=10).contains(&digits) && text[from - 1] == b':' && rest.starts_with(b"AA")).then_some(())?;
    exact(text, from, 35, is_word)
}

/// `M…`, `N…` or `O…` of 23 to 28 characters, 6, and 27 to 38, with points between them.
fn discord_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    let first = bounded(text, at, 29, is_word);
    let second = part(text, at + first, 7)?;
    let third = part(text, at + first + 1 + second, 40)?;
    let end = at + first + 1 + second + 1 + third;
    ((23..=28).contains(&first) && second == 6 && (27..=38).contains(&third)).then_some(at..end)
}

/// Mailgun: 32, 8 and 8 digits in hex. Mailchimp: 32, and `-us` with a number.
fn hex_key(text: &[u8], at: usize) -> Option<Range<usize>> {
    if bounded(text, at, 33, is_hex) != 32 || text.get(at + 32) != Some(&b'-') {
        return None;
    }
    let from = at + 33;
    let place =
        text[from..].starts_with(b"us").then(|| bounded(text, from + 2, 3, |byte| byte.is_ascii_digit()));
    if let Some(digits @ 1..=2) = place {
        return Some(at..from + 2 + digits);
    }
    let parts = bounded(text, from, 9, is_hex) == 8 && text.get(from + 8) == Some(&b'-');
    (parts && bounded(text, from + 9, 9, is_hex) == 8).then_some(at..from + 17)
}

/// `pat`, 14 characters, a point and 64 digits in hex.
fn airtable_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !text[at..].starts_with(b"pat") || bounded(text, at + 3, 15, |byte| byte.is_ascii_alphanumeric()) != 14
    {
        return None;
    }
    let from = at + 18;
    (text.get(at + 17) == Some(&b'.') && bounded(text, from, 65, is_hex) == 64).then_some(from..from + 64)
}

/// 14 characters, `.atlasv1.` and at least 60 more.
fn terraform_token(text: &[u8], at: usize) -> Option<Range<usize>> {
    const MARK: &[u8] = b".atlasv1.";
    let rest = text.get(at + 14..)?;
    if !rest.starts_with(MARK) || bounded(text, at, 14, |byte| byte.is_ascii_alphanumeric()) != 14 {
        return None;
    }
    let from = at + 14 + MARK.len();
    let length = bounded(text, from, 60, is_word);
    (length == 60).then(|| from..from + run_length(text, from, is_word))
}

/// Three characters, a digit, `Q~` and 31 to 34 more: a client secret of Azure.
fn azure_secret(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = text.get(at..at + 6)?;
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'~' | b'.');
    if &start[4..] != b"Q~" || !start[3].is_ascii_digit() || !start[..3].iter().all(|byte| is_part(*byte)) {
        return None;
    }
    let length = bounded(text, at + 6, 35, is_part);
    (31..=34).contains(&length).then_some(at + 6..at + 6 + length)
}

/// Length of a part behind a point.
fn part(text: &[u8], at: usize, most: usize) -> Option<usize> {
    (text.get(at) == Some(&b'.')).then(|| bounded(text, at + 1, most, is_word))
}

/// Exactly so many, and no more.
fn exact(text: &[u8], at: usize, count: usize, kind: fn(u8) -> bool) -> Option<Range<usize>> {
    (bounded(text, at, count + 1, kind) == count).then_some(at..at + count)
}

fn bounded(text: &[u8], at: usize, most: usize, kind: impl Fn(u8) -> bool) -> usize {
    run_length(&text[..text.len().min(at + most)], at, kind)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
