//! Which repositories a project has: its own, those of submodules and worktrees, and those further down, which git finds when
//! somebody stands in them or when they are among the project's files.
//!
//! Of directories that tools fill and git mostly ignores ([`PASSED_OVER`]) only what the index names is looked at, except in a
//! repository further down, whose own index may name anything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::control::{read_head, read_small};
use super::listings::{DirectoryListing, DirectoryListings};
use crate::fence::git_dirs::{MAX_DEPTH, MAX_NESTED, linked_directory};

/// Directories of a project that are looked at.
const MAX_DIRECTORIES: usize = 20_000;
/// Repositories that are looked at.
const MAX_REPOSITORIES: usize = 200;

/// Not looked into: nobody stands there, and there are too many.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
];

/// What a git directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitDirKind {
    /// Named `.git`, or named by a `.git` file, or below `modules`.
    Repository,
    /// A directory that git takes for a repository without files.
    Bare,
    /// What a further worktree has of its own.
    Worktree,
}

/// The git directories of a project, and the `.git` entries that lead to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Repositories {
    pub(super) directories: BTreeMap<PathBuf, GitDirKind>,
    /// `.git` files and links.
    pub(super) pointers: BTreeSet<PathBuf>,
    /// There was more than is looked at.
    pub(super) is_cut: bool,
}

impl Repositories {
    /// Those of the project at `root`; `further` are directories that may be the top of one.
    pub(super) fn find(
        root: &Path,
        user_home: Option<&Path>,
        further: &[PathBuf],
        listings: &DirectoryListings,
    ) -> Repositories {
        let mut listings = listings.begin(root);
        let mut found = Repositories::default();
        for top in root.ancestors().take_while(|top| *top == root || Some(*top) != user_home) {
            if top.join(".git").symlink_metadata().is_ok() {
                found.add_top(top, root);
                break;
            }
        }
        let mut waiting = VecDeque::from([(root.to_path_buf(), false)]);
        waiting.extend(further.iter().map(|top| (top.clone(), true)));
        let mut looked_at = 0;
        while let Some((directory, is_nested)) = waiting.pop_front() {
            looked_at += 1;
            if looked_at > MAX_DIRECTORIES {
                found.is_cut = true;
                break;
            }
            let listing = listings.list(&directory);
            found.look_into(&directory, listing, is_nested, root, &mut waiting);
        }
        found
    }

    /// Looks whether a directory is the top of a repository, or one, and what lies in it.
    fn look_into(
        &mut self,
        directory: &Path,
        listing: DirectoryListing,
        mut is_nested: bool,
        root: &Path,
        waiting: &mut VecDeque<(PathBuf, bool)>,
    ) {
        let DirectoryListing { has_dot_git, has_head, mut inner } = listing;
        if has_dot_git {
            self.add_top(directory, root);
            is_nested |= directory != root;
        }
        let is_bare = has_head && is_git_directory(directory);
        inner.retain(|name| is_nested || !name.to_str().is_some_and(|name| PASSED_OVER.contains(&name)));
        waiting.extend(inner.into_iter().map(|name| (directory.join(name), is_nested)));
        if is_bare && !self.directories.contains_key(directory) {
            self.add(directory, GitDirKind::Bare);
        }
    }

    /// The repository whose files are in `top`.
    fn add_top(&mut self, top: &Path, root: &Path) {
        let dot_git = top.join(".git");
        let Ok(stat) = dot_git.symlink_metadata() else { return };
        if stat.is_dir() {
            self.add(&dot_git, GitDirKind::Repository);
            return;
        }
        self.pointers.insert(dot_git.clone());
        let linked = if stat.is_file() { linked_directory(top, &dot_git) } else { None };
        let target = linked.or_else(|| pointed_at(&dot_git).filter(|target| target.starts_with(root)));
        if let Some(target) = target.filter(|target| target.is_dir()) {
            self.add(&target, GitDirKind::Repository);
        }
    }

    fn add(&mut self, git: &Path, kind: GitDirKind) {
        if self.directories.contains_key(git) {
            return;
        }
        if self.directories.len() >= MAX_REPOSITORIES {
            self.is_cut = true;
            return;
        }
        self.directories.insert(git.to_path_buf(), kind);
        if kind == GitDirKind::Worktree {
            return;
        }
        self.add_modules(&git.join("modules"), MAX_DEPTH);
        for path in entries_of(&git.join("worktrees")) {
            self.add(&path, GitDirKind::Worktree);
        }
    }

    /// A submodule's name may have slashes in it.
    fn add_modules(&mut self, modules: &Path, depth: usize) {
        // Through a link it would be another repository's.
        if !modules.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return;
        }
        for path in entries_of(modules) {
            if path.join("HEAD").symlink_metadata().is_ok() {
                self.add(&path, GitDirKind::Repository);
            } else if depth > 0 {
                self.add_modules(&path, depth - 1);
            }
        }
    }
}

/// The same ones each time.
fn entries_of(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths.truncate(MAX_NESTED);
    paths
}

/// Whether git takes a directory for a repository.
pub(super) fn is_git_directory(path: &Path) -> bool {
    let is_there = |name: &str| path.join(name).is_dir();
    read_head(path) && (path.join("commondir").exists() || (is_there("objects") && is_there("refs")))
}

/// Where a `.git` file or link leads.
pub(super) fn pointed_at(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.symlink_metadata().ok()?.is_symlink() {
        return dot_git.canonicalize().ok();
    }
    let text = read_small(dot_git)?;
    dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}
