//! Where a project begins: the nearest directory above that says so.

use std::path::{Path, PathBuf};

/// The directory that a project lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its path, without links.
    pub path: PathBuf,
    /// What says that it is one.
    pub marker: Marker,
}

/// What marks a project's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A configuration of relay.
    Config,
    /// relay's state directory.
    State,
    /// A git repository.
    Git,
    /// Nothing: it is the directory that relay was started in.
    Nothing,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The directory to begin with is none.
    #[error("the directory {} cannot be used: {source}", path.display())]
    Start {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The root of the project that `start` lies in. `home` is the user's own directory of relay, which
/// marks nothing.
///
/// # Errors
/// If `start` is no directory that can be entered.
pub fn find(start: &Path, home: Option<&Path>) -> Result<Root, RootError> {
    let _ = home;
    let path =
        start.canonicalize().map_err(|source| RootError::Start { path: start.to_path_buf(), source })?;
    Ok(Root { path, marker: Marker::Nothing })
}
