//! Foreign text made safe to put into a page.
//!
//! The invariant: the output is text and nothing else, between tags as well as inside a quoted attribute;
//! no browser takes any of it for markup. Characters a reader could not see (control characters, hidden and
//! reordering ones that no script or emoji needs) are spelled out, as on a terminal.

use std::borrow::Cow;

use crate::hidden::suspicious_chars;

/// Text of several lines. Tabs and line feeds stay, and a carriage return before a line feed counts as part
/// of the line end.
///
/// ```
/// assert_eq!(relaycode_text::html::escape_text("<b a='1'> & \"x\"\r\n"), "&lt;b a=&#39;1&#39;&gt; &amp; &quot;x&quot;\n");
/// assert_eq!(relaycode_text::html::escape_text("a\x1b[31m\u{202e}"), "a\\u{1b}[31m\\u{202e}");
/// ```
pub fn escape_text(text: &str) -> Cow<'_, str> {
    convert(text, true, true)
}

/// One line, for titles and attributes: line feeds and tabs are spelled out too.
///
/// ```
/// assert_eq!(relaycode_text::html::escape_line("a\n\"b"), "a\\n&quot;b");
/// ```
pub fn escape_line(text: &str) -> Cow<'_, str> {
    convert(text, false, true)
}

/// The same without the HTML escapes, for other formats that hold text.
///
/// ```
/// assert_eq!(relaycode_text::html::show_hidden("<b>\0\r\n"), "<b>\\u{0}\n");
/// ```
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    convert(text, true, false)
}

fn convert(text: &str, lines: bool, markup: bool) -> Cow<'_, str> {
    let mut hidden = suspicious_chars(text).map(|(at, _)| at).peekable();
    let mut out = String::new();
    // Everything before this offset is in `out` already.
    let mut done = 0;
    for (at, c) in text.char_indices() {
        let bad = hidden.next_if_eq(&at).is_some();
        let after = at + c.len_utf8();
        let replacement: Cow<'_, str> = match c {
            '&' if markup => "&amp;".into(),
            '<' if markup => "&lt;".into(),
            '>' if markup => "&gt;".into(),
            '"' if markup => "&quot;".into(),
            '\'' if markup => "&#39;".into(),
            '\r' if lines && text.as_bytes().get(after) == Some(&b'\n') => "".into(),
            '\n' | '\t' if lines => continue,
            _ if bad || c.is_ascii_control() => c.escape_default().to_string().into(),
            _ => continue,
        };
        out.push_str(&text[done..at]);
        out.push_str(&replacement);
        done = after;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn emoji_and_scripts_keep_what_they_need() {
        for plain in ["👩\u{200D}💻", "می\u{200C}خواهم", "plain\ttext\nover lines", "日本語 größe"]
        {
            assert_eq!(escape_text(plain), plain);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(escape_text("a\u{202e}b\u{200b}\u{2028}\0"), "a\\u{202e}b\\u{200b}\\u{2028}\\u{0}");
        assert_eq!(escape_text("10%\r20%\r\n"), "10%\\r20%\n");
        assert_eq!(escape_line("10%\r\n\u{c}"), "10%\\r\\n\\u{c}");
    }

    proptest! {
        #[test]
        fn nothing_that_means_something_to_a_browser_passes(raw in any::<String>()) {
            for out in [escape_text(&raw), escape_line(&raw)] {
                let plain = !out.contains(['<', '>', '"', '\'', '\r', '\0', '\u{1b}']);
                prop_assert!(plain, "{:?}", out);
                for (at, _) in out.match_indices('&') {
                    let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
                    prop_assert!(known.iter().any(|entity| out[at..].starts_with(entity)));
                }
            }
            prop_assert!(!escape_line(&raw).contains(['\n', '\t']));
        }
    }
}
