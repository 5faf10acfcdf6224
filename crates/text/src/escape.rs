//! Foreign text made safe to print.
//!
//! The invariant: no control character and no invisible or reordering character passes through raw.
//! Each becomes visible (`\u{1b}`, `\n`), so that a terminal neither obeys it nor hides it. Tabs and
//! line feeds pass only where the caller asks for them. Without UTF-8 everything beyond ASCII is
//! escaped as well: its bytes could be read as 8-bit control codes.

use std::borrow::Cow;

use crate::hidden::is_hidden;

/// Columns between two tab stops when tabs are expanded.
pub const TAB_STOP: usize = 4;

/// What passes and what is made visible. The default lets nothing pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EscapeOptions {
    pub tabs: EscapeTabs,
    /// Line feeds stay. A carriage return before one becomes visible.
    pub newlines: bool,
    /// Only ASCII is printed raw.
    pub ascii: bool,
}

/// What becomes of a tab.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EscapeTabs {
    #[default]
    Show,
    /// As blanks up to the next multiple of [`TAB_STOP`] columns.
    Expand,
    Keep,
}

/// One line of foreign text: nothing passes, tabs and line feeds become `\t` and `\n`.
///
/// ```
/// assert_eq!(relaycode_text::escape::escape_line("a\x1b[31mb\n"), "a\\u{1b}[31mb\\n");
/// assert_eq!(relaycode_text::escape::escape_line("plain"), "plain");
/// ```
pub fn escape_line(text: &str) -> Cow<'_, str> {
    EscapeOptions::default().apply(text)
}

impl EscapeOptions {
    /// Makes everything visible that these options do not let through.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(first) = text.char_indices().find(|(_, c)| !self.passes(*c)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len() + 16);
        out.push_str(&text[..first.0]);
        let mut column = text[..first.0].rsplit('\n').next().map_or(0, |l| l.chars().count());
        for c in text[first.0..].chars() {
            if c == '\t' && self.tabs == EscapeTabs::Expand {
                let blanks = TAB_STOP - column % TAB_STOP;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            } else if self.passes(c) {
                out.push(c);
                column = if c == '\n' { 0 } else { column + 1 };
            } else {
                let start = out.len();
                out.extend(c.escape_default());
                column += out.len() - start;
            }
        }
        Cow::Owned(out)
    }

    fn passes(&self, c: char) -> bool {
        match c {
            '\t' => self.tabs == EscapeTabs::Keep,
            '\n' => self.newlines,
            _ if c.is_ascii() => !c.is_ascii_control(),
            _ => !self.ascii && !is_unsafe(c),
        }
    }
}

/// Whether a terminal might obey, hide or reorder `c` instead of showing it.
pub fn is_unsafe(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CODE: EscapeOptions = EscapeOptions { tabs: EscapeTabs::Expand, newlines: true, ascii: false };

    #[test]
    fn every_kind_of_control_becomes_visible() {
        assert_eq!(escape_line("\x1b]0;title\x07"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(escape_line("a\r\nb\tc\0"), "a\\r\\nb\\tc\\u{0}");
        assert_eq!(escape_line("x\u{9b}31m\u{7f}"), "x\\u{9b}31m\\u{7f}");
        assert_eq!(escape_line("if\u{202e}x\u{2066}"), "if\\u{202e}x\\u{2066}");
        assert_eq!(escape_line("a\u{200b}\u{feff}"), "a\\u{200b}\\u{feff}");
        assert_eq!(escape_line("ünïcode 日本"), "ünïcode 日本");
    }

    #[test]
    fn tabs_and_newlines_pass_only_where_asked() {
        assert_eq!(CODE.apply("a\tb\n\tc\r\n"), "a   b\n    c\\r\n");
        assert_eq!(CODE.apply("abcd\te"), "abcd    e");
        let keep = EscapeOptions { tabs: EscapeTabs::Keep, ..EscapeOptions::default() };
        assert_eq!(keep.apply("a\tb\n"), "a\tb\\n");
    }

    #[test]
    fn without_utf8_only_ascii_is_raw() {
        let ascii = EscapeOptions { ascii: true, ..EscapeOptions::default() };
        assert_eq!(ascii.apply("é−x"), "\\u{e9}\\u{2212}x");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_passes(text in any::<String>(), ascii: bool, newlines: bool, keep: bool) {
            let tabs = if keep { EscapeTabs::Keep } else { EscapeTabs::Expand };
            let out = EscapeOptions { tabs, newlines, ascii }.apply(&text).into_owned();
            for c in out.chars() {
                prop_assert!(!is_unsafe(c) || (c == '\n' && newlines) || (c == '\t' && keep));
                prop_assert!(c.is_ascii() || !ascii);
            }
            let shown = escape_line(&text);
            prop_assert!(!shown.chars().any(is_unsafe));
        }

        #[test]
        fn hostile_characters_never_pass(text in "[\\x00-\\x20\\x7f-\\xa0\u{200b}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{e0000}-\u{e007f}a-c]{0,40}") {
            prop_assert!(!escape_line(&text).chars().any(is_unsafe));
        }

        #[test]
        fn plain_text_is_left_alone(text in "[ -~à-ÿ日-月]{0,40}") {
            prop_assert_eq!(escape_line(&text), text.as_str());
        }
    }
}
