//! The key that somebody may have meant.

use relaycode_text::nearest::distance;

use super::keys::{KEYS, SECTIONS};

/// The full name of the key, or the name of the section, that is most like `name`: one that is the same
/// but for its section or its case, or that differs in a letter or two.
pub(super) fn nearest_key(name: &str) -> Option<&'static str> {
    let last = |full: &'static str| full.rsplit('.').next().unwrap_or(full);
    let keys = KEYS.iter().map(|key| key.name);
    let sections = SECTIONS.iter().map(|(section, _)| *section);
    let candidates = keys.flat_map(|full| [(full, full), (last(full), full)]);
    candidates
        .chain(sections.map(|section| (section, section)))
        .filter_map(|(spelling, full)| Some((distance(name, spelling, 3)?, full)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, full)| full)
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
            assert_eq!(nearest_key(typed), Some(meant), "{typed}");
        }
        for odd in ["", "x", "colour", "core.colour", &"a".repeat(100_000)] {
            assert_eq!(nearest_key(odd), None, "{}", &odd[..odd.len().min(20)]);
        }
    }
}
