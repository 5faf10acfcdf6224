//! The crates that promise to do no I/O do not even name the modules that could.
//!
//! The search is for plain text in non-test code: crude, but a crate that needs a way around it is
//! no longer pure.

use super::Verdict;
use crate::workspace::{Source, Workspace};

/// Crates that take bytes and give bytes.
const PURE: &[&str] = &["crates/text/src/", "crates/change/src/"];

/// What such a crate does not name. The clock and threads are not here: the syntax check has a time budget, and parses on
/// as many threads as it is told.
const FORBIDDEN: &[&str] = &["std::fs", "std::net", "std::process", "std::env", "std::io::std"];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let pure: Vec<&Source> = workspace
        .sources
        .iter()
        .filter(|source| !source.is_test())
        .filter(|source| PURE.iter().any(|folder| source.path.starts_with(folder)))
        .collect();
    Verdict {
        looked_at: format!("{} files that do no I/O", pure.len()),
        problems: pure.iter().flat_map(|source| problems(source)).collect(),
        warnings: Vec::new(),
    }
}

fn problems(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            problems.push(format!(
                "{}:{} names `{word}`; this crate does no I/O: take what it needs as an argument",
                source.path,
                number + 1
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_is_found_and_comments_are_not() {
        let source = Source {
            path: "crates/change/src/x.rs".into(),
            text: "//! Never std::fs.\nuse std::collections::BTreeMap;\nlet a = std::fs::read(p);\n".into(),
        };
        let found = problems(&source);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/change/src/x.rs:3 names `std::fs`"));
    }
}
