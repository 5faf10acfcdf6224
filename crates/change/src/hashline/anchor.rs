//! Anchors: the number of a line and two letters that its text decides, such as `41th`.
//!
//! Blanks at the end of a line do not count, so that an anchor survives another line ending. A line without letters and digits
//! counts with its number, so that the braces of a file do not all have one hash.

use std::fmt;

/// How many different hashes there are: a prime, close to all pairs of letters.
pub const HASH_COUNT: u64 = 647;
/// Most digits of a line number.
const MAX_DIGITS: usize = 9;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Two lower-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash([u8; 2]);

/// A line as a model names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineAnchor {
    /// From 1.
    pub line: usize,
    pub hash: LineHash,
}

impl LineHash {
    /// Of line `line` (from 1).
    pub fn of(line: usize, text: &str) -> LineHash {
        let text = text.trim_end();
        let mut hash = FNV_OFFSET;
        let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        text.bytes().for_each(&mut mix);
        if !text.contains(char::is_alphanumeric) {
            line.to_le_bytes().into_iter().for_each(&mut mix);
        }
        // The low bits of this hash are weak on short texts.
        hash ^= hash >> 32;
        let index = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) % HASH_COUNT;
        let letter = |index: u64| b'a' + u8::try_from(index % 26).unwrap_or(0);
        LineHash([letter(index / 26), letter(index)])
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl LineAnchor {
    /// Of line `line` (from 1).
    pub fn of(line: usize, text: &str) -> LineAnchor {
        LineAnchor { line, hash: LineHash::of(line, text) }
    }

    /// Reads `41th`; nothing else will do.
    pub fn parse(text: &str) -> Option<LineAnchor> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let hash: [u8; 2] = text.as_bytes().get(digits..)?.try_into().ok()?;
        if !(1..=MAX_DIGITS).contains(&digits) || !hash.iter().all(u8::is_ascii_lowercase) {
            return None;
        }
        let line = text[..digits].parse().ok().filter(|line| *line > 0)?;
        Some(LineAnchor { line, hash: LineHash(hash) })
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for LineAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.line, self.hash)
    }
}

/// A line as a model reads it: `41th|def alpha():`.
pub fn format_line(line: usize, text: &str) -> String {
    format!("{}|{text}", LineAnchor::of(line, text))
}

/// A text whose every line (but blank ones) begins with an anchor, as it is copied from what `read` shows, without them. `None`
/// if that is not so: then what looks like an anchor belongs to the text.
pub fn strip_anchors(text: &str) -> Option<String> {
    let mut found = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = match line.split_once('|') {
            Some((anchor, rest)) if LineAnchor::parse(anchor).is_some() => {
                found = true;
                rest
            }
            _ if line.trim().is_empty() => line,
            _ => return None,
        };
        out.push_str(bare);
    }
    found.then_some(out)
}
