//! Which files of a project a line would destroy, by their names there: what has to be kept before it runs.
//!
//! Names are as they are on the disk now; patterns are looked up there, within bounds. Rather a file too many than one too few.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{LineReading, LineTarget};
use crate::permissions::path_pattern::{matches_glob, normalise, resolve_links};

/// Names that are listed; with more, the usual bounds of what is kept have to do.
const MAX_NAMES: usize = 10_000;

/// What a line would destroy in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineLosses {
    /// Files, and directories with all in them, from the root of the project.
    pub paths: BTreeSet<String>,
    /// Also what git could not bring back: changes that are in no commit, and files that it has not been told of.
    pub uncommitted: bool,
}

impl LineReading {
    /// What it would destroy beneath this root, as far as that can be told by names.
    pub fn losses(&self, root: &Path) -> LineLosses {
        let mut losses = LineLosses::default();
        for act in &self.destructive {
            match &act.target {
                LineTarget::Path(path) | LineTarget::Beneath(path) if !act.spares_ignored => {
                    losses.add(root, path);
                }
                LineTarget::Pattern(pattern) => {
                    for path in find_matches(pattern) {
                        losses.add(root, &path);
                    }
                }
                _ => losses.uncommitted |= act.spares_ignored,
            }
        }
        losses
    }
}

impl LineLosses {
    fn add(&mut self, root: &Path, path: &Path) {
        let path = normalise(path);
        // The name itself, which may be a link, and what it leads to.
        let itself = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => resolve_links(parent).join(name),
            _ => path.clone(),
        };
        for found in [itself, resolve_links(&path)] {
            if root.starts_with(&found) {
                // All of the project, by its parts: build output among them is left out later by its own name.
                self.paths.extend(entries(root).into_iter().take(MAX_NAMES));
            } else if let Some(name) = found.strip_prefix(root).ok().and_then(Path::to_str)
                && self.paths.len() < MAX_NAMES
            {
                self.paths.insert(name.to_owned());
            }
        }
    }
}

/// The paths that match, component by component. What git and relay have for themselves begins with a dot, as shells see it.
fn find_matches(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = component.as_os_str().to_string_lossy();
        if !matches!(component, Component::Normal(_)) || !name.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        }
        let plain = without_sets(&name);
        let matches =
            |entry: &String| entry.starts_with('.') == plain.starts_with('.') && matches_glob(&plain, entry);
        let beneath =
            |path: &PathBuf| entries(path).into_iter().filter(&matches).map(|name| path.join(name)).collect();
        found = found.iter().flat_map::<Vec<PathBuf>, _>(beneath).take(MAX_NAMES).collect();
    }
    found
}

/// With `?` for each `[…]`, which fits at least as much.
fn without_sets(pattern: &str) -> String {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once('[') {
        plain.push_str(before);
        // The first sign of a set may be the bracket that else ends it.
        let end = behind.char_indices().skip(1).find(|(_, sign)| *sign == ']');
        let Some((end, _)) = end else {
            plain.push('*');
            return plain;
        };
        plain.push('?');
        rest = &behind[end + 1..];
    }
    plain + rest
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.take(MAX_NAMES).filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::permissions::{PermissionPlace, read_line};

    fn losses(line: &str) -> (String, bool) {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("d/e")).unwrap();
        for name in ["a.log", "b.log", "c.txt", "d/a.log", ".hidden.log"] {
            fs::write(root.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("c.txt", root.join("link")).unwrap();
        let place = PermissionPlace {
            root: root.clone(),
            directory: root.clone(),
            home: None,
            temporary: Vec::new(),
            access: Access::Full,
            is_fenced: false,
        };
        let found = read_line(line, &place).losses(&root);
        (found.paths.into_iter().collect::<Vec<_>>().join(" "), found.uncommitted)
    }

    #[test]
    fn names_patterns_and_links_are_found_in_the_project_and_nothing_outside_of_it() {
        for (line, paths) in [
            ("rm a.log ./d/../c.txt", "a.log c.txt"),
            ("rm *.log", "a.log b.log"),
            ("rm [ab].log d/*", "a.log b.log d/a.log d/e"),
            ("rm -rf d /etc/passwd ../x", "d"),
            ("echo > link", "c.txt link"),
            ("cd d && rm a.log", "d/a.log"),
            ("find d -name x -delete", "d"),
            ("ls -la; cat c.txt", ""),
            ("rm $HOME/$x", ""),
        ] {
            assert_eq!(losses(line), (paths.to_owned(), false), "{line}");
        }
        assert_eq!(losses("rm -rf .").0, ".hidden.log a.log b.log c.txt d link");
    }

    #[test]
    fn git_spares_what_it_ignores_unless_it_is_told_not_to() {
        for line in ["git reset --hard", "git clean -fd", "git stash", "git checkout main", "patch -p1 < x"] {
            assert_eq!(losses(line), (String::new(), true), "{line}");
        }
        for line in ["git clean -fdx", "git stash --all", "git stash -a", "git clean -X -f"] {
            let (paths, uncommitted) = losses(line);
            assert!(paths.contains("c.txt") && !uncommitted, "{line}: {paths}");
        }
        assert_eq!(losses("git rm -q c.txt"), (String::new(), true));
        assert_eq!(losses("git rm c.txt"), ("c.txt".to_owned(), false));
    }
}
