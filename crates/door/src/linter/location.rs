//! `file:line:column: …`, the way most tools say where.

/// Where something is, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinterLocation<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
    /// A column stood there too.
    pub(super) column: bool,
    /// What follows, without the colon or dash before it.
    pub(super) rest: &'a str,
}

/// Reads `file:3: …`, `file:3:5: …`, `file:3:5:3:9: …` and `file:3:5 - …`.
pub(super) fn parse_colon_location(text: &str) -> Option<LinterLocation<'_>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let colon = from + bytes[from..].iter().position(|byte| *byte == b':')?;
        let digits = leading_digits(&text[colon + 1..]);
        if digits == 0 || colon == 0 {
            from = colon + 1;
            continue;
        }
        let line = parse_leading_number(&text[colon + 1..colon + 1 + digits]);
        let (end, column) = skip_columns(text, colon + 1 + digits);
        let after = &text[end..];
        let rest = after.strip_prefix(':').or_else(|| after.strip_prefix(" -"))?;
        return Some(LinterLocation { file: &text[..colon], line, column, rest: rest.trim_start() });
    }
}

/// Reads `file(3,5): …` and `file(3): …`.
pub(super) fn parse_paren_location(text: &str) -> Option<LinterLocation<'_>> {
    let close = text.find("): ")?;
    let open = text[..close].rfind('(')?;
    let inside = &text[open + 1..close];
    let line = inside.split(',').next()?;
    let numbers = !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let column = inside.contains(',');
    let (file, rest, line) = (&text[..open], &text[close + 3..], parse_leading_number(line));
    (open > 0 && numbers).then_some(LinterLocation { file, line, column, rest })
}

/// Reads `file:3:5` and nothing after it, as in ` --> src/lib.rs:1:21`.
pub(super) fn parse_bare_location(text: &str) -> Option<(&str, u64)> {
    let mut parts = text.trim().rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &str| !text.is_empty() && leading_digits(text) == text.len();
    (number(column) && number(line)).then(|| (file, parse_leading_number(line)))
}

fn skip_columns(text: &str, mut end: usize) -> (usize, bool) {
    let mut column = false;
    while text.as_bytes().get(end) == Some(&b':') {
        let more = leading_digits(&text[end + 1..]);
        if more == 0 {
            break;
        }
        column = true;
        end += 1 + more;
    }
    (end, column)
}

pub(super) fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The number that `text` begins with; a number too large for a line is as good as the largest.
pub(super) fn parse_leading_number(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold(0, |value: u64, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

/// The number before a word: `count_before("Found 3 errors in", "error")` is 3.
pub(super) fn count_before(text: &str, word: &str) -> Option<u64> {
    let before = text[..text.find(word)?].trim_end();
    let start = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
    (start < before.len()).then(|| parse_leading_number(&before[start..]))
}
