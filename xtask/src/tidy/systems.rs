//! What differs by system has one place in each crate: its `sys` module. Code outside of it that asks which system it is
//! compiled for falls behind unseen, as nothing compiles its other half.

use super::Verdict;
use crate::workspace::{Source, Workspace};

/// Folders with crates that are shipped.
const SHIPPED: &str = "crates/";
/// What may ask: the tests' own tools, which know real desktops and `/proc`.
const MAY_ASK: &[&str] = &["crates/testkit/"];

/// What a condition on the system names.
const ASKING: &[&str] = &["target_os", "target_family", "target_vendor", "(unix)", "(windows)"];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let bound: Vec<&Source> = workspace.sources.iter().filter(|source| is_bound(source)).collect();
    Verdict {
        looked_at: format!("{} files that are the same on every system", bound.len()),
        problems: bound.iter().flat_map(|source| problems(source)).collect(),
        warnings: Vec::new(),
    }
}

fn is_bound(source: &Source) -> bool {
    source.path.starts_with(SHIPPED)
        && !MAY_ASK.iter().any(|folder| source.path.starts_with(folder))
        && !source.path.contains("/src/sys/")
        && !source.is_test()
}

fn problems(source: &Source) -> Vec<String> {
    let asks = |line: &str| line.contains("cfg") && ASKING.iter().any(|word| line.contains(word));
    let lines = source.text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//") && asks(line))
        .map(|(number, _)| {
            format!(
                "{}:{} asks for the system: what differs by system belongs in the `sys` module of its crate",
                source.path,
                number + 1
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn conditions_on_the_system_are_found_outside_of_its_module() {
        let text =
            "// cfg(unix)\n#[cfg(target_os = \"linux\")]\nfn a() {}\nlet b = cfg!(windows);\n#[cfg(test)]\n";
        let found = problems(&source("crates/exec/src/job.rs", text));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/exec/src/job.rs:2 ") && found[1].contains(".rs:4 "));
        for (path, bound) in [
            ("crates/exec/src/job.rs", true),
            ("crates/exec/src/sys/linux/mod.rs", false),
            ("crates/exec/tests/it/main.rs", false),
            ("crates/testkit/src/lib.rs", false),
            ("proofs/bench/src/main.rs", false),
        ] {
            assert_eq!(is_bound(&source(path, "")), bound, "{path}");
        }
    }
}
