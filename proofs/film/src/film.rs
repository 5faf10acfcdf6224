//! A film: what a terminal showed, frame by frame, and for how long. What differs from run to run (the time
//! of day, how long a command took) is normalised first.

use vt100::{Parser, Screen};

pub(super) const COLUMNS: u16 = 90;
pub(super) const ROWS: u16 = 24;

/// Minutes after midnight of the first card; each further one is some minutes later.
const FIRST_CARD: usize = 14 * 60 + 2;
const BETWEEN_CARDS: usize = 3;
/// Precedes the duration of a check.
const CHECKED: &[u8] = b"checked in ";
const TOOK: &[u8] = b"0.3 s";

/// What was seen.
pub(super) struct Film {
    pub(super) frames: Vec<Frame>,
}

/// What was seen for a while.
pub(super) struct Frame {
    pub(super) screen: Screen,
    /// What happens, for the viewer.
    pub(super) caption: &'static str,
    pub(super) milliseconds: u64,
}

impl Frame {
    /// What a terminal shows after these bytes.
    pub(super) fn of(written: &[u8], caption: &'static str, milliseconds: u64) -> Frame {
        let mut parser = Parser::new(ROWS, COLUMNS, 0);
        parser.process(&steady(written));
        Frame { screen: parser.screen().clone(), caption, milliseconds }
    }
}

/// The same bytes with the script's times.
fn steady(written: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(written.len());
    let mut cards = 0;
    let mut rest = written;
    while let Some(&byte) = rest.first() {
        if is_time(rest) && !out.last().is_some_and(|before| before.is_ascii_digit() || *before == b':') {
            let minutes = FIRST_CARD + cards * BETWEEN_CARDS;
            out.extend(format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60).as_bytes());
            cards += 1;
            rest = &rest[5..];
        } else if let Some(after) = rest.strip_prefix(CHECKED) {
            let number = after.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
            let unit: &[u8] = if after[number..].starts_with(b" ms") { b" ms" } else { b" s" };
            out.extend(CHECKED);
            out.extend(TOOK);
            rest = after[number..].strip_prefix(unit).unwrap_or(&after[number..]);
        } else {
            out.push(byte);
            rest = &rest[1..];
        }
    }
    out
}

/// `14:02`, and no further digit or part of a time.
fn is_time(bytes: &[u8]) -> bool {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let more = bytes.get(5).is_some_and(|byte| byte.is_ascii_digit() || *byte == b':');
    digit(0) && digit(1) && bytes.get(2) == Some(&b':') && digit(3) && digit(4) && !more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_scripts_and_everything_else_stays() {
        let written =
            "▸ 23:59  a.rs:12\n✓ checked in 11.7 s, 0 → 0\n✓ checked in 78 ms, 0\n▸ 00:01  b 12:34:56 112:30"
                .as_bytes();
        let steady = String::from_utf8(steady(written)).unwrap();
        assert_eq!(
            steady,
            "▸ 14:02  a.rs:12\n✓ checked in 0.3 s, 0 → 0\n✓ checked in 0.3 s, 0\n▸ 14:05  b 12:34:56 112:30"
        );
    }
}
