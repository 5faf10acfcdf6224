//! The end of a path that says which lines are wanted: `:raw`, `:N`, `:A-B`, `:A+C`, and the two together.

/// Which part of a file is wanted, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReadSelector {
    pub raw: bool,
    pub lines: Option<LineSelection>,
}

/// Lines, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineSelection {
    pub first: usize,
    /// Inclusive; `None`: to the end.
    pub last: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SelectorError {
    #[error("Line selector 0 is invalid; lines are 1-indexed. Use :1.")]
    Zero,
    #[error("`:{0}` asks for no lines; the number behind `+` is at least 1")]
    NoLines(String),
    #[error("`:{0}` ends before it begins")]
    Backwards(String),
}

/// A path and its selector. What is no selector stays part of the path.
pub(super) fn split_selector(text: &str) -> Result<(&str, ReadSelector), SelectorError> {
    let Some((path, last)) = split_part(text)? else { return Ok((text, ReadSelector::default())) };
    // A second one, of the other kind.
    if let Some((shorter, first)) = split_part(path)?
        && first.raw != last.raw
    {
        let lines = first.lines.or(last.lines);
        return Ok((shorter, ReadSelector { raw: true, lines }));
    }
    Ok((path, last))
}

fn split_part(text: &str) -> Result<Option<(&str, ReadSelector)>, SelectorError> {
    let Some((path, part)) = text.rsplit_once(':').filter(|(path, _)| !path.is_empty()) else {
        return Ok(None);
    };
    if part == "raw" {
        return Ok(Some((path, ReadSelector { raw: true, lines: None })));
    }
    let lines = read_lines(part)?;
    Ok(lines.map(|lines| (path, ReadSelector { raw: false, lines: Some(lines) })))
}

fn read_lines(part: &str) -> Result<Option<LineSelection>, SelectorError> {
    let (first, rest) = match part.find(['-', '+']) {
        Some(at) => (&part[..at], Some((&part[at..=at], &part[at + 1..]))),
        None => (part, None),
    };
    let Some(first) = number(first) else { return Ok(None) };
    let last = match rest.map(|(sign, text)| (sign, number(text))) {
        None => None,
        Some((_, None)) => return Ok(None),
        Some((sign, Some(number))) => Some((sign, number)),
    };
    if first == 0 {
        return Err(SelectorError::Zero);
    }
    let last = match last {
        Some(("+", 0)) => return Err(SelectorError::NoLines(part.to_string())),
        Some(("+", count)) => Some(first.saturating_add(count - 1)),
        Some((_, last)) if last < first => return Err(SelectorError::Backwards(part.to_string())),
        Some((_, last)) => Some(last),
        None => None,
    };
    Ok(Some(LineSelection { first, last }))
}

/// `12` or `L12`. A number too large for any file is one that no file reaches.
fn number(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('L').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (&str, bool, Option<(usize, Option<usize>)>) {
        let (path, ReadSelector { raw, lines }) = split_selector(text).unwrap();
        (path, raw, lines.map(|lines| (lines.first, lines.last)))
    }

    #[test]
    fn selector_raw() {
        assert_eq!(split("a.rs:raw"), ("a.rs", true, None));
    }

    #[test]
    fn selector_open() {
        assert_eq!(split("a.rs:50"), ("a.rs", false, Some((50, None))));
        assert_eq!(split("a.rs:L50"), ("a.rs", false, Some((50, None))));
    }

    #[test]
    fn selector_range() {
        assert_eq!(split("a.rs:50-100"), ("a.rs", false, Some((50, Some(100)))));
        assert_eq!(split("a.rs:L50-L100"), ("a.rs", false, Some((50, Some(100)))));
        assert_eq!(split("a.rs:7-7"), ("a.rs", false, Some((7, Some(7)))));
    }

    #[test]
    fn selector_count() {
        assert_eq!(split("a.rs:50+10"), ("a.rs", false, Some((50, Some(59)))));
        assert_eq!(split("a.rs:L50+L1"), ("a.rs", false, Some((50, Some(50)))));
    }

    #[test]
    fn selector_range_and_raw_in_either_order() {
        assert_eq!(split("a.rs:5-6:raw"), ("a.rs", true, Some((5, Some(6)))));
        assert_eq!(split("a.rs:raw:5-6"), ("a.rs", true, Some((5, Some(6)))));
    }

    #[test]
    fn what_is_no_selector_belongs_to_the_path() {
        for path in
            ["a.rs", "a.zip:inner/file", "db.sqlite:table:key", "a:5x", "a:-5", "a:5-", "a:", ":5", "c:\\x"]
        {
            assert_eq!(split(path), (path, false, None));
        }
        assert_eq!(split("a.zip:x:5"), ("a.zip:x", false, Some((5, None))));
    }

    #[test]
    fn error_line_zero() {
        let said = split_selector("a.rs:0").unwrap_err().to_string();
        assert_eq!(said, "Line selector 0 is invalid; lines are 1-indexed. Use :1.");
        assert_eq!(split_selector("a.rs:0-5"), Err(SelectorError::Zero));
    }

    #[test]
    fn error_no_lines() {
        assert_eq!(split_selector("a.rs:5+0"), Err(SelectorError::NoLines("5+0".to_string())));
    }

    #[test]
    fn error_backwards() {
        assert_eq!(split_selector("a.rs:5-4").unwrap_err().to_string(), "`:5-4` ends before it begins");
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        assert_eq!(split("a:99999999999999999999"), ("a", false, Some((usize::MAX, None))));
        assert_eq!(split("a:5+99999999999999999999"), ("a", false, Some((5, Some(usize::MAX)))));
    }
}
