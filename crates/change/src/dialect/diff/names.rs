//! The names of files in the headers of diffs: prefixes, quotes, timestamps.

use std::borrow::Cow;

/// One side of a file header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffFileName {
    /// `/dev/null`: the file does not exist on this side.
    Null,
    /// As written.
    File(String),
}

/// `text` is what follows `--- ` or `+++ `.
pub(super) fn parse_name(text: &str) -> DiffFileName {
    let text = text.trim_start();
    let name = match parse_quoted(text) {
        Some((name, _)) => name,
        None => without_time(without_tabbed_time(text)).trim_end().to_owned(),
    };
    if name == "/dev/null" { DiffFileName::Null } else { DiffFileName::File(name) }
}

/// Removes what follows the last tab if it may be a timestamp. A tab in the name itself stays, and is refused as part
/// of a path.
fn without_tabbed_time(text: &str) -> &str {
    match text.rsplit_once('\t') {
        Some((name, time))
            if time.is_empty() || time.starts_with(|c: char| c.is_ascii_digit() || c == '(') =>
        {
            name
        }
        _ => text,
    }
}

/// Removes a timestamp that follows a blank instead of a tab.
fn without_time(text: &str) -> &str {
    let is_date = |word: &str| {
        word.len() == 10
            && word.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    let mut from = 0;
    for word in text.split(' ') {
        if from > 0 && is_date(word) {
            return &text[..from];
        }
        from += word.len() + 1;
    }
    text
}

/// The two names on a `diff --git` line, if they can be told apart.
pub(super) fn git_names(rest: &str) -> Option<(String, String)> {
    let rest = rest.trim();
    if let Some((old, left)) = parse_quoted(rest) {
        let left = left.trim_start();
        let new = parse_quoted(left).map_or_else(|| left.to_owned(), |(new, _)| new);
        return Some((old, new));
    }
    if let Some(at) = rest.find(" \"") {
        let (new, _) = parse_quoted(&rest[at + 1..])?;
        return Some((rest[..at].to_owned(), new));
    }
    // Both names are the same apart from the prefix, so the blank between them is in the middle.
    let middle = rest.len() / 2;
    if rest.len() % 2 == 1 && rest.is_char_boundary(middle) {
        let (old, new) = rest.split_at(middle);
        if let Some(new) = new.strip_prefix(' ')
            && shared_path(old, new).is_some()
        {
            return Some((old.to_owned(), new.to_owned()));
        }
    }
    let (old, new) = rest.split_once(' ')?;
    (!new.contains(' ')).then(|| (old.to_owned(), new.to_owned()))
}

/// The one path that both names mean, if they agree.
pub(super) fn shared_path<'a>(old: &'a str, new: &'a str) -> Option<&'a str> {
    if old == new {
        return Some(new);
    }
    let (bare_old, bare_new) = (without_prefix(old), without_prefix(new));
    if bare_old.is_some() && bare_old == bare_new {
        return bare_new;
    }
    if bare_new == Some(old) {
        return Some(old);
    }
    if bare_old == Some(new) || old.strip_suffix(".orig") == Some(new) {
        return Some(new);
    }
    None
}

/// The path behind a name whose other side is `/dev/null`.
pub(super) fn without_side_prefix(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Removes a prefix of one letter, as git writes them (`a/`, `b/`, `i/`, `w/` …).
fn without_prefix(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(|c: char| c.is_ascii_alphanumeric())?;
    rest.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// Whether a name in C quotes has a backslash: a path would take it for the end of a directory.
pub(super) fn has_quoted_backslash(text: &str) -> bool {
    (text.starts_with('"') || text.contains(" \"")) && text.contains(r"\\")
}

/// Reads a name in C quotes, and returns the text after it.
pub(super) fn parse_quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let mut name = Vec::new();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => break,
            b'\\' => {
                let (byte, width) = escape(&bytes[at + 1..])?;
                name.push(byte);
                at += 1 + width;
            }
            byte => {
                name.push(*byte);
                at += 1;
            }
        }
    }
    let name = String::from_utf8(name).ok()?;
    Some((name, &inner[at + 1..]))
}

/// One escape without its backslash: the byte, and how many bytes it takes.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let simple = match bytes.first()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        other @ (b'"' | b'\\') => *other,
        _ => {
            let digits = bytes.get(..3)?;
            let value = digits.iter().try_fold(0u32, |value, digit| {
                matches!(digit, b'0'..=b'7').then(|| value * 8 + u32::from(digit - b'0'))
            })?;
            return Some((u8::try_from(value).ok()?, 3));
        }
    };
    Some((simple, 1))
}

/// The name without its quotes, if any.
pub(super) fn unquote_name(text: &str) -> Cow<'_, str> {
    match parse_quoted(text.trim()) {
        Some((name, _)) => Cow::Owned(name),
        None => Cow::Borrowed(text.trim_end()),
    }
}
