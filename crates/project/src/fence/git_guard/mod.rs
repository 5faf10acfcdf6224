//! What makes git run something, before a command and after it: few small files. What a command in a fence changed of them is to be
//! put back before anybody runs git there, at either level; at level 1 most of them could not be changed to begin with.
//!
//! Here it is only looked and compared. Who writes in the project is the ledger.
//!
//! A command may make a repository: a plain configuration and the samples of hooks run nothing, and stay.
//!
//! | module | what it is for |
//! |---|---|
//! | `repositories` | the project's own, submodules, worktrees, and those further down |
//! | `listings` | what lay in directories, so that those that are the same need not be read again |
//! | `control` | what stands at a name |
//! | `config` | what a configuration names, and whether anything runs by it |

mod config;
mod control;
mod listings;
mod repositories;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::protected::ProtectedPaths;
use config::GitConfigTargets;
pub use control::GitControl;
pub use listings::DirectoryListings;
use repositories::{GitDirKind, Repositories, is_git_directory, pointed_at};

/// Files of one directory of hooks that are looked at.
const MAX_HOOKS: usize = 200;
/// Directories of hooks within each other.
const MAX_HOOK_DEPTH: usize = 3;
/// Files that one configuration includes, with what these include.
const MAX_INCLUDED: usize = 20;

/// Repositories further down that are read-only while the command runs; of more it is only looked afterwards.
const MAX_PROTECTED: usize = 40;

/// Directories of a repository that would lead elsewhere if they were links.
const DIRECTORIES: &[&str] = &["", "hooks", "info", "modules", "worktrees", "objects", "refs"];

/// What a worktree has of its own.
const OF_WORKTREE: &[&str] = &["commondir", "gitdir", "config.worktree"];

/// Where a further worktree finds what it shares.
const USUAL_COMMONDIR: &str = "../..";

/// What git calls, of a directory that a configuration names: others may keep more there.
const HOOK_NAMES: &str = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg \
    post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update \
    reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist \
    p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change";

/// How git stood before a command.
#[derive(Debug, Clone)]
pub struct GitGuard {
    root: PathBuf,
    user_home: Option<PathBuf>,
    listings: Arc<DirectoryListings>,
    before: GitControls,
    /// What the indexes of its repositories were.
    indexes: BTreeMap<PathBuf, FileStamp>,
}

/// Number, size, and the time of the last change.
type FileStamp = (u64, u64, i64, i64);

/// What is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitControlChange {
    pub path: PathBuf,
    /// To be put back; `None`: nothing stood there.
    pub was: Option<GitControl>,
    /// It is gone.
    pub is_removed: bool,
}

/// What a look after a command brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitControlChanges {
    /// The outer before the inner.
    pub files: Vec<GitControlChange>,
    /// Since the command there is more than is looked at.
    pub is_cut: bool,
    /// The index of a repository may name others than before.
    pub has_new_index: bool,
}

impl GitControlChange {
    /// What was done, as the end of a sentence that begins with the path.
    pub fn verb(&self) -> &'static str {
        match (&self.was, self.is_removed) {
            (None, _) => "was made",
            (Some(_), true) => "was removed",
            (Some(_), false) => "was changed",
        }
    }
}

/// What stands in the project's repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct GitControls {
    repositories: Repositories,
    entries: BTreeMap<PathBuf, GitControl>,
    /// What configurations name, whether it is there or not.
    hook_directories: BTreeSet<PathBuf>,
    included: BTreeSet<PathBuf>,
}

impl GitGuard {
    /// Looks at the project before a command; `listings` may have what an earlier look found.
    pub fn new(root: &Path, user_home: Option<&Path>, listings: Arc<DirectoryListings>) -> GitGuard {
        let before = GitControls::read(root, user_home, &[], &listings);
        let indexes = before.indexes();
        let (root, user_home) = (root.to_path_buf(), user_home.map(Path::to_path_buf));
        GitGuard { root, user_home, listings, before, indexes }
    }

    /// What a command must not change, of the repositories further down and of what configurations name; what is there of it.
    pub(super) fn protected(&self) -> Vec<PathBuf> {
        let (root, own) = (&self.root, self.root.join(".git"));
        let Repositories { directories, pointers, .. } = &self.before.repositories;
        let nested = directories.iter().filter(|(git, _)| git.starts_with(root) && !git.starts_with(&own));
        let mut protected: Vec<PathBuf> = nested
            .take(MAX_PROTECTED)
            .flat_map(|(git, kind)| {
                let names = match kind {
                    GitDirKind::Worktree => OF_WORKTREE,
                    _ => ProtectedPaths.in_git_directory(),
                };
                names.iter().map(|name| git.join(name)).collect::<Vec<_>>()
            })
            .collect();
        protected.extend(pointers.iter().filter(|path| **path != own).take(MAX_PROTECTED).cloned());
        let named = self.before.included.iter().chain(&self.before.hook_directories);
        // A directory of hooks that is the project itself, or holds all of it, cannot be closed.
        protected.extend(named.filter(|path| *path != root).cloned());
        protected.retain(|path| path.symlink_metadata().is_ok() && path.starts_with(root));
        protected
    }

    /// What is not as it was, the outer before the inner. `held` could not be changed by the command: if it was, somebody else did
    /// it. `further` may be tops of repositories.
    pub fn changes(&self, held: &[PathBuf], further: &[PathBuf]) -> GitControlChanges {
        if !self.root.is_dir() {
            return GitControlChanges::default();
        }
        let now = GitControls::read(&self.root, self.user_home.as_deref(), further, &self.listings);
        let mut changes = self.broken_repositories();
        let odd = self.odd_bare_directories(&now);
        let paths: BTreeSet<&PathBuf> = self.before.entries.keys().chain(now.entries.keys()).collect();
        for path in paths {
            let (was, is) = (self.before.entries.get(path), now.entries.get(path));
            let is_held = was.is_some() && held.iter().any(|held| path.starts_with(held));
            // What is checked out may change; that it is no HEAD any more was looked at.
            let is_head = was.is_some() && path.ends_with("HEAD");
            if was == is || is_held || is_head || odd.iter().any(|bare| path.starts_with(bare)) {
                continue;
            }
            let counts = match (was, is) {
                (None, Some(is)) => !self.may_be_new(path, is, &now),
                // A repository may go with all that it is; where one stays, nothing of it does.
                (Some(GitControl::Directory), None) => false,
                (Some(_), None) => self.is_missed(path),
                _ => true,
            };
            if counts {
                changes.push(GitControlChange {
                    path: path.clone(),
                    was: was.cloned(),
                    is_removed: is.is_none(),
                });
            }
        }
        // Without it git takes the directory for none.
        changes.extend(odd.iter().map(|bare| GitControlChange {
            path: bare.join("HEAD"),
            was: None,
            is_removed: false,
        }));
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        GitControlChanges {
            files: changes,
            is_cut: now.repositories.is_cut && !self.before.repositories.is_cut,
            has_new_index: now.indexes() != self.indexes,
        }
    }

    /// Where git found a repository and would go on looking in what surrounds it.
    fn broken_repositories(&self) -> Vec<GitControlChange> {
        let mut changes = Vec::new();
        for (git, kind) in &self.before.repositories.directories {
            let head = git.join("HEAD");
            let was = self.before.entries.get(&head);
            let is_gone = !self.is_own(git) && git.symlink_metadata().is_err();
            if *kind == GitDirKind::Worktree || was.is_none() || is_gone || is_git_directory(git) {
                continue;
            }
            let is_removed = head.symlink_metadata().is_err();
            changes.push(GitControlChange { path: head, was: was.cloned(), is_removed });
            for name in ["objects", "refs"].map(|name| git.join(name)) {
                if self.before.entries.contains_key(&name) && !name.is_dir() {
                    let was = Some(GitControl::Directory);
                    changes.push(GitControlChange { path: name, was, is_removed: true });
                }
            }
        }
        changes
    }

    /// Directories that git takes for a repository now, and that are more than a new one is.
    fn odd_bare_directories(&self, now: &GitControls) -> Vec<PathBuf> {
        let known = &self.before.repositories.directories;
        let new = now
            .repositories
            .directories
            .iter()
            .filter(|(path, kind)| **kind == GitDirKind::Bare && !known.contains_key(*path));
        let new = new.filter(|(bare, _)| {
            let within = now.entries.iter().filter(|(path, _)| path.starts_with(bare));
            within.into_iter().any(|(path, is)| !self.may_be_new(path, is, now))
        });
        new.map(|(bare, _)| bare.clone()).collect()
    }

    /// Whether something that was not there makes git run nothing.
    fn may_be_new(&self, path: &Path, is: &GitControl, now: &GitControls) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("/"));
        match now.repositories.directories.get(folder) {
            _ if *is == GitControl::Directory || self.is_unknown(path) => true,
            Some(GitDirKind::Worktree) => match name {
                "commondir" => is.text().is_some_and(|text| text.trim() == USUAL_COMMONDIR),
                other => other == "gitdir",
            },
            Some(_) if name == "HEAD" => true,
            Some(_) if name == "config" => is.text().is_some_and(config::is_plain),
            _ if name == ".git" => self.is_plain_pointer(path, is, now),
            _ => {
                !self.is_named(path) && !now.repositories.directories.keys().any(|git| path.starts_with(git))
            }
        }
    }

    /// Whether it may have been there without being looked at.
    fn is_unknown(&self, path: &Path) -> bool {
        let known = &self.before.repositories.directories;
        self.before.repositories.is_cut
            && !known.keys().any(|git| path.starts_with(git))
            && !self.is_named(path)
    }

    /// Whether a new `.git` file leads to a worktree or submodule of a repository that the project had.
    fn is_plain_pointer(&self, path: &Path, is: &GitControl, now: &GitControls) -> bool {
        let target = is.text().and_then(|_| pointed_at(path));
        let known = |git: &PathBuf| {
            target.as_ref().is_some_and(|target| {
                let is_known = |path: &Path| now.repositories.directories.contains_key(path);
                is_known(target)
                    && ["worktrees", "modules"].iter().any(|name| target.starts_with(git.join(name)))
            })
        };
        self.before.repositories.directories.keys().any(known)
    }

    /// Whether the loss of a name matters: git would look elsewhere, or what belongs there does not run.
    fn is_missed(&self, path: &Path) -> bool {
        let mut own = self.before.repositories.directories.keys().filter(|git| path.starts_with(git));
        match own.next_back() {
            // HEAD is looked at with its repository.
            Some(git) => {
                let is_there = self.is_own(git) || git.symlink_metadata().is_ok();
                is_there && path.file_name().is_some_and(|name| name != "HEAD")
            }
            None => self.is_named(path) || self.is_own(path),
        }
    }

    /// Whether a configuration named it.
    fn is_named(&self, path: &Path) -> bool {
        self.before.included.contains(path)
            || self.before.hook_directories.iter().any(|hooks| path.starts_with(hooks))
    }

    /// Whether it is the project's own `.git`.
    fn is_own(&self, git: &Path) -> bool {
        git == self.root.join(".git")
    }
}

impl GitControls {
    fn read(
        root: &Path,
        user_home: Option<&Path>,
        further: &[PathBuf],
        listings: &DirectoryListings,
    ) -> GitControls {
        let mut found = GitControls {
            repositories: Repositories::find(root, user_home, further, listings),
            ..GitControls::default()
        };
        for pointer in found.repositories.pointers.clone() {
            found.add(&pointer);
        }
        for (git, kind) in found.repositories.directories.clone() {
            if kind == GitDirKind::Worktree {
                OF_WORKTREE.iter().for_each(|name| found.add(&git.join(name)));
                continue;
            }
            for name in DIRECTORIES {
                // Joining nothing would leave a slash at the end.
                found.add(&if name.is_empty() { git.clone() } else { git.join(name) });
            }
            let names = ProtectedPaths.in_git_directory().iter().chain(&["HEAD"]);
            names.for_each(|name| found.add(&git.join(name)));
            found.add_hooks(&git.join("hooks"), false, MAX_HOOK_DEPTH);
            let top = if git.ends_with(".git") { git.parent().unwrap_or(root) } else { root };
            found.add_named(&git.join("config"), (root, top), user_home);
        }
        found
    }

    fn indexes(&self) -> BTreeMap<PathBuf, FileStamp> {
        let kept = self.repositories.directories.keys().map(|git| git.join("index"));
        let stamped = kept.filter_map(|index| {
            let found = index.symlink_metadata().ok()?;
            Some((index, (found.ino(), found.len(), found.ctime(), found.ctime_nsec())))
        });
        stamped.collect()
    }

    fn add(&mut self, path: &Path) {
        if let Some(entry) = GitControl::read(path) {
            self.entries.insert(path.to_path_buf(), entry);
        }
    }

    /// A directory of hooks. In one that a configuration names only what git calls counts.
    fn add_hooks(&mut self, directory: &Path, is_named: bool, depth: usize) {
        if !directory.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return;
        }
        let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
        // The same ones each time.
        let names: BTreeSet<_> = names.collect();
        for name in names.iter().take(MAX_HOOKS) {
            let path = directory.join(name);
            let name = name.to_string_lossy();
            if name.ends_with(".sample")
                || (is_named && !HOOK_NAMES.split_whitespace().any(|known| known == name))
            {
                continue;
            }
            self.add(&path);
            if depth > 1 {
                self.add_hooks(&path, false, depth - 1);
            }
        }
    }

    /// What a configuration names within the project.
    fn add_named(&mut self, config: &Path, (root, top): (&Path, &Path), user_home: Option<&Path>) {
        let mut waiting = vec![config.to_path_buf()];
        let mut read = 0;
        while let Some(path) = waiting.pop() {
            read += 1;
            if read > MAX_INCLUDED {
                break;
            }
            let Some(text) = GitControl::read(&path).and_then(|entry| entry.text().map(str::to_string))
            else {
                continue;
            };
            let GitConfigTargets { hooks, included } = config::targets(&text, &path, top, user_home);
            for path in included.iter().map(|path| plain(path)).filter(|path| path.starts_with(root)) {
                if self.included.insert(path.clone()) {
                    self.add(&path);
                    waiting.push(path);
                }
            }
            for directory in hooks.iter().map(|path| plain(path)).filter(|path| path.starts_with(root)) {
                self.add(&directory);
                self.add_hooks(&directory, true, 1);
                self.hook_directories.insert(directory);
            }
        }
    }
}

/// Without `.` and `..`, and through links as far as it exists.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain.canonicalize().unwrap_or(plain)
}

#[cfg(test)]
mod tests;
