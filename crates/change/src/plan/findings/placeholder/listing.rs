//! A text whose lines begin with their numbers, as tools print files: `1 | x`, `1: x`. Nobody writes it to a file.

use crate::plan::findings::text_lines;

/// Whether every line has its number, and more than one line has.
pub(super) fn is_listing(text: &str) -> bool {
    let mut lines = text_lines(text).map(number_of);
    let Some(Some((first, sign))) = lines.next() else { return false };
    let mut wanted = first;
    let follows = lines.all(|line| {
        wanted += 1;
        line == Some((wanted, sign))
    });
    follows && wanted > first
}

/// The number at the beginning of a line, and the sign behind it.
fn number_of(line: &str) -> Option<(u32, char)> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let sign = rest.trim_start_matches(' ').chars().next().filter(|sign| "|│→:\t".contains(*sign))?;
    Some((line[..digits].parse().ok().filter(|number| *number < u32::MAX)?, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_its_line_numbers_is_a_listing() {
        for text in ["1 | x\n2 | y\n3 |\n", "  9→x\n 10→y\n", "1: x\n2: y\n"] {
            assert!(is_listing(text), "{text}");
        }
        for text in ["1 | x\n", "1 | x\n3 | y\n", "1. x\n2. y\n", "1 | x\ny\n", "x\n", "", "1 | x\n2: y\n"] {
            assert!(!is_listing(text), "{text}");
        }
    }
}
