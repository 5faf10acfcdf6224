//! Paths as models write them: relative to the current directory, absolute, with `~`, or as a `file://` address; and what they
//! stand for. Links are followed first and judged afterwards: nothing outside of the project and the added directories is
//! reached, whatever leads there.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use relaycode_change::proposal::path::RelPath;
use relaycode_project::access::Access;

use super::ToolWorkspace;

/// Bytes of a path.
const MAX_PATH: usize = 4_096;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePath {
    /// Absolute, without links.
    pub path: PathBuf,
    /// As it is shown to models and people: relative to the project, if it is inside.
    pub shown: String,
    /// Something is there.
    pub exists: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkspacePathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path has more than {MAX_PATH} bytes, or a NUL byte")]
    Invalid,
    #[error("`{0}`: there is no home directory that `~` could stand for")]
    NoHome(String),
    #[error("`{path}` leads outside of the project, to {target}; only the project{} can be reached", extra(*.added))]
    Outside { path: String, target: String, added: bool },
    #[error("`{path}` cannot be looked at: {reason}")]
    Unreadable { path: String, reason: String },
    #[error(
        "`{path}` is outside of the project, where files can be read but not changed: only the project's can be undone"
    )]
    ReadOnly { path: String },
    #[error("`{0}` is an address that can at most be read; name a file of the project")]
    Address(String),
    #[error("`{path}` cannot be changed: {reason}")]
    NoTarget { path: String, reason: String },
}

fn extra(added: bool) -> &'static str {
    if added { " and the added directories" } else { "" }
}

impl ToolWorkspace {
    /// What a path stands for. It need not exist.
    ///
    /// # Errors
    /// If it leads where nothing may be reached.
    pub fn resolve(&self, text: &str) -> Result<WorkspacePath, WorkspacePathError> {
        let wanted = self.absolute(text)?;
        let (path, exists) = without_links(&wanted).map_err(|error| WorkspacePathError::Unreadable {
            path: text.to_string(),
            reason: error.to_string(),
        })?;
        let inside = path.starts_with(self.root())
            || self.extra_directories.iter().any(|directory| path.starts_with(directory));
        // Who may do everything may also look everywhere.
        if !inside && self.access != Access::Full {
            return Err(WorkspacePathError::Outside {
                path: text.to_string(),
                target: path.display().to_string(),
                added: !self.extra_directories.is_empty(),
            });
        }
        Ok(WorkspacePath { shown: self.shown_path(&path), path, exists })
    }

    /// The name of a file that is to be changed.
    ///
    /// # Errors
    /// If it is not one of the project's, or cannot be.
    pub fn resolve_target(&self, text: &str) -> Result<(RelPath, WorkspacePath), WorkspacePathError> {
        if is_address(text) {
            return Err(WorkspacePathError::Address(text.to_string()));
        }
        let found = self.resolve(text)?;
        let Ok(inside) = found.path.strip_prefix(self.root()) else {
            return Err(WorkspacePathError::ReadOnly { path: text.to_string() });
        };
        let refused = |reason: String| WorkspacePathError::NoTarget { path: text.to_string(), reason };
        let name = inside.to_str().ok_or_else(|| refused("its name is not UTF-8".to_string()))?;
        let name = RelPath::parse(name).map_err(|error| refused(error.to_string()))?;
        Ok((name, found))
    }

    /// As it is shown: relative to the project, if it is inside; `.` for the project itself.
    pub fn shown_path(&self, path: &Path) -> String {
        match path.strip_prefix(self.root()) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_string(),
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }

    fn absolute(&self, text: &str) -> Result<PathBuf, WorkspacePathError> {
        let text = text.trim();
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text.is_empty() {
            return Err(WorkspacePathError::Empty);
        }
        if text.len() > MAX_PATH || text.contains('\0') {
            return Err(WorkspacePathError::Invalid);
        }
        let home = || self.user_home.clone().ok_or_else(|| WorkspacePathError::NoHome(text.to_string()));
        // A bare `/` is what models write for "here".
        if text == "/" {
            return Ok(self.current_directory());
        }
        if text == "~" {
            return home();
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return Ok(home()?.join(rest));
        }
        Ok(self.current_directory().join(text))
    }
}

/// Whether it is `artifact://3`, `https://…` and the like. As a path, it would make directories of that name.
fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme != "file"
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    })
}

/// The path behind every link; what does not exist is taken as it is written. And whether it exists.
fn without_links(path: &Path) -> std::io::Result<(PathBuf, bool)> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = path;
    loop {
        match fs::canonicalize(existing) {
            Ok(mut found) => {
                let exists = missing.is_empty();
                found.extend(missing.iter().rev());
                return Ok((found, exists));
            }
            // A link to nowhere is something that exists, and nothing that could be made.
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(existing).is_err() => {}
            Err(error) => return Err(error),
        }
        let mut parts = existing.components();
        match parts.next_back() {
            Some(Component::Normal(name)) => missing.push(name),
            // `..` behind something that does not exist leads nowhere.
            _ => return Err(std::io::Error::from(ErrorKind::NotFound)),
        }
        existing = parts.as_path();
    }
}
