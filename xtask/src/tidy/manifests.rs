//! Every crate of ours takes the workspace's lints, is not published, and is called as its folder.

use std::fs;

use cargo_metadata::Package;

use super::Verdict;
use crate::workspace::Workspace;

/// The licence of everything here.
const OUR_LICENCE: &str = "MIT OR Apache-2.0";

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let members = workspace.members();
    Verdict {
        looked_at: format!("{} Cargo.toml files", members.len()),
        problems: members.iter().flat_map(|package| problems(package)).collect(),
        warnings: Vec::new(),
    }
}

fn problems(package: &Package) -> Vec<String> {
    let mut problems = Vec::new();
    let name = &package.name;
    let manifest = fs::read_to_string(&package.manifest_path).unwrap_or_default();
    if !takes_workspace_lints(&manifest) {
        problems.push(format!(
            "{name} does not take the workspace's lints: add `[lints]` and `workspace = true` to {}",
            package.manifest_path
        ));
    }
    if package.publish.as_deref() != Some(&[]) {
        problems.push(format!("{name} could be published: add `publish.workspace = true`"));
    }
    if package.license.as_deref() != Some(OUR_LICENCE) {
        problems.push(format!("{name} is not under `{OUR_LICENCE}`: add `license.workspace = true`"));
    }
    let folder = package.manifest_path.parent().and_then(|folder| folder.file_name());
    let expected = match folder {
        Some("xtask") => "xtask".to_owned(),
        Some(folder) => format!("relaycode-{folder}"),
        None => return problems,
    };
    if name.as_str() != expected {
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
