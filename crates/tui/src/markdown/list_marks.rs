//! What the beginning of a line says: an item of a list, a heading, a fence, a rule, HTML.

use super::block::ItemMark;

/// A mark of a list, and what it takes.
pub(super) struct FoundItem {
    pub(super) mark: ItemMark,
    /// Columns up to its text, from the beginning of the line.
    pub(super) indent: usize,
    /// Bytes up to its text.
    pub(super) length: usize,
    pub(super) is_empty: bool,
}

/// `text` begins with at most three blanks.
pub(super) fn find_item(text: &str) -> Option<FoundItem> {
    let blanks = leading_blanks(text);
    let rest = &text[blanks..];
    let (mark, length) = match *rest.as_bytes().first()? {
        b'-' | b'*' | b'+' => (ItemMark::Bullet, 1),
        b'0'..=b'9' => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let sign = rest[digits..].chars().next().filter(|sign| matches!(sign, '.' | ')'))?;
            (ItemMark::Number(rest[..digits].parse().ok().filter(|_| digits <= 9)?, sign), digits + 1)
        }
        _ => return None,
    };
    let behind = &rest[length..];
    let gap = leading_blanks(behind);
    let is_empty = behind.trim().is_empty();
    if gap == 0 && !is_empty {
        return None;
    }
    // More blanks begin code within the item.
    let gap = if is_empty || gap > 4 { 1 } else { gap };
    let taken = blanks + length + gap;
    Some(FoundItem { mark, indent: taken, length: taken.min(text.len()), is_empty })
}

/// `[ ]` or `[x]` before the text of an item, and the text.
pub(super) fn find_task(source: &str) -> Option<(bool, &str)> {
    let rest = source.strip_prefix('[')?;
    let done = match rest.chars().next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    Some((done, rest[1..].strip_prefix("] ")?))
}

/// The level and the text.
pub(super) fn find_heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim();
    // Signs at the end belong to the heading only behind a blank.
    let open = rest.trim_end_matches('#');
    let text = if open.is_empty() || open.ends_with(' ') { open.trim_end() } else { rest };
    Some((level, text))
}

/// The sign of a fence, how many of it, and the name of the language.
pub(super) fn find_fence(text: &str) -> Option<(u8, usize, &str)> {
    let sign = *text.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = text.bytes().take_while(|byte| *byte == sign).count();
    let name = text[length..].trim();
    (length >= 3 && !(sign == b'`' && name.contains('`'))).then_some((sign, length, name))
}

pub(super) fn closes_fence(line: &str, (sign, length): (u8, usize)) -> bool {
    let text = line.trim_end();
    let blanks = leading_blanks(text);
    let signs = text[blanks..].bytes().take_while(|byte| *byte == sign).count();
    blanks <= 3 && signs >= length && text.len() == blanks + signs
}

pub(super) fn is_rule(text: &str) -> bool {
    let Some(sign) = text.bytes().next().filter(|sign| matches!(sign, b'-' | b'*' | b'_')) else {
        return false;
    };
    text.bytes().filter(|byte| *byte == sign).count() >= 3
        && text.bytes().all(|byte| byte == sign || byte == b' ')
}

/// The level of the heading that this line makes of the paragraph above.
pub(super) fn underline_level(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let sign = text.bytes().next()?;
    let same = text.bytes().all(|byte| byte == sign);
    match sign {
        b'=' if same => Some(1),
        b'-' if same => Some(2),
        _ => None,
    }
}

/// Whether a block of HTML begins here.
pub(super) fn begins_html(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('<') else { return false };
    let name = rest.trim_start_matches(['/', '!', '?']);
    let letters = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let behind = name[letters..].chars().next();
    // An address in angle brackets is a link.
    (letters > 0 && behind.is_none_or(|c| matches!(c, ' ' | '>' | '/') && !name[letters..].starts_with("//")))
        || rest.starts_with("!--")
}

/// Signs that may still become a fence, a rule, an item or a heading.
pub(super) fn is_half_mark(text: &str) -> bool {
    let signs = text.len() < 3 && text.bytes().all(|byte| b"`~-*_+=>#".contains(&byte));
    let digits = text.trim_end_matches(['.', ')']);
    signs || (!digits.is_empty() && text.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn leading_blanks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}
