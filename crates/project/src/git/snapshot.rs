//! What a repository's own files said at one moment, and what a command changed of them: HEAD, branches and tags, the
//! index. Read without git, like [`head`](super::head), and bounded: what is beyond the bounds is said to have changed, not how.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::head::{self, GitHead};

/// Refs that have a file of their own and are looked at.
const LOOSE_REFS: usize = 4_096;
/// Directories of refs within directories.
const DEPTH: usize = 16;
/// Bytes of a list of packed refs of which the lines are compared.
const PACKED_BYTES: u64 = 1 << 20;
/// Refs that are named.
const NAMED: usize = 12;
/// Digits of a commit.
const DIGITS: usize = 7;

/// What tells whether a file was written: its number, its length, when it last changed.
type FileStamp = Option<(u64, u64, i64, i64)>;

/// What a repository's own files said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitSnapshot {
    /// What is checked out.
    pub head: GitHead,
    /// The commits that refs name.
    refs: BTreeMap<String, String>,
    /// There are more refs than are looked at.
    is_partial: bool,
    packed: FileStamp,
    index: FileStamp,
    /// The lists of this checkout alone that say what is ignored.
    exclude: FileStamp,
}

impl GitSnapshot {
    /// What they say now; nothing where there is no repository.
    pub fn take(root: &Path) -> GitSnapshot {
        let head = head::read(root);
        let Some(git) = root.ancestors().find_map(head::git_directory) else {
            return GitSnapshot { head, ..GitSnapshot::default() };
        };
        let shared = head::shared_directory(&git).unwrap_or_else(|| git.clone());
        let packed = shared.join("packed-refs");
        let mut snapshot = GitSnapshot {
            head,
            packed: stamp(&packed),
            index: stamp(&git.join("index")),
            exclude: stamp(&shared.join("info/exclude")),
            ..GitSnapshot::default()
        };
        snapshot.add_packed(&packed);
        // Those that have a file of their own count.
        snapshot.add_loose(&shared, Path::new("refs"), 0);
        if shared != git {
            snapshot.add_loose(&git, Path::new("refs"), 0);
        }
        snapshot
    }

    /// Whether the index and the lists beside it are the same, so that git ignores the same names.
    pub fn ignores_as(&self, other: &GitSnapshot) -> bool {
        (self.index, self.exclude) == (other.index, other.exclude)
    }

    /// What changed until `now`, a short text each: `main moved 1a2b3c4 → 5d6e7f8`, `index changed`.
    pub fn changes(&self, now: &GitSnapshot) -> Vec<String> {
        let mut changes = Vec::new();
        // A branch that moved is named below.
        let detached = self.head.branch.is_none();
        if self.head.branch != now.head.branch || detached && self.head.commit != now.head.commit {
            let (was, is) = (head_name(&self.head), head_name(&now.head));
            changes.push(format!("HEAD moved {was} → {is}"));
        }
        let names: Vec<&String> =
            self.refs.keys().chain(now.refs.keys().filter(|name| !self.refs.contains_key(*name))).collect();
        let refs: Vec<String> = names
            .into_iter()
            .filter_map(|name| match (self.refs.get(name), now.refs.get(name)) {
                (Some(was), Some(is)) if was != is => {
                    Some(format!("{} moved {} → {}", ref_name(name), digits(was), digits(is)))
                }
                (None, Some(is)) => Some(format!("{} created at {}", ref_name(name), digits(is))),
                (Some(was), None) => Some(format!("{} deleted, was at {}", ref_name(name), digits(was))),
                _ => None,
            })
            .collect();
        let more = refs.len().saturating_sub(NAMED);
        let is_unknown = refs.is_empty() && (self.is_partial || now.is_partial) && self.packed != now.packed;
        changes.extend(refs.into_iter().take(NAMED));
        if more > 0 {
            changes.push(format!("{more} more branches and tags changed"));
        } else if is_unknown {
            changes.push("branches or tags changed".to_string());
        }
        if self.index != now.index {
            changes.push("index changed".to_string());
        }
        changes
    }

    fn add_packed(&mut self, list: &Path) {
        let Some(text) = head::read_bounded(list, PACKED_BYTES) else {
            self.is_partial |= self.packed.is_some();
            return;
        };
        for line in text.lines().filter(|line| !line.starts_with(['#', '^'])) {
            if let Some((commit, name)) = line.split_once(' ') {
                self.refs.insert(name.to_string(), commit.to_string());
            }
        }
    }

    fn add_loose(&mut self, git: &Path, directory: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(git.join(directory)) else { return };
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            let (Ok(kind), Some(name)) = (entry.file_type(), path.to_str()) else { continue };
            if kind.is_dir() && depth < DEPTH {
                self.add_loose(git, &path, depth + 1);
            } else if self.refs.len() >= LOOSE_REFS && !self.refs.contains_key(name) {
                self.is_partial = true;
            } else if kind.is_file()
                && let Some(commit) = head::read_small(&git.join(name))
            {
                self.refs.insert(name.to_string(), commit.trim().to_string());
            }
        }
    }
}

fn stamp(path: &Path) -> FileStamp {
    let of = |found: Metadata| (found.ino(), found.len(), found.ctime(), found.ctime_nsec());
    fs::symlink_metadata(path).ok().map(of)
}

fn head_name(head: &GitHead) -> String {
    let commit = || head.commit.as_deref().map_or("nothing", digits).to_string();
    head.branch.clone().unwrap_or_else(commit)
}

fn ref_name(name: &str) -> String {
    let tag = name.strip_prefix("refs/tags/").map(|tag| format!("tag {tag}"));
    let branch =
        || ["refs/heads/", "refs/remotes/", "refs/"].iter().find_map(|prefix| name.strip_prefix(prefix));
    tag.unwrap_or_else(|| branch().unwrap_or(name).to_string())
}

/// A commit as people are shown it; anything else that a ref may hold as it is.
fn digits(commit: &str) -> &str {
    commit.get(..DIGITS).filter(|_| commit.bytes().all(|byte| byte.is_ascii_hexdigit())).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(dir: &TempDir, path: &str, text: &str) {
        let full = dir.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    #[test]
    fn what_moved_came_and_went_is_named() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let dir = TempDir::new().unwrap();
        write(&dir, ".git/HEAD", "ref: refs/heads/main\n");
        write(&dir, ".git/refs/heads/main", &one);
        write(
            &dir,
            ".git/packed-refs",
            &format!("# pack-refs\n{one} refs/tags/v1\n^{two}\n{one} refs/heads/main\n"),
        );
        write(&dir, ".git/index", "x");
        let before = GitSnapshot::take(dir.path());
        assert_eq!(before.changes(&GitSnapshot::take(dir.path())), [""; 0]);
        write(&dir, ".git/HEAD", "ref: refs/heads/a/b\n");
        write(&dir, ".git/refs/heads/main", &two);
        write(&dir, ".git/refs/heads/a/b", &two);
        write(&dir, ".git/index", "longer");
        fs::remove_file(dir.path().join(".git/packed-refs")).unwrap();
        let now = GitSnapshot::take(dir.path());
        assert_eq!(
            before.changes(&now),
            [
                "HEAD moved main → a/b",
                "main moved 1111111 → 2222222",
                "tag v1 deleted, was at 1111111",
                "a/b created at 2222222",
                "index changed",
            ]
        );
        assert!(!before.ignores_as(&now) && now.ignores_as(&now.clone()));
    }

    #[test]
    fn a_directory_without_a_repository_has_nothing() {
        let dir = TempDir::new().unwrap();
        let snapshot = GitSnapshot::take(dir.path());
        assert_eq!(snapshot.changes(&snapshot.clone()), [""; 0]);
    }
}
