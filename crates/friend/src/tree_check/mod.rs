//! The check that read-only was read-only: what is in the project before a friend works, compared with what is
//! there afterwards.
//!
//! Everything counts: files that git tracks, ignores, and has not been told of, links by their targets, permission
//! bits; of the repository whatever git does not change by itself ([`git`]), and what is staged ([`staged`]); of relay's
//! own directory what it would write back one day. Nothing is followed and nothing is changed. A file is the same if
//! the system's record of it is the same: the time of its last change (`ctime`) is one that no ordinary process can set
//! back. If the record differs, the content decides as far as it was read before; a file that was only touched is the
//! same.
//!
//! What is found was changed *while* the friend worked, by it or by somebody else: the user may have saved.

mod check;
mod entry;
pub(crate) mod git_dir;
mod git_index;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use relaycode_project::git::Git;

pub use check::{TreeCheck, TreeCheckGap, TreeCheckReport};

use entry::{CheckedEntry, CheckedEntryContent, CheckedEntryKind};
use walk::TreeCheckWalker;

/// Files and directories that are looked at. A project with more is not checked, and that is said.
pub const FILES: usize = 500_000;
/// Bytes of content that are read beforehand. Of what is beyond, a changed record is all that can be told.
pub const CONTENT: u64 = 512 << 20;
/// Bytes of one file that are read.
pub const FILE: u64 = 32 << 20;

/// How a project looked.
#[derive(Debug)]
pub struct TreeCheckSnapshot {
    root: PathBuf,
    entries: BTreeMap<Vec<u8>, CheckedEntry>,
    /// Directories and files that could not be looked into.
    unread: Vec<String>,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedChange {
    /// What; relative to the project, or absolute if it lies outside (the repository of a worktree) or is the project
    /// itself. Directories end in `/`. Foreign text.
    pub path: String,
    /// How.
    pub kind: ObservedChangeKind,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObservedChangeKind {
    /// It was not there.
    Created,
    /// It has another content, another target, or is something else altogether.
    Changed,
    /// It is not there any more.
    Removed,
    /// It has other permission bits, or another owner.
    Mode,
    /// It was written to or replaced. Whether its content is another one is not known: it was not read before, or it
    /// has another name somewhere now.
    Written,
    /// It is an index, and something else is staged there: the next commit would take it.
    Staged,
}

impl ObservedChangeKind {
    /// In a word or two.
    pub fn label(self) -> &'static str {
        match self {
            ObservedChangeKind::Created => "created",
            ObservedChangeKind::Changed => "changed",
            ObservedChangeKind::Removed => "removed",
            ObservedChangeKind::Mode => "other permissions",
            ObservedChangeKind::Written => "written to",
            ObservedChangeKind::Staged => "what is staged changed",
        }
    }
}

/// Why a project could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum TreeCheckError {
    /// It has more files than are looked at.
    #[error("the project has more than {FILES} files")]
    TooMany,
    /// Somebody wanted it to stop.
    #[error("looking at the files was broken off")]
    Cancelled,
    /// It cannot be opened.
    #[error("{} cannot be looked at: {source}", path.display())]
    Root {
        /// The project.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl TreeCheckSnapshot {
    /// Looks at the project at `root`. `git` says which files are ignored: of these no content is read, because
    /// they are many and large (what was built, what was installed). `stop` is asked often.
    ///
    /// # Errors
    /// If it cannot be looked at, has too many files, or was stopped.
    pub fn take(
        root: &Path,
        git: Option<&Git<'_>>,
        stop: &dyn Fn() -> bool,
    ) -> Result<TreeCheckSnapshot, TreeCheckError> {
        let ignored = git.and_then(|git| git.ignored().ok()).unwrap_or_default();
        let mut walk = TreeCheckWalker::new(root, stop, CONTENT, ignored);
        let (entries, unread) = walk.walk_all()?;
        Ok(TreeCheckSnapshot { root: root.to_path_buf(), entries, unread })
    }

    /// How many files and directories were looked at.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there was nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Directories and files that could not be looked into, so that nothing can be said of them. Foreign text.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// What is not as it was, by path.
    ///
    /// # Errors
    /// As [`TreeCheckSnapshot::take`].
    pub fn compare(&self, stop: &dyn Fn() -> bool) -> Result<Vec<ObservedChange>, TreeCheckError> {
        self.rescan(stop).map(|(changed, _)| changed)
    }

    /// The same, with what could not be looked into this time.
    fn rescan(&self, stop: &dyn Fn() -> bool) -> Result<(Vec<ObservedChange>, Vec<String>), TreeCheckError> {
        let mut walk = TreeCheckWalker::new(&self.root, stop, 0, Vec::new());
        let (now, unread) = match walk.walk_all() {
            Err(TreeCheckError::Root { .. }) if is_gone(&self.root) => {
                let itself = self
                    .entries
                    .get(&b""[..])
                    .map(|seen| self.observed_change(b"", seen, ObservedChangeKind::Removed));
                return Ok((itself.into_iter().collect(), Vec::new()));
            }
            other => other?,
        };
        let mut differences = Vec::new();
        for (path, before) in &self.entries {
            let kind = match now.get(path) {
                None => Some(ObservedChangeKind::Removed),
                Some(after) => walk.change_kind(path, before, after)?,
            };
            differences.extend(kind.map(|kind| self.observed_change(path, before, kind)));
        }
        let new = now.iter().filter(|(path, _)| !self.entries.contains_key(*path));
        differences
            .extend(new.map(|(path, after)| self.observed_change(path, after, ObservedChangeKind::Created)));
        differences.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((differences, unread))
    }

    fn observed_change(&self, path: &[u8], seen: &CheckedEntry, kind: ObservedChangeKind) -> ObservedChange {
        let mut path = match path {
            b"" => self.root.to_string_lossy().into_owned(),
            path => String::from_utf8_lossy(path).into_owned(),
        };
        if seen.kind == CheckedEntryKind::Directory && !path.ends_with('/') {
            path.push('/');
        }
        ObservedChange { path, kind }
    }
}

/// Whether a project is not there any more: moved, removed, or something else in its place.
fn is_gone(root: &Path) -> bool {
    match root.symlink_metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

impl TreeCheckWalker<'_> {
    /// How something differs from what it was.
    fn change_kind(
        &self,
        path: &[u8],
        before: &CheckedEntry,
        after: &CheckedEntry,
    ) -> Result<Option<ObservedChangeKind>, TreeCheckError> {
        if before.kind != after.kind {
            return Ok(Some(ObservedChangeKind::Changed));
        }
        let mode =
            ((before.mode, before.owner) != (after.mode, after.owner)).then_some(ObservedChangeKind::Mode);
        // The record of a directory changes with every file in it, and these are compared themselves.
        if before.kind == CheckedEntryKind::Directory || before.same_record(after) {
            return Ok(mode);
        }
        if let CheckedEntryContent::Staged(staged) = &before.content {
            // git puts another file in its place, with other permissions if that is how it was called.
            let same = match self.read_content(path, &before.content, after)? {
                CheckedEntryContent::Staged(now) => now.commits_same_as(staged),
                _ => false,
            };
            return Ok((!same).then_some(ObservedChangeKind::Staged));
        }
        if before.size != after.size {
            return Ok(Some(ObservedChangeKind::Changed));
        }
        let content = match &before.content {
            CheckedEntryContent::Known(content) => content,
            CheckedEntryContent::None => return Ok(mode),
            CheckedEntryContent::Unread | CheckedEntryContent::Staged(_) => {
                // Other permissions alone change the record, too, but not when it was written.
                return Ok(if before.modified_at == after.modified_at && mode.is_some() {
                    mode
                } else {
                    Some(ObservedChangeKind::Written)
                });
            }
        };
        match self.read_content(path, &before.content, after)? {
            CheckedEntryContent::Known(now) if now != *content => Ok(Some(ObservedChangeKind::Changed)),
            CheckedEntryContent::Known(_) if after.is_new_hardlink(before) => {
                Ok(Some(ObservedChangeKind::Written))
            }
            CheckedEntryContent::Known(_) => Ok(mode),
            CheckedEntryContent::Unread | CheckedEntryContent::None | CheckedEntryContent::Staged(_) => {
                Ok(Some(ObservedChangeKind::Written))
            }
        }
    }
}
