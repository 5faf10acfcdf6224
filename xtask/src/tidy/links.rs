//! What a page of the documentation points at is there. Addresses outside the repository are not
//! looked at: a test run needs no network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Verdict;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let pages = pages(&workspace.root, &["", "docs", "docs/reference"]);
    let mut links = 0;
    let mut problems = Vec::new();
    for (name, page) in &pages {
        let text = fs::read_to_string(page).unwrap_or_default();
        for target in local_targets(&text) {
            links += 1;
            if !page.with_file_name(target).exists() {
                problems.push(format!("{name} points at `{target}`, which is not there"));
            }
        }
    }
    Verdict { looked_at: format!("{links} links on {} pages", pages.len()), problems, warnings: Vec::new() }
}

/// The pages in these folders, by their names relative to the root.
pub(super) fn pages(root: &Path, folders: &[&str]) -> BTreeMap<String, PathBuf> {
    let entries =
        folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).into_iter().flatten().flatten());
    let paths = entries.map(|entry| entry.path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.strip_prefix(root).unwrap_or(&path).display().to_string(), path.clone())).collect()
}

/// The targets of `[text](target)` that are files here, without what follows a `#`.
fn local_targets(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split_once('#').map_or(target, |(file, _)| file))
        .filter(|target| !target.is_empty() && !target.contains(':'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::local_targets;

    #[test]
    fn only_files_here_are_targets() {
        let text = "[a](b.md), [c](docs/d.md#e) and\n[f](https://g.example/h), [i](#j), [k](l";
        assert_eq!(local_targets(text), ["b.md", "docs/d.md"]);
    }
}
