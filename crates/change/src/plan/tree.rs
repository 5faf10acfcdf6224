//! The project as the planner sees it: bytes by path. The engine never touches a disk; the caller brings a
//! [`PlanTree`].

use std::collections::BTreeMap;

use crate::plan::{FileChangeKind, Plan};
use crate::proposal::GitFileMode;
use crate::proposal::path::RelPath;

/// Where the planner reads the project's files.
pub trait PlanTree {
    /// # Errors
    /// If that cannot be found out.
    fn entry(&self, path: &RelPath) -> Result<TreeEntry, PlanTreeError>;

    /// The same for a file that is only moved or deleted: the limit for one file does not count, but it has at most
    /// `most` bytes.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn large_entry(&self, path: &RelPath, most: usize) -> Result<TreeEntry, PlanTreeError> {
        let _ = most;
        self.entry(path)
    }

    /// An existing name that differs from `path` but equals it after Unicode normalisation and case
    /// folding, so that not every file system could hold both.
    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let _ = path;
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    Missing,
    /// A regular file.
    File {
        bytes: Vec<u8>,
        mode: GitFileMode,
    },
    /// Something that relay does not change; the text names it ("a directory", "a symbolic link").
    Other(&'static str),
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("{path} cannot be read: {reason}")]
pub struct PlanTreeError {
    pub path: String,
    /// The system's message.
    pub reason: String,
}

/// A tree as it will be after some plans: one answer builds on another.
pub struct OverlayTree<'t> {
    below: &'t dyn PlanTree,
    /// `None`: the file is deleted.
    files: BTreeMap<RelPath, Option<(Vec<u8>, GitFileMode)>>,
}

impl<'t> OverlayTree<'t> {
    /// No plan is applied yet.
    pub fn new(below: &'t dyn PlanTree) -> OverlayTree<'t> {
        OverlayTree { below, files: BTreeMap::new() }
    }

    /// In memory.
    pub fn apply_plan(&mut self, plan: &Plan) {
        for file in plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged) {
            if let Some(from) = &file.renamed_from {
                self.files.insert(from.clone(), None);
            }
            let mode = file.mode_after.unwrap_or(GitFileMode::Regular);
            self.files.insert(file.path.clone(), file.after.clone().map(|bytes| (bytes, mode)));
        }
    }
}

impl PlanTree for OverlayTree<'_> {
    fn entry(&self, path: &RelPath) -> Result<TreeEntry, PlanTreeError> {
        match self.files.get(path) {
            Some(Some((bytes, mode))) => Ok(TreeEntry::File { bytes: bytes.clone(), mode: *mode }),
            Some(None) => Ok(TreeEntry::Missing),
            None => self.below.entry(path),
        }
    }

    fn large_entry(&self, path: &RelPath, most: usize) -> Result<TreeEntry, PlanTreeError> {
        if self.files.contains_key(path) { self.entry(path) } else { self.below.large_entry(path, most) }
    }

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let key = path.folded_key();
        let new = self.files.iter().filter(|(_, file)| file.is_some()).map(|(name, _)| name);
        let twin = new.into_iter().find(|name| *name != path && name.folded_key() == key);
        let gone =
            |name: &String| self.files.iter().any(|(path, file)| path.as_str() == name && file.is_none());
        twin.map(ToString::to_string).or_else(|| self.below.folded_twin(path).filter(|name| !gone(name)))
    }
}

/// For tests and for callers that already hold the bytes.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    files: BTreeMap<RelPath, (Vec<u8>, GitFileMode)>,
}

impl MemoryTree {
    pub fn insert(&mut self, path: RelPath, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path, (bytes.into(), GitFileMode::Regular));
    }

    pub fn insert_with_mode(&mut self, path: RelPath, bytes: impl Into<Vec<u8>>, mode: GitFileMode) {
        self.files.insert(path, (bytes.into(), mode));
    }
}

impl PlanTree for MemoryTree {
    fn entry(&self, path: &RelPath) -> Result<TreeEntry, PlanTreeError> {
        if let Some((bytes, mode)) = self.files.get(path) {
            return Ok(TreeEntry::File { bytes: bytes.clone(), mode: *mode });
        }
        let inside = format!("{path}/");
        let is_directory = self.files.keys().any(|file| file.as_str().starts_with(&inside));
        Ok(if is_directory { TreeEntry::Other("a directory") } else { TreeEntry::Missing })
    }

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let key = path.folded_key();
        self.files.keys().find(|other| *other != path && other.folded_key() == key).map(ToString::to_string)
    }
}
