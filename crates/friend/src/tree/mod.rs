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

pub(crate) mod git;
mod seen;
mod staged;
#[cfg(test)]
mod tests;
mod walk;
mod watch;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use relaycode_project::git::Git;

pub use watch::{Looked, Unseen, Watch};

use seen::{Content, Kind, Seen};
use walk::Walk;

/// Files and directories that are looked at. A project with more is not checked, and that is said.
pub const FILES: usize = 500_000;
/// Bytes of content that are read beforehand. Of what is beyond, a changed record is all that can be told.
pub const CONTENT: u64 = 512 << 20;
/// Bytes of one file that are read.
pub const FILE: u64 = 32 << 20;

/// How a project looked.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    entries: BTreeMap<Vec<u8>, Seen>,
    /// Directories and files that could not be looked into.
    unread: Vec<String>,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What; relative to the project, or absolute if it lies outside (the repository of a worktree) or is the project
    /// itself. Directories end in `/`. Foreign text.
    pub path: String,
    /// How.
    pub kind: Changed,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Changed {
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

impl Changed {
    /// In a word or two.
    pub fn words(self) -> &'static str {
        match self {
            Changed::Created => "created",
            Changed::Changed => "changed",
            Changed::Removed => "removed",
            Changed::Mode => "other permissions",
            Changed::Written => "written to",
            Changed::Staged => "what is staged changed",
        }
    }
}

/// Why a project could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// It has more files than are looked at.
    #[error("the project has more than {FILES} files")]
    TooMany,
    /// Somebody wanted it to stop.
    #[error("looking at the files was broken off")]
    Stopped,
    /// It cannot be opened.
    #[error("{} cannot be looked at: {source}", path.display())]
    Root {
        /// The project.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Snapshot {
    /// Looks at the project at `root`. `git` says which files are ignored: of these no content is read, because
    /// they are many and large (what was built, what was installed). `stop` is asked often.
    ///
    /// # Errors
    /// If it cannot be looked at, has too many files, or was stopped.
    pub fn take(root: &Path, git: Option<&Git<'_>>, stop: &dyn Fn() -> bool) -> Result<Snapshot, TreeError> {
        let ignored = git.and_then(|git| git.ignored().ok()).unwrap_or_default();
        let mut walk = Walk::new(root, stop, CONTENT, ignored);
        let (entries, unread) = walk.all()?;
        Ok(Snapshot { root: root.to_path_buf(), entries, unread })
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
    /// As [`Snapshot::take`].
    pub fn compare(&self, stop: &dyn Fn() -> bool) -> Result<Vec<Difference>, TreeError> {
        self.look_again(stop).map(|(changed, _)| changed)
    }

    /// The same, with what could not be looked into this time.
    fn look_again(&self, stop: &dyn Fn() -> bool) -> Result<(Vec<Difference>, Vec<String>), TreeError> {
        let mut walk = Walk::new(&self.root, stop, 0, Vec::new());
        let (now, unread) = match walk.all() {
            Err(TreeError::Root { .. }) if is_gone(&self.root) => {
                let itself =
                    self.entries.get(&b""[..]).map(|seen| self.difference(b"", seen, Changed::Removed));
                return Ok((itself.into_iter().collect(), Vec::new()));
            }
            other => other?,
        };
        let mut differences = Vec::new();
        for (path, before) in &self.entries {
            let kind = match now.get(path) {
                None => Some(Changed::Removed),
                Some(after) => walk.differs(path, before, after)?,
            };
            differences.extend(kind.map(|kind| self.difference(path, before, kind)));
        }
        let new = now.iter().filter(|(path, _)| !self.entries.contains_key(*path));
        differences.extend(new.map(|(path, after)| self.difference(path, after, Changed::Created)));
        differences.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((differences, unread))
    }

    fn difference(&self, path: &[u8], seen: &Seen, kind: Changed) -> Difference {
        let mut path = match path {
            b"" => self.root.to_string_lossy().into_owned(),
            path => String::from_utf8_lossy(path).into_owned(),
        };
        if seen.kind == Kind::Directory && !path.ends_with('/') {
            path.push('/');
        }
        Difference { path, kind }
    }
}

/// Whether a project is not there any more: moved, removed, or something else in its place.
fn is_gone(root: &Path) -> bool {
    match root.symlink_metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

impl Walk<'_> {
    /// How something differs from what it was.
    fn differs(&self, path: &[u8], before: &Seen, after: &Seen) -> Result<Option<Changed>, TreeError> {
        if before.kind != after.kind {
            return Ok(Some(Changed::Changed));
        }
        let mode = ((before.mode, before.owner) != (after.mode, after.owner)).then_some(Changed::Mode);
        // The record of a directory changes with every file in it, and these are compared themselves.
        if before.kind == Kind::Directory || before.same_record(after) {
            return Ok(mode);
        }
        if let Content::Staged(staged) = &before.content {
            // git puts another file in its place, with other permissions if that is how it was called.
            let same = match self.content(path, &before.content, after)? {
                Content::Staged(now) => now.is_still(staged),
                _ => false,
            };
            return Ok((!same).then_some(Changed::Staged));
        }
        if before.size != after.size {
            return Ok(Some(Changed::Changed));
        }
        let content = match &before.content {
            Content::Known(content) => content,
            Content::None => return Ok(mode),
            Content::Unread | Content::Staged(_) => {
                // Other permissions alone change the record, too, but not when it was written.
                return Ok(if before.written == after.written && mode.is_some() {
                    mode
                } else {
                    Some(Changed::Written)
                });
            }
        };
        match self.content(path, &before.content, after)? {
            Content::Known(now) if now != *content => Ok(Some(Changed::Changed)),
            Content::Known(_) if after.is_tied_elsewhere(before) => Ok(Some(Changed::Written)),
            Content::Known(_) => Ok(mode),
            Content::Unread | Content::None | Content::Staged(_) => Ok(Some(Changed::Written)),
        }
    }
}
