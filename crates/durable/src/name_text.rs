//! Names of entries as text. A name on a disk is any bytes without a slash and a NUL; nearly all are UTF-8, and stand for
//! themselves. Of others each byte that is no text is written as NUL and two hexadecimal digits: no name has a NUL, so
//! that no two names have one text, and no text is taken for another name. The same holds for paths.

use std::borrow::Cow;
use std::fmt::Write;

const MARK: char = '\0';

/// The text for a name or path.
pub fn name_text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(name.len() + 16);
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing into a string does not fail.
            let _ = write!(text, "{MARK}{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// The name that a text stands for; `None`: it is the text of none.
pub fn name_bytes(text: &str) -> Option<Cow<'_, [u8]>> {
    if !text.contains(MARK) {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    let mut parts = text.split(MARK);
    let mut name = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        name.push(u8::from_str_radix(digits, 16).ok()?);
        name.extend_from_slice(rest.as_bytes());
    }
    // One text for each name: neither other digits nor bytes that would be text.
    (name_text(&name) == text).then_some(Cow::Owned(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_text_and_every_text_one_name() {
        for (name, text) in [
            (&b"plain.txt"[..], "plain.txt"),
            ("\u{fc}".as_bytes(), "\u{fc}"),
            (b"caf\xe9.txt", "caf\0e9.txt"),
            (b"\xff\xfe", "\0ff\0fe"),
            (b"d\xff/\xc3/a", "d\0ff/\0c3/a"),
            // The beginning of a letter, and what looks like the text of another name.
            (b"\xc3", "\0c3"),
            (b"0ff", "0ff"),
        ] {
            assert_eq!(name_text(name), text);
            assert_eq!(name_bytes(text).as_deref(), Some(name));
        }
        for text in ["\0", "\0f", "\0zz", "a\0", "\u{0}41", "\0FF", "\0+f", "\0c3\0bc", "\0é"] {
            assert_eq!(name_bytes(text), None, "{text:?}");
        }
    }
}
