//! Every crate of ours takes the workspace's lints, is not published, and is called as its folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::Verdict;
use crate::workspace::{Package, Workspace};

/// The licence of everything here.
const OUR_LICENCE: &str = "MIT OR Apache-2.0";

pub(super) fn check(workspace: &Workspace) -> Verdict {
    Verdict {
        looked_at: format!("{} Cargo.toml files", workspace.members().count()),
        problems: workspace.members().flat_map(|package| problems(package, workspace)).collect(),
        warnings: Vec::new(),
    }
}

fn problems(package: &Package, workspace: &Workspace) -> Vec<String> {
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
    let folder = package.manifest.parent().unwrap_or(&workspace.root).join("src");
    let sources = workspace.sources.iter().map(|source| (workspace.root.join(&source.path), source));
    let own: Vec<_> = sources.filter(|(path, _)| path.starts_with(&folder)).collect();
    problems.extend(own.iter().filter(|(path, _)| is_untested(path, &package.targets)).filter_map(
        |(_, source)| {
            let tests = source.text.lines().any(|line| line.trim() == "#[test]");
            tests.then(|| format!("the tests in {} never run: remove `test = false` of {name}", source.path))
        },
    ));
    problems
}

/// Whether a source of a package belongs to none of its targets that have tests. Which modules belong to which is not
/// known: where one target has tests, of the others only the files count that they begin with.
fn is_untested(path: &Path, targets: &[(PathBuf, bool)]) -> bool {
    if targets.iter().any(|(_, tested)| *tested) {
        return targets.iter().any(|(root, tested)| root == path && !tested);
    }
    true
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
    use super::*;

    #[test]
    fn files_whose_tests_would_not_run_are_known() {
        let (lib, main, other) = (Path::new("src/lib.rs"), Path::new("src/main.rs"), Path::new("src/a.rs"));
        let with_tests = [(lib.to_path_buf(), true), (main.to_path_buf(), false)];
        assert_eq!([lib, main, other].map(|path| is_untested(path, &with_tests)), [false, true, false]);
        let without = [(main.to_path_buf(), false)];
        assert_eq!([main, other].map(|path| is_untested(path, &without)), [true, true]);
    }

    #[test]
    fn lints_are_taken_only_from_their_own_section() {
        assert!(takes_workspace_lints("[package]\n[lints]\nworkspace = true\n"));
        assert!(takes_workspace_lints("lints.workspace = true\n[package]\n"));
        assert!(!takes_workspace_lints("[package]\nworkspace = true\n"));
        assert!(!takes_workspace_lints("[lints.rust]\nworkspace = true\n"));
        assert!(!takes_workspace_lints(""));
    }
}
