//! The project as the planner sees it: bytes by path. The engine never touches a disk itself;
//! whoever plans brings a [`PlanTree`].

use std::collections::BTreeMap;

use crate::plan::{FileChangeKind, Plan};
use crate::proposal::GitFileMode;
use crate::proposal::path::RelPath;

/// Where the planner reads the project's files.
pub trait PlanTree {
    /// What stands at `path`.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn entry(&self, path: &RelPath) -> Result<TreeEntry, PlanTreeError>;

    /// An existing name that differs from `path` but is equal to it after Unicode normalisation
    /// and case folding, so that both could not exist on every file system.
    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let _ = path;
        None
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its mode.
        mode: GitFileMode,
    },
    /// Something that relay does not change; the text names it ("a directory", "a symbolic link").
    Other(&'static str),
}

/// A path could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{path} cannot be read: {reason}")]
pub struct PlanTreeError {
    /// The path.
    pub path: String,
    /// What the system said.
    pub reason: String,
}

/// A tree as it will be once plans are carried out on it: what one answer builds on another.
pub struct OverlayTree<'t> {
    below: &'t dyn PlanTree,
    /// `None`: the file goes.
    files: BTreeMap<RelPath, Option<(Vec<u8>, GitFileMode)>>,
}

impl<'t> OverlayTree<'t> {
    /// Nothing is carried out yet.
    pub fn new(below: &'t dyn PlanTree) -> OverlayTree<'t> {
        OverlayTree { below, files: BTreeMap::new() }
    }

    /// Carries a plan out, in memory.
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

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let key = path.folded_key();
        let new = self.files.iter().filter(|(_, file)| file.is_some()).map(|(name, _)| name);
        let twin = new.into_iter().find(|name| *name != path && name.folded_key() == key);
        let gone =
            |name: &String| self.files.iter().any(|(path, file)| path.as_str() == name && file.is_none());
        twin.map(ToString::to_string).or_else(|| self.below.folded_twin(path).filter(|name| !gone(name)))
    }
}

/// A tree in memory, for tests and for callers that already hold the bytes.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    files: BTreeMap<RelPath, (Vec<u8>, GitFileMode)>,
}

impl MemoryTree {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: RelPath, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path, (bytes.into(), GitFileMode::Regular));
    }

    /// Adds or replaces a file with its mode.
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
