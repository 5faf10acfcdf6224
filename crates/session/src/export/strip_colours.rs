//! Program output without terminal colours.
//!
//! Only whole colour codes are removed (`ESC [ numbers m`): nothing is lost with them. Every other code
//! stays, and becomes visible when the text is escaped.

use std::borrow::Cow;

/// Longest colour code, in bytes of numbers and separators; a longer one is something else.
const LONGEST: usize = 64;

pub(super) fn strip_colour_codes(text: &str) -> Cow<'_, str> {
    if !text.contains("\x1b[") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let code = &rest[at..];
        let length = colour_code_len(code).unwrap_or(1);
        if length == 1 {
            out.push('\x1b');
        }
        rest = &code[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Length of the colour code at the beginning.
fn colour_code_len(code: &str) -> Option<usize> {
    let inner = &code.as_bytes()[2..];
    let numbers = inner.iter().take(LONGEST).take_while(|b| matches!(b, b'0'..=b'9' | b';' | b':')).count();
    (inner.get(numbers) == Some(&b'm')).then_some(2 + numbers + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_everything_else_stays() {
        assert_eq!(strip_colour_codes("a\x1b[1;31mred\x1b[0m b"), "ared b");
        assert_eq!(strip_colour_codes("\x1b[38:2:1:2:3mx\x1b[mé"), "xé");
        for kept in ["\x1b[2J", "\x1b]52;c;aGk=\x07", "\x1b[", "\x1b[31", "plain", "\x1b[31é"] {
            assert_eq!(strip_colour_codes(kept), kept);
        }
    }
}
