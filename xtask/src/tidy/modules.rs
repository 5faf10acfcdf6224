//! A module with children is a folder with a `mod.rs`: a reader finds all of it in one place.

use super::Verdict;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let paths: Vec<&str> = workspace.sources.iter().map(|source| source.path.as_str()).collect();
    let folders = paths.iter().filter(|path| path.ends_with("/mod.rs")).count();
    Verdict {
        looked_at: format!("{folders} modules with children"),
        problems: problems(&paths),
        warnings: Vec::new(),
    }
}

fn problems(paths: &[&str]) -> Vec<String> {
    let beside = |path: &&str| {
        let folder = format!("{}/", path.strip_suffix(".rs")?);
        let children = paths.iter().any(|other| other.starts_with(&folder));
        children.then(|| format!("{path} stands beside its folder: move it to {folder}mod.rs"))
    };
    paths.iter().filter_map(beside).collect()
}

#[cfg(test)]
mod tests {
    use super::problems;

    #[test]
    fn a_file_beside_its_folder_is_found() {
        let paths = ["a/src/b.rs", "a/src/b/c.rs", "a/src/bc.rs", "a/src/d/mod.rs", "a/src/d/e.rs"];
        assert_eq!(problems(&paths), ["a/src/b.rs stands beside its folder: move it to a/src/b/mod.rs"]);
    }
}
