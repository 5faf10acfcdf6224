//! What git has checked out, read from its files without running it: the branch and the commit.
//!
//! Only reads, never more than a few kilobytes of anything but the list of packed refs; whatever is
//! odd is `None`. No change is decided by it: a revert on another branch asks first.

use std::path::{Path, PathBuf};
use std::{fs::File, io::Read};

/// What is checked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitHead {
    /// The branch; `None` if there is none, or no git.
    pub branch: Option<String>,
    /// The commit; `None` before the first one, or without git.
    pub commit: Option<String>,
}

/// Bytes of a ref, of HEAD, or of a `.git` file.
const SMALL: u64 = 4 << 10;
/// Bytes of the list of packed refs.
const PACKED: u64 = 16 << 20;

/// What is checked out in the repository that `root` lies in.
pub fn read(root: &Path) -> GitHead {
    root.ancestors().find_map(git_directory).map(|git| read_git_directory(&git)).unwrap_or_default()
}

/// The repository's directory for the working tree at `top`.
pub(super) fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = read_small(&dot_git)?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let directory = top.join(target);
    directory.is_dir().then_some(directory)
}

fn read_git_directory(git: &Path) -> GitHead {
    let Some(head) = read_small(&git.join("HEAD")) else { return GitHead::default() };
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return GitHead { branch: None, commit: parse_commit_id(head) };
    };
    if !is_ref(name) {
        return GitHead::default();
    }
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    GitHead { branch: Some(branch.to_string()), commit: resolve(git, name) }
}

/// The directory of the repository that a worktree belongs to.
pub(super) fn shared_directory(git: &Path) -> Option<PathBuf> {
    read_small(&git.join("commondir")).map(|text| git.join(text.trim()))
}

/// The commit that a ref names: a file of its own, or a line of the packed ones. A worktree has its
/// refs in the repository it belongs to.
fn resolve(git: &Path, name: &str) -> Option<String> {
    let places = [Some(git.to_path_buf()), shared_directory(git)];
    for place in places.iter().flatten() {
        if let Some(text) = read_small(&place.join(name)) {
            return parse_commit_id(text.trim());
        }
    }
    places.iter().flatten().find_map(|place| find_packed_ref(&place.join("packed-refs"), name))
}

fn find_packed_ref(list: &Path, name: &str) -> Option<String> {
    let text = read_bounded(list, PACKED)?;
    let line = text.lines().find(|line| line.split_once(' ').is_some_and(|(_, other)| other == name))?;
    parse_commit_id(line.split_once(' ')?.0)
}

/// A commit's name: SHA-1 or SHA-256.
fn parse_commit_id(text: &str) -> Option<String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (digits && matches!(text.len(), 40 | 64)).then(|| text.to_string())
}

/// A ref that stays inside the repository.
fn is_ref(name: &str) -> bool {
    let component = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
    name.starts_with("refs/") && name.split('/').all(component) && !name.chars().any(char::is_control)
}

pub(super) fn read_small(path: &Path) -> Option<String> {
    read_bounded(path, SMALL)
}

pub(super) fn read_bounded(path: &Path, most: u64) -> Option<String> {
    // A pipe would never end.
    path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= most)?;
    let mut text = String::new();
    File::open(path).ok()?.take(most).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const COMMIT: &str = "9e101c6f0d6b1c1f6a2f9f0c8f7f6a5b4c3d2e1f";

    fn repository(files: &[(&str, &str)]) -> TempDir {
        let dir = TempDir::new().unwrap();
        for (path, text) in files {
            let full = dir.path().join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
        dir
    }

    fn head(branch: Option<&str>, commit: Option<&str>) -> GitHead {
        GitHead { branch: branch.map(Into::into), commit: commit.map(Into::into) }
    }

    #[test]
    fn a_branch_is_loose_or_packed() {
        let line = format!("{COMMIT}\n");
        let loose = repository(&[(".git/HEAD", "ref: refs/heads/a/b\n"), (".git/refs/heads/a/b", &line)]);
        assert_eq!(read(loose.path()), head(Some("a/b"), Some(COMMIT)));
        fs::create_dir(loose.path().join("sub")).unwrap();
        assert_eq!(read(&loose.path().join("sub")), head(Some("a/b"), Some(COMMIT)));
        let list = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n^{COMMIT}\n");
        let packed = repository(&[(".git/HEAD", "ref: refs/heads/main\n"), (".git/packed-refs", &list)]);
        assert_eq!(read(packed.path()), head(Some("main"), Some(COMMIT)));
    }

    #[test]
    fn before_the_first_commit_and_between_branches() {
        let fresh = repository(&[(".git/HEAD", "ref: refs/heads/main\n")]);
        assert_eq!(read(fresh.path()), head(Some("main"), None));
        let detached = repository(&[(".git/HEAD", COMMIT)]);
        assert_eq!(read(detached.path()), head(None, Some(COMMIT)));
    }

    #[test]
    fn a_worktree_has_its_refs_elsewhere() {
        let dir = repository(&[
            ("tree/.git", "gitdir: ../main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/HEAD", "ref: refs/heads/side\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
            ("main/.git/refs/heads/side", COMMIT),
        ]);
        assert_eq!(read(&dir.path().join("tree")), head(Some("side"), Some(COMMIT)));
    }

    #[test]
    fn what_is_odd_is_nothing() {
        for text in ["", "ref: ../../etc/passwd", "ref: refs/../x", "not a commit", "ref: /etc/passwd"] {
            let dir = repository(&[(".git/HEAD", text)]);
            assert_eq!(read(dir.path()), GitHead::default(), "{text}");
        }
    }
}
