//! The key that somebody may have meant.

use super::keys::{KEYS, SECTIONS};

/// Characters of a name that is looked at; no key is longer.
const LONGEST: usize = 48;

/// The full name of the key, or the name of the section, that is most like `name`: one that is the same
/// but for its section or its case, or that differs in a letter or two.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let wanted = folded(name)?;
    let last = |full: &'static str| full.rsplit('.').next().unwrap_or(full);
    let keys = KEYS.iter().map(|key| key.name);
    let sections = SECTIONS.iter().map(|(section, _)| *section);
    let candidates = keys.flat_map(|full| [(full, full), (last(full), full)]);
    candidates
        .chain(sections.map(|section| (section, section)))
        .filter_map(|(spelling, full)| Some((distance(&wanted, &folded(spelling)?), full)))
        .filter(|(distance, _)| *distance <= (wanted.len() / 3).min(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, full)| full)
}

fn folded(name: &str) -> Option<Vec<char>> {
    let chars: Vec<char> = name.chars().take(LONGEST + 1).filter(|c| !matches!(c, '_' | '-')).collect();
    (chars.len() <= LONGEST).then(|| chars.iter().flat_map(|c| c.to_lowercase()).collect())
}

/// How many letters have to be put in, taken out or changed.
fn distance(one: &[char], other: &[char]) -> usize {
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
    fn a_slip_leads_to_the_key_that_was_meant() {
        for (typed, meant) in [
            ("linter", "patch.linter"),
            ("patch.lintr", "patch.linter"),
            ("patch.Linter", "patch.linter"),
            ("patch.approval_mode", "patch.approvalMode"),
            ("projectID", "projectId"),
            ("project_id", "projectId"),
            ("Patch", "patch"),
            ("watchers", "watcher"),
            ("logLevel", "core.logLevel"),
        ] {
            assert_eq!(nearest(typed), Some(meant), "{typed}");
        }
        for odd in ["", "x", "theme", "core.colour", &"a".repeat(100_000)] {
            assert_eq!(nearest(odd), None, "{}", &odd[..odd.len().min(20)]);
        }
    }
}
