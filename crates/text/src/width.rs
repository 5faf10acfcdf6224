//! How wide text is on a terminal, and how to make it fit.
//!
//! Widths are cells: a CJK character takes two, a combining mark none. Text that is cut always ends in an
//! ellipsis, and is never wider than asked. Escape foreign text *before* measuring it: control characters
//! have no width.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// How many zero-width marks may follow one another; more are cut, so that text without width is bounded
/// too.
const MARKS: usize = 8;

/// Shows that something was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ellipsis {
    /// `…`
    #[default]
    Unicode,
    /// `...`
    Ascii,
}

impl Ellipsis {
    pub fn as_str(self) -> &'static str {
        match self {
            Ellipsis::Unicode => "…",
            Ellipsis::Ascii => "...",
        }
    }
}

/// Width of `text` in cells.
///
/// ```
/// assert_eq!(relaycode_text::width::cells("日本 ok"), 7);
/// ```
pub fn cells(text: &str) -> usize {
    text.chars().map(char_cells).sum()
}

/// `text` if it fits into `limit` cells, else its beginning and an ellipsis.
///
/// ```
/// use relaycode_text::width::{clip, Ellipsis};
/// assert_eq!(clip("return total;", 8, Ellipsis::Unicode), "return …");
/// ```
pub fn clip(text: &str, limit: usize, ellipsis: Ellipsis) -> Cow<'_, str> {
    if fits(text, limit) {
        return Cow::Borrowed(text);
    }
    let sign = head(ellipsis.as_str(), limit);
    let head = head(text, limit - cells(sign));
    Cow::Owned(format!("{head}{sign}"))
}

/// Fits a path into `limit` cells by cutting its middle, so that its beginning and the file name both stay.
/// The end gets two thirds of the room, or all of it if the name needs it.
///
/// ```
/// use relaycode_text::width::{shorten_path, Ellipsis};
/// assert_eq!(shorten_path("src/components/cart/total.ts", 20, Ellipsis::Unicode), "src/compon…/total.ts");
/// ```
pub fn shorten_path(path: &str, limit: usize, ellipsis: Ellipsis) -> Cow<'_, str> {
    if fits(path, limit) {
        return Cow::Borrowed(path);
    }
    let sign = head(ellipsis.as_str(), limit);
    let room = limit - cells(sign);
    let name = path.rfind('/').map_or(path, |slash| &path[slash..]);
    let back = (room * 2).div_ceil(3).max(cells(name)).min(room);
    let mut tail = tail(path, back);
    // Begin at a path component if one begins in the first half of what is kept.
    if let Some(slash) = tail.find('/')
        && slash * 2 < tail.len()
    {
        tail = &tail[slash..];
    }
    let head = head(path, room - cells(tail));
    Cow::Owned(format!("{head}{sign}{tail}"))
}

/// Breaks `text` between words into lines of at most `limit` cells, all but the first indented by `indent`
/// blanks. A word wider than a line stays whole, so that it can be copied.
///
/// ```
/// use relaycode_text::width::wrap;
/// assert_eq!(wrap("note: a few more words", 12, 6), "note: a few\n      more\n      words");
/// ```
pub fn wrap(text: &str, limit: usize, indent: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut used = 0;
    let mut first = true;
    let mut has_word = false;
    for word in text.split(' ') {
        let width = cells(word);
        if has_word && used + 1 + width > limit {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = indent;
            has_word = false;
        } else if !first {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
        first = false;
        has_word |= !word.is_empty();
    }
    out
}

fn char_cells(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Whether `text` takes at most `limit` cells and has no pile of zero-width marks.
fn fits(text: &str, limit: usize) -> bool {
    head(text, limit).len() == text.len()
}

/// The longest beginning of `text` that takes at most `limit` cells.
fn head(text: &str, limit: usize) -> &str {
    &text[..fitting_bytes(text.chars(), limit)]
}

/// The longest end of `text` that takes at most `limit` cells.
fn tail(text: &str, limit: usize) -> &str {
    &text[text.len() - fitting_bytes(text.chars().rev(), limit)..]
}

/// How many bytes of `chars` take at most `limit` cells.
fn fitting_bytes(chars: impl Iterator<Item = char>, limit: usize) -> usize {
    let (mut used, mut marks) = (0, 0);
    let fits = |c: &char| {
        let width = char_cells(*c);
        used += width;
        marks = if width == 0 { marks + 1 } else { 0 };
        used <= limit && marks <= MARKS
    };
    chars.take_while(fits).map(char::len_utf8).sum()
}

/// Foreign text for a message: one line, escaped, at most `most` cells wide.
pub fn clip_for_message(text: &str, most: usize) -> String {
    // Cut before escaping: a name may be as long as the file it comes from.
    let head: String = text.chars().take(most + 1).collect();
    clip(&crate::escape::escape_line(&head), most, Ellipsis::default()).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(clip("abc", 3, Ellipsis::Unicode), "abc");
        assert_eq!(shorten_path("a/b.rs", 6, Ellipsis::Ascii), "a/b.rs");
        assert_eq!(clip("", 0, Ellipsis::Ascii), "");
    }

    #[test]
    fn wide_characters_are_not_cut_in_half() {
        assert_eq!(clip("日本語", 4, Ellipsis::Unicode), "日…");
        assert_eq!(clip("日本語", 5, Ellipsis::Ascii), "日...");
        assert_eq!(clip("abcdef", 2, Ellipsis::Ascii), "..");
    }

    #[test]
    fn the_name_of_the_file_survives() {
        let path = "packages/very-long-package-name/source/deeply/nested/index.ts";
        for limit in 12..40 {
            let short = shorten_path(path, limit, Ellipsis::Unicode);
            assert!(short.ends_with("/index.ts"), "{limit}: {short}");
            assert!(cells(&short) <= limit);
        }
        assert_eq!(shorten_path("averyveryverylongname.rs", 12, Ellipsis::Ascii), "...ngname.rs");
    }

    #[test]
    fn words_are_wrapped_but_never_broken() {
        assert_eq!(wrap("", 10, 2), "");
        assert_eq!(wrap("one", 1, 0), "one");
        assert_eq!(wrap("a verylongword b", 6, 2), "a\n  verylongword\n  b");
        assert_eq!(wrap("  kept  blanks", 80, 4), "  kept  blanks");
    }

    proptest! {
        #[test]
        fn wrapping_keeps_every_word(text in "[a-z日]{1,9}( [a-z日]{1,9}){0,20}", limit in 1_usize..40, indent in 0_usize..8) {
            let out = wrap(&text, limit, indent);
            prop_assert!(out.split_whitespace().eq(text.split_whitespace()));
            for line in out.lines() {
                prop_assert!(cells(line) <= limit || line.split_whitespace().count() == 1);
            }
        }

        #[test]
        fn nothing_comes_out_wider_than_asked(text in any::<String>(), limit in 0_usize..60, ascii: bool) {
            let ellipsis = if ascii { Ellipsis::Ascii } else { Ellipsis::Unicode };
            prop_assert!(cells(&clip(&text, limit, ellipsis)) <= limit);
            prop_assert!(cells(&shorten_path(&text, limit, ellipsis)) <= limit);
        }

        #[test]
        fn what_fits_is_never_cut(text in "[ -~日-月]{0,20}") {
            prop_assert_eq!(clip(&text, cells(&text), Ellipsis::Unicode), text.as_str());
            prop_assert_eq!(shorten_path(&text, cells(&text), Ellipsis::Unicode), text.as_str());
        }
    }
}
