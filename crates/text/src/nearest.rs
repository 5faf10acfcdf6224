//! "Did you mean": the known names closest to one that does not exist.

/// Characters of a name that are compared; none of our names is longer.
const LONGEST: usize = 64;

/// Up to `most` of `names` that are most like `name`, best first: the same except for case and separators,
/// or a few letters away.
pub fn nearest_names<'a>(name: &str, names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let mut found: Vec<(usize, &str)> =
        names.into_iter().filter_map(|other| Some((distance(name, other, 4)?, other))).collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.dedup_by_key(|(_, name)| *name);
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// How many letters of `name` are wrong if `other` was meant, ignoring case and separators; `None` if that
/// is more than `most` or more than a third of them.
pub fn distance(name: &str, other: &str, most: usize) -> Option<usize> {
    let (wanted, other) = (folded(name)?, folded(other)?);
    let distance = edit_distance(&wanted, &other);
    (distance <= (wanted.len() / 3).min(most)).then_some(distance)
}

/// `; did you mean a, b or c?`, or nothing.
pub fn did_you_mean(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("; did you mean {} or `{last}`?", first.join(", "))
        }
    }
}

fn folded(name: &str) -> Option<Vec<char>> {
    let chars: Vec<char> = name.chars().take(LONGEST + 1).filter(|c| !matches!(c, '_' | '-' | '.')).collect();
    (!chars.is_empty() && chars.len() <= LONGEST)
        .then(|| chars.iter().flat_map(|c| c.to_lowercase()).collect())
}

/// Levenshtein distance: insertions, deletions, replacements.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_leads_to_the_name_that_was_meant() {
        let names = ["anthropic", "openai", "openrouter", "lm-studio"];
        assert_eq!(nearest_names("anthropc", names, 3), ["anthropic"]);
        assert_eq!(nearest_names("LMStudio", names, 3), ["lm-studio"]);
        assert_eq!(nearest_names("open-ai", names, 3)[0], "openai");
        assert_eq!(nearest_names(&"x".repeat(100_000), names, 3), Vec::<&str>::new());
        assert_eq!(nearest_names("", names, 3), Vec::<&str>::new());
        assert_eq!(did_you_mean(&["a", "b", "c"]), "; did you mean `a`, `b` or `c`?");
    }
}
