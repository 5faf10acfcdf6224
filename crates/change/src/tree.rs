//! The project as the planner sees it: bytes by path. The engine never touches a disk itself;
//! whoever plans brings a [`Tree`].

use std::collections::BTreeMap;

use crate::path::RelPath;
use crate::proposal::Mode;

/// Where the planner reads the project's files.
pub trait Tree {
    /// What stands at `path`.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn entry(&self, path: &RelPath) -> Result<Entry, TreeError>;

    /// An existing name that differs from `path` but is equal to it after Unicode normalisation
    /// and case folding, so that both could not exist on every file system.
    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let _ = path;
        None
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its mode.
        mode: Mode,
    },
    /// Something that relay does not change; the text names it ("a directory", "a symbolic link").
    Other(&'static str),
}

/// A path could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{path} cannot be read: {reason}")]
pub struct TreeError {
    /// The path.
    pub path: String,
    /// What the system said.
    pub reason: String,
}

/// A tree in memory, for tests and for callers that already hold the bytes.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    files: BTreeMap<RelPath, (Vec<u8>, Mode)>,
}

impl MemoryTree {
    /// Adds or replaces a file.
    pub fn insert(&mut self, path: RelPath, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path, (bytes.into(), Mode::Regular));
    }

    /// Adds or replaces a file with its mode.
    pub fn insert_with_mode(&mut self, path: RelPath, bytes: impl Into<Vec<u8>>, mode: Mode) {
        self.files.insert(path, (bytes.into(), mode));
    }
}

impl Tree for MemoryTree {
    fn entry(&self, path: &RelPath) -> Result<Entry, TreeError> {
        if let Some((bytes, mode)) = self.files.get(path) {
            return Ok(Entry::File { bytes: bytes.clone(), mode: *mode });
        }
        let inside = format!("{path}/");
        let is_directory = self.files.keys().any(|file| file.as_str().starts_with(&inside));
        Ok(if is_directory { Entry::Other("a directory") } else { Entry::Missing })
    }

    fn folded_twin(&self, path: &RelPath) -> Option<String> {
        let key = path.folded();
        self.files.keys().find(|other| *other != path && other.folded() == key).map(ToString::to_string)
    }
}
