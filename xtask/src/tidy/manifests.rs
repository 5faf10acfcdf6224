//! Every crate of ours takes the workspace's lints, is not published, and is called as its folder.

use std::fs;

use super::Verdict;
use crate::workspace::{Package, Workspace};

/// The licence of everything here.
const OUR_LICENCE: &str = "MIT OR Apache-2.0";

pub(super) fn check(workspace: &Workspace) -> Verdict {
    Verdict {
        looked_at: format!("{} Cargo.toml files", workspace.members().count()),
        problems: workspace.members().flat_map(problems).collect(),
        warnings: Vec::new(),
    }
}

fn problems(package: &Package) -> Vec<String> {
    let mut problems = Vec::new();
    let name = &package.name;
    let manifest = fs::read_to_string(&package.manifest).unwrap_or_default();
    if !takes_workspace_lints(&manifest) {
        problems.push(format!(
            "{name} does not take the workspace's lints: add `[lints]` and `workspace = true` to {}",
            package.manifest.display()
        ));
    }
    if package.publishable {
        problems.push(format!("{name} could be published: add `publish.workspace = true`"));
    }
    if package.license.as_deref() != Some(OUR_LICENCE) {
        problems.push(format!("{name} is not under `{OUR_LICENCE}`: add `license.workspace = true`"));
    }
    let mut folders = package.manifest.iter().rev().skip(1).map(|folder| folder.to_string_lossy());
    let (folder, above) = (folders.next().unwrap_or_default(), folders.next().unwrap_or_default());
    let expected = match (&*above, &*folder) {
        (_, "xtask") => "xtask".to_owned(),
        ("proofs", _) => format!("relaycode-proof-{folder}"),
        _ => format!("relaycode-{folder}"),
    };
    if *name != expected {
        problems.push(format!("{name} should be called `{expected}`, as its folder"));
    }
    problems
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let plain: String = line.split_whitespace().collect();
        let in_section = section == "[lints]" && plain == "workspace=true";
        if in_section || (section.is_empty() && plain == "lints.workspace=true") {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::takes_workspace_lints;

    #[test]
    fn lints_are_taken_only_from_their_own_section() {
        assert!(takes_workspace_lints("[package]\n[lints]\nworkspace = true\n"));
        assert!(takes_workspace_lints("lints.workspace = true\n[package]\n"));
        assert!(!takes_workspace_lints("[package]\nworkspace = true\n"));
        assert!(!takes_workspace_lints("[lints.rust]\nworkspace = true\n"));
        assert!(!takes_workspace_lints(""));
    }
}
