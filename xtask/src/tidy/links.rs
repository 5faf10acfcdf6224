//! What a page of the documentation points at is there. Addresses outside the repository are not
//! looked at: a test run needs no network.

use std::fs;
use std::path::{Path, PathBuf};

use super::Verdict;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let mut pages = Vec::new();
    markdown_in(&workspace.root, &mut pages);
    for folder in ["docs", "docs/reference"] {
        markdown_in(&workspace.root.join(folder), &mut pages);
    }
    let mut links = 0;
    let mut problems = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap_or_default();
        for target in local_targets(&text) {
            links += 1;
            if !page.with_file_name(target).exists() {
                let shown = page.strip_prefix(&workspace.root).unwrap_or(page);
                problems.push(format!("{} points at `{target}`, which is not there", shown.display()));
            }
        }
    }
    Verdict { looked_at: format!("{links} links on {} pages", pages.len()), problems, warnings: Vec::new() }
}

fn markdown_in(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    found.sort();
    pages.append(&mut found);
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
