//! A text whose only new lines begin with the signs of a diff: somebody meant the lines behind them.

use std::collections::{HashMap, HashSet};

use crate::plan::findings::text_lines;

/// Whether all lines that are new begin with `+`, or with `-` and a line that was there, and no line did so before.
pub(super) fn has_diff_signs(before: &str, after: &str) -> bool {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in text_lines(before) {
        *left.entry(line).or_default() += 1;
    }
    let take = |line: &str, left: &mut HashMap<&str, usize>| {
        left.get_mut(line).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    };
    let new: Vec<&str> = text_lines(after).filter(|line| !take(line, &mut left)).collect();
    let is_signed = |line: &&str| match line.split_at_checked(1) {
        Some(("+", rest)) => !rest.trim().is_empty(),
        Some(("-", gone)) => !gone.trim().is_empty() && left.get(gone).is_some_and(|count| *count > 0),
        _ => false,
    };
    !new.is_empty()
        && new.iter().all(is_signed)
        && !text_lines(before).any(|line| line.starts_with(['+', '-']))
}

/// Whether a new line of code begins with `+` or `> ` at the margin, or with `-` and a line that goes, and no line of the
/// file did so before: a sign of a diff or a quote that stayed on some lines.
pub(super) fn has_signs_on_some(whole: &str, before: &str, after: &str) -> bool {
    let begins = |line: &str, next: fn(char) -> bool| line[1..].starts_with(next);
    let mut old: Option<HashSet<&str>> = None;
    let mut goes = |line: &str| {
        !line.trim().is_empty() && old.get_or_insert_with(|| text_lines(before).collect()).contains(line)
    };
    let is_sign = |line: &&str| match line.as_bytes().first() {
        Some(b'+') => begins(line, |c| c == ' ' || c.is_alphabetic()),
        Some(b'>') => begins(line, |c| c == ' '),
        Some(b'-') => goes(&line[1..]),
        _ => false,
    };
    let Some(found) = text_lines(after).find(is_sign) else { return false };
    !text_lines(whole).any(|line| line.starts_with(&found[..1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_the_signs_of_a_diff_are_told_from_lines_of_a_file() {
        let old = "x\ny\nz\n";
        for new in ["x\ny\nz\n+w\n", "x\n-y\nz\n", "x\n-y\n+w\nz\n"] {
            assert!(has_diff_signs(old, new), "{new:?}");
        }
        for new in ["x\ny\nz\nw\n", "x\ny\nz\n- w\n", "x\ny\nz\n+\n", "x\ny\nw\n+w\n", old, ""] {
            assert!(!has_diff_signs(old, new), "{new:?}");
        }
        assert!(!has_diff_signs("+a\nb\n", "+a\nb\n+c\n"), "the file has such lines");
    }

    #[test]
    fn a_sign_on_some_lines_of_code_is_found() {
        let old = "f(x)\ng(y)\n";
        for new in ["f(x)\nh(z)\n+g(z)\n", "-g(y)\nh(z)\n", "h(z)\n> g(z)\n", "+    h(z)\ng(z)\n"] {
            assert!(has_signs_on_some(old, old, new), "{new:?}");
        }
        for new in ["h(z)\n  + z\n", "++i\n", "-x\n", ">\n", "+\n", "+1\n", "-\n", ""] {
            assert!(!has_signs_on_some(old, old, new), "{new:?}");
        }
        assert!(!has_signs_on_some("+ a\nf(x)\n", "f(x)\n", "+ b\n"), "the file has such lines");
    }
}
