//! Every source says what it is for before anything else, and every lint that is switched off says
//! why.

use super::Verdict;
use crate::workspace::{Source, Workspace};

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let problems = workspace
        .sources
        .iter()
        .flat_map(|source| {
            let mut problems = unexplained_allowances(source);
            problems.extend(missing_header(source));
            problems
        })
        .collect();
    Verdict {
        looked_at: format!("headers and lint allowances of {} files", workspace.sources.len()),
        problems,
        warnings: Vec::new(),
    }
}

fn missing_header(source: &Source) -> Option<String> {
    let exempt = source.is_test() || source.path.ends_with("/build.rs");
    if exempt || source.text.starts_with("//!") {
        return None;
    }
    Some(format!(
        "{} begins without a `//!` header: say what it is for and which invariant it keeps",
        source.path
    ))
}

fn unexplained_allowances(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut problems = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if opens_allowance(line) && !attribute_from(&lines[at..]).contains("reason =") {
            problems.push(format!("{}:{} switches a lint off without `reason = \"…\"`", source.path, at + 1));
        }
    }
    problems
}

fn opens_allowance(line: &str) -> bool {
    let line = line.trim_start();
    ["#[allow(", "#![allow(", "#[expect(", "#![expect("].iter().any(|opening| line.starts_with(opening))
}

/// The text of the attribute that opens on the first line: up to the line that closes it.
fn attribute_from(lines: &[&str]) -> String {
    let end = lines.iter().position(|line| line.contains(")]")).unwrap_or(0);
    lines[..=end].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_source_without_header_is_found() {
        assert!(missing_header(&source("src/a.rs", "use x;")).is_some());
        assert!(missing_header(&source("src/a.rs", "//! Apples.")).is_none());
        assert!(missing_header(&source("src/a/tests.rs", "use super::*;")).is_none());
        assert!(missing_header(&source("crates/a/build.rs", "fn main() {}")).is_none());
    }

    #[test]
    fn an_allowance_without_reason_is_found() {
        let text = "//! A.\n#[allow(clippy::unwrap_used)]\nfn a() {}\n#[expect(clippy::panic, reason = \"b\")]\nfn b() {}\n";
        assert_eq!(
            unexplained_allowances(&source("src/a.rs", text)),
            ["src/a.rs:2 switches a lint off without `reason = \"…\"`"]
        );
    }

    #[test]
    fn a_reason_may_stand_on_a_later_line() {
        let text = "#![allow(\n    clippy::print_stdout,\n    reason = \"output\"\n)]\n";
        assert!(unexplained_allowances(&source("src/a.rs", text)).is_empty());
    }
}
