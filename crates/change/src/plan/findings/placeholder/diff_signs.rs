//! A text whose only new lines begin with the signs of a diff: somebody meant the lines behind them.

use std::collections::HashMap;

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
}
