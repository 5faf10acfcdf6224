//! git's directories of a project. Most lie in it; those of a worktree or a submodule lie elsewhere, and the `.git` file that says
//! where is believed only if what it names says the same of the project: a file of the project must not open other places.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protected::ProtectedPaths;

/// Submodules and worktrees that are looked at.
pub(super) const MAX_NESTED: usize = 200;
/// How deep submodules lie in each other's names.
pub(super) const MAX_DEPTH: usize = 4;
/// Bytes of a file that names a directory.
const MAX_POINTER_BYTES: u64 = 64 << 10;

/// What git needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitDirectories {
    /// Outside of the project, to be written.
    pub(super) writable: Vec<PathBuf>,
    /// Never to be written, whether it exists or not.
    pub(super) protected: Vec<PathBuf>,
}

/// Those of the repository that the project is, or lies in, below the user's home directory.
pub(super) fn find(root: &Path, user_home: Option<&Path>) -> GitDirectories {
    let mut found = GitDirectories::default();
    for top in root.ancestors().take_while(|top| *top == root || Some(*top) != user_home) {
        let dot_git = top.join(".git");
        let Ok(stat) = dot_git.symlink_metadata() else { continue };
        if stat.is_dir() {
            if top != root {
                found.writable.push(dot_git.clone());
            }
            found.protect(&dot_git);
        } else if stat.is_file() {
            found.protected.push(dot_git.clone());
            if let Some(common) = linked_directory(top, &dot_git) {
                found.protect(&common);
                found.writable.push(common);
            }
        }
        break;
    }
    found
}

impl GitDirectories {
    fn protect(&mut self, git: &Path) {
        self.protected.extend(ProtectedPaths.in_git_directory().iter().map(|name| git.join(name)));
        self.protect_nested(&git.join("modules"), MAX_DEPTH);
        for entry in fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten().take(MAX_NESTED) {
            // Where they point to decides which hooks and settings hold there.
            self.protected
                .extend(["commondir", "gitdir", "config.worktree"].map(|name| entry.path().join(name)));
        }
    }

    /// A submodule's name may have slashes in it.
    fn protect_nested(&mut self, modules: &Path, depth: usize) {
        for entry in fs::read_dir(modules).into_iter().flatten().flatten().take(MAX_NESTED) {
            let path = entry.path();
            if path.join("HEAD").is_file() {
                let names = ProtectedPaths.in_git_directory().iter();
                self.protected.extend(names.map(|name| path.join(name)));
                if depth > 0 {
                    self.protect_nested(&path.join("modules"), depth - 1);
                }
            } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.protect_nested(&path, depth - 1);
            }
        }
    }
}

/// The directory to be written for a `.git` file, if it belongs to this working tree.
pub(super) fn linked_directory(top: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = read_pointer(dot_git)?;
    let git = top.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    if let Some(common) = read_pointer(&git.join("commondir")) {
        let common = git.join(common.trim()).canonicalize().ok()?;
        let back = git.join(read_pointer(&git.join("gitdir"))?.trim()).canonicalize().ok()?;
        let lies_in = git.parent()?.parent()? == common && git.parent()?.ends_with("worktrees");
        return (lies_in && back == dot_git.canonicalize().ok()?).then_some(common);
    }
    // A submodule's own configuration names its working tree.
    let config = read_pointer(&git.join("config"))?;
    let worktree =
        config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='));
    let worktree = git.join(worktree?.trim().trim_matches('"')).canonicalize().ok()?;
    (worktree == top.canonicalize().ok()? && git.components().any(|part| part.as_os_str() == "modules"))
        .then_some(git)
}

fn read_pointer(path: &Path) -> Option<String> {
    let stat = path.symlink_metadata().ok()?;
    (stat.is_file() && stat.len() <= MAX_POINTER_BYTES).then(|| fs::read_to_string(path).ok()).flatten()
}
