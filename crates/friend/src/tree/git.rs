//! Which files of a repository are looked at: those that say what git does, and where its branches stand.
//!
//! Not among them: the index, the objects and the logs. git writes these by itself while somebody only looks
//! (`git status` refreshes the index), and what is in them changes no file and runs no command.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files and directories of a repository that are looked at, with all that is below them.
pub(super) const WATCHED: &[&str] = &[
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info",
    "packed-refs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "sequencer",
    "shallow",
];
/// Directories with further repositories in them: worktrees, and submodules, whose names may have several parts.
pub(super) const NESTED: &[&str] = &["modules", "worktrees"];
/// What makes a directory a repository.
pub(super) const MARK: &str = "HEAD";
/// A file below what is not looked at, which says where more objects come from.
pub(super) const ALTERNATES: &str = "objects/info/alternates";

/// Bytes of a file that points to a repository.
const SMALL: u64 = 4 << 10;

/// The repository's directories, other than a `.git` directory in the project itself: where a `.git` file points
/// to, what that shares with others, or the `.git` of a directory above.
pub(crate) fn outside(root: &Path) -> Vec<PathBuf> {
    let Some(dot_git) =
        root.ancestors().map(|top| top.join(".git")).find(|path| path.symlink_metadata().is_ok())
    else {
        return Vec::new();
    };
    let directory = if dot_git.is_dir() {
        dot_git
    } else {
        let Some(target) = small(&dot_git).and_then(|text| after(&text, b"gitdir:")) else {
            return Vec::new();
        };
        dot_git.parent().unwrap_or(root).join(target)
    };
    let shared = small(&directory.join("commondir")).map(|text| directory.join(path_in(&text)));
    let mut found = Vec::new();
    for path in [Some(directory), shared].into_iter().flatten() {
        // Once, and without what the walk through the project sees anyway.
        let Ok(real) = path.canonicalize() else { continue };
        if real != root.join(".git") && real.is_dir() && !found.contains(&real) {
            found.push(real);
        }
    }
    found
}

fn after(text: &[u8], word: &[u8]) -> Option<PathBuf> {
    text.strip_prefix(word).map(path_in)
}

fn path_in(text: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(text.trim_ascii()))
}

fn small(path: &Path) -> Option<Vec<u8>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SMALL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
