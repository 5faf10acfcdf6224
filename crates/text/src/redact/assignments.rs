//! Secrets known by where they stand: after a name such as `password` or `api_key`, in an `Authorization`
//! header, before the `@` of a URL.
//!
//! Program text is full of such names, so a value counts only if it looks like a secret: a literal, long
//! enough, and not made of plain words. Names are read once, and a value is judged by its first [`JUDGED`]
//! bytes.

use std::ops::Range;

use super::{contains_mark, run_length};

/// Shorter values are left alone.
const LEAST: usize = 8;
/// The same for tokens, in quotes and without.
const LEAST_QUOTED_TOKEN: usize = 12;
const LEAST_BARE_TOKEN: usize = 16;
/// Shorter names before the `@` of a URL are names.
const LEAST_KEY_NAME: usize = 24;
/// Bytes of a value that are judged.
const JUDGED: usize = 256;
/// Bytes of a name that are compared, from its end.
const NAME: usize = 48;
/// Most blanks between a name, its sign and its value.
const BLANKS: usize = 8;
/// Bytes of a cookie that are judged.
const COOKIE: usize = 1_024;
/// How far a type may separate a name from its value (`key: &'static str = "…"`).
const TYPE: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretNameFamily {
    Password,
    Token,
    Header,
    /// `Cookie: name=value; …`
    Cookie,
    /// The bare word `Bearer`.
    Bearer,
}

/// Ends of names, without `_`, `-` and `.` and in lower case.
const NAMES: &[(SecretNameFamily, &[&str])] = &[
    (SecretNameFamily::Password, &["password", "passwd", "passphrase", "pwd", "dbpass"]),
    (
        SecretNameFamily::Token,
        &["token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey"],
    ),
    (SecretNameFamily::Token, &["secretkeybase", "accountkey", "signingkey", "encryptionkey", "masterkey"]),
    (SecretNameFamily::Token, &["credential", "credentials"]),
    (SecretNameFamily::Header, &["authorization"]),
    (SecretNameFamily::Cookie, &["cookie"]),
];

/// The names met in a line so far.
#[derive(Default)]
pub(super) struct AssignmentScanner {
    name_end: usize,
}

impl AssignmentScanner {
    pub(super) fn name_end(&self) -> usize {
        self.name_end
    }

    /// The secret given by the name or URL that begins at `at`, if any.
    pub(super) fn secret_at(&mut self, text: &[u8], at: usize) -> Option<Range<usize>> {
        if text[at] == b':' && text[at..].starts_with(b"://") {
            return url_password(text, at + 3);
        }
        if at < self.name_end || !is_name(text[at]) {
            return None;
        }
        self.name_end = at + run_length(text, at, is_name);
        // `\n` in a string that was printed with its escapes is no part of the name.
        let escaped = at > 0 && text[at - 1] == b'\\' && matches!(text[at], b'n' | b'r' | b't');
        let name = at + usize::from(escaped)..self.name_end;
        match name_family(&text[name.clone()])? {
            SecretNameFamily::Bearer => bearer_secret(text, self.name_end),
            SecretNameFamily::Header => header_secret(text, self.name_end),
            SecretNameFamily::Cookie => cookie_secret(text, self.name_end),
            family => assigned_secret(text, name, family),
        }
    }
}

/// The last letters of [`NAMES`], of `pass` and of `bearer`: most words end otherwise.
const LAST: &[u8] = b"delnrsty";

fn name_family(name: &[u8]) -> Option<SecretNameFamily> {
    let tail = &name[name.len().saturating_sub(NAME)..];
    let last = tail.iter().rev().find(|byte| byte.is_ascii_alphanumeric())?.to_ascii_lowercase();
    if !LAST.contains(&last) {
        return None;
    }
    if tail.eq_ignore_ascii_case(b"bearer") {
        return Some(SecretNameFamily::Bearer);
    }
    let letters =
        || tail.iter().rev().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase);
    let ends = |end: &&str| end.bytes().rev().eq(letters().take(end.len()));
    if ends(&"pass") && (letters().count() == 4 || tail[..tail.len() - 4].ends_with(b"_")) {
        return Some(SecretNameFamily::Password);
    }
    NAMES.iter().find(|(_, names)| names.iter().any(ends)).map(|(family, _)| *family)
}

/// The `=` or `:` between a name and its value.
struct AssignmentSign {
    /// Where the value or its opening quote begins.
    end: usize,
    /// `:` rather than `=`.
    colon: bool,
    /// No blanks around it.
    tight: bool,
}

fn sign(text: &[u8], name_end: usize, comma: bool, blank: bool) -> Option<AssignmentSign> {
    let mut at = name_end;
    at += run_length(&text[..text.len().min(at + 3)], at, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b']'));
    let before = blanks(text, at);
    at += before;
    let next = text.get(at + 1).copied();
    let (length, colon) = match text.get(at)? {
        b'=' if matches!(next, Some(b'=' | b'~')) => return None,
        b'=' if next == Some(b'>') => (2, false),
        b'=' => (1, false),
        b':' if next == Some(b':') => return None,
        b':' if next == Some(b'=') => (2, false),
        b':' => (1, true),
        b',' if comma => (1, true),
        _ if blank && before > 0 => return Some(AssignmentSign { end: at, colon: false, tight: true }),
        _ => return None,
    };
    let after = blanks(text, at + length);
    Some(AssignmentSign { end: at + length + after, colon, tight: before == 0 && after == 0 })
}

fn blanks(text: &[u8], at: usize) -> usize {
    let end = text.len().min(at + BLANKS);
    run_length(&text[..end], at, |byte| matches!(byte, b' ' | b'\t'))
}

fn assigned_secret(text: &[u8], name: Range<usize>, family: SecretNameFamily) -> Option<Range<usize>> {
    let (name_end, name) = (name.end, &text[name]);
    let flag = name.starts_with(b"--");
    let sign = sign(text, name_end, false, flag)?;
    let quoted_secret =
        |found: &Range<usize>| is_secret(&text[found.clone()], family, SecretValueStyle::Quoted);
    if let Some(found) = quoted_value(text, sign.end) {
        return found.filter(quoted_secret);
    }
    if sign.colon
        && let window = &text[sign.end..text.len().min(sign.end + TYPE)]
        && let Some(at) = window.windows(4).position(|w| w == b" = \"" || w == b" = '")
    {
        return quoted_value(text, sign.end + at + 3).flatten().filter(quoted_secret);
    }
    let environment = flag || (sign.tight && !sign.colon && !name.iter().any(u8::is_ascii_lowercase));
    let style = if environment { SecretValueStyle::Environment } else { SecretValueStyle::Bare };
    let ends: &[u8] = if environment { b"\"'`;" } else { b"\"'`,;()[]{}<>&|\\" };
    let stops = |byte: u8| byte.is_ascii_whitespace() || ends.contains(&byte);
    let length = run_length(&text[..text.len().min(sign.end + JUDGED)], sign.end, |byte| !stops(byte));
    let stop = text.get(sign.end + length);
    // A call, an index, a literal with a prefix: an expression.
    if !environment && stop.is_some_and(|byte| b"([{\"'`<".contains(byte)) {
        return None;
    }
    is_secret(&text[sign.end..sign.end + length], family, style)
        .then(|| sign.end..sign.end + run_length(text, sign.end, |byte| !stops(byte)))
}

/// The inside of a string without blanks that begins at `at`. `None`: no string; `Some(None)`: a string
/// that is a sentence.
fn quoted_value(text: &[u8], at: usize) -> Option<Option<Range<usize>>> {
    let mut from = at;
    // `b"…"`, `\"…\"`
    if matches!(text.get(from), Some(b'\\' | b'b' | b'r' | b'u' | b'f'))
        && text.get(from + 1).is_some_and(is_quote)
    {
        from += 1;
    }
    let quote = *text.get(from).filter(|byte| is_quote(byte))?;
    from += 1;
    let length = run_length(text, from, |byte| byte != quote && byte != b'\\' && !byte.is_ascii_whitespace());
    match text.get(from + length) {
        Some(byte) if byte.is_ascii_whitespace() && !matches!(byte, b'\n' | b'\r') => Some(None),
        _ => Some(Some(from..from + length)),
    }
}

fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretValueStyle {
    /// `"value"`
    Quoted,
    /// `NAME=value`, `--name value`
    Environment,
    /// `name: value`, `name=value`
    Bare,
}

fn is_secret(value: &[u8], family: SecretNameFamily, style: SecretValueStyle) -> bool {
    let value = &value[..value.len().min(JUDGED)];
    if value.len() < LEAST || contains_mark(value) || b"$<{%*[(".contains(&value[0]) {
        return false;
    }
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let symbol = value.iter().any(|byte| b"!@#$%^&*+~?=".contains(byte));
    let mixed = letter && (digit || changes(value) >= 5 && value.len() >= LEAST_BARE_TOKEN);
    match (style, family) {
        (SecretValueStyle::Environment, _) => {
            let call = value[0].is_ascii_alphabetic() && value.contains(&b'(') && value.ends_with(b")");
            (letter || digit) && !call
        }
        (SecretValueStyle::Quoted, SecretNameFamily::Password) => digit || (letter && symbol),
        (SecretValueStyle::Quoted, _) => {
            let place = value.starts_with(b"/") || value.windows(3).any(|window| window == b"://");
            value.len() >= LEAST_QUOTED_TOKEN && mixed && !place
        }
        (SecretValueStyle::Bare, SecretNameFamily::Password) => letter && digit && !is_expression(value),
        (SecretValueStyle::Bare, _) => {
            let random = !is_identifier(value) || changes(value) >= 4;
            value.len() >= LEAST_BARE_TOKEN && mixed && random && !is_expression(value)
        }
    }
}

/// Whether it looks like a variable or a field: `req.body.password2`, `token1`.
fn is_expression(value: &[u8]) -> bool {
    if !is_identifier(value) {
        return false;
    }
    let plain: Vec<u8> =
        value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let mut names = NAMES.iter().flat_map(|(_, names)| *names);
    let named = names.any(|name| plain.windows(name.len()).any(|window| window == name.as_bytes()));
    named || (value.contains(&b'.') && value.split(|byte| *byte == b'.').all(is_identifier))
}

fn is_identifier(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'))
}

/// How often lower case, upper case and digits alternate: often in random strings.
fn changes(value: &[u8]) -> usize {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    value.windows(2).filter(|pair| class(&pair[0]) != class(&pair[1])).count()
}

/// `Authorization: Bearer …`, also as the argument of a call.
fn header_secret(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    let mut at = sign(text, name_end, true, false)?.end;
    at += run_length(&text[..text.len().min(at + 2)], at, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`'));
    let word = run_length(&text[..text.len().min(at + NAME)], at, |byte| byte.is_ascii_alphabetic());
    let scheme = [&b"bearer"[..], b"basic", b"token", b"digest", b"apikey", b"negotiate"]
        .iter()
        .any(|scheme| scheme.eq_ignore_ascii_case(&text[at..at + word]));
    let gap = blanks(text, at + word);
    if scheme && gap > 0 {
        return credentials(text, at + word + gap, 6, false);
    }
    credentials(text, at, LEAST_BARE_TOKEN, true)
}

/// `Cookie: session=…; theme=dark`, also as the argument of a call: all of it, if one of its values looks random.
fn cookie_secret(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    let sign = sign(text, name_end, true, false).filter(|sign| sign.colon)?;
    let quotes = run_length(&text[..text.len().min(sign.end + 2)], sign.end, |byte| {
        matches!(byte, b'\\' | b'"' | b'\'' | b'`')
    });
    let from = sign.end + quotes;
    let is_part =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\') || byte == b' ';
    let judged = &text[from..from + run_length(&text[..text.len().min(from + COOKIE)], from, is_part)];
    let random = |pair: &[u8]| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (pair[..at].trim_ascii(), &pair[at + 1..]);
        let plain = !name.is_empty() && name.iter().all(|byte| is_name(*byte));
        let digit = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
        let expression = value.starts_with(b"$") || value.starts_with(b"{") || contains_mark(value);
        (plain && digit && value.len() >= LEAST_QUOTED_TOKEN && !expression).then_some(())
    };
    judged.split(|byte| *byte == b';').find_map(random)?;
    Some(from..from + run_length(text, from, is_part))
}

fn bearer_secret(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    let gap = blanks(text, name_end);
    (gap > 0).then(|| credentials(text, name_end + gap, LEAST_BARE_TOKEN, true)).flatten()
}

fn credentials(text: &[u8], from: usize, least: usize, digit: bool) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    let judged = run_length(&text[..text.len().min(from + JUDGED)], from, is_part);
    let value = &text[from..from + judged];
    let next = text.get(from + judged);
    let expression = matches!(next, Some(b'[' | b'('));
    if judged < least || expression || (digit && !value.iter().any(u8::is_ascii_digit)) {
        return None;
    }
    Some(from..from + run_length(text, from, is_part))
}

/// The password of `scheme://user:password@host`.
fn url_password(text: &[u8], from: usize) -> Option<Range<usize>> {
    let length =
        run_length(text, from, |byte| !byte.is_ascii_whitespace() && !b"/?#\"'`<>\\".contains(&byte));
    let authority = &text[from..from + length];
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let Some(colon) = authority[..at].iter().position(|byte| *byte == b':') else {
        // A key instead of a name: `https://0123…@o1.ingest.sentry.io/2`.
        let key = &authority[..at];
        let random = key.iter().all(u8::is_ascii_alphanumeric) && key.iter().any(u8::is_ascii_digit);
        return (random && key.len() >= LEAST_KEY_NAME).then_some(from..from + at);
    };
    let password = &authority[colon + 1..at];
    if password.is_empty() || contains_mark(password) || b"${<%*".contains(&password[0]) {
        return None;
    }
    Some(from + colon + 1..from + at)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_ends_with_a_letter_that_is_looked_for() {
        for name in NAMES.iter().flat_map(|(_, names)| *names) {
            assert!(LAST.contains(&name.as_bytes()[name.len() - 1]), "{name}");
        }
        assert!(
            name_family(b"pass").is_some()
                && name_family(b"Bearer").is_some()
                && name_family(b"db_pass").is_some()
        );
    }
}
