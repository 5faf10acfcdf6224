//! Where a project begins: the nearest directory above that says so.
//!
//! Whoever can put a file somewhere above could otherwise become the project of everything below, so not
//! every mark counts:
//! - The user's own directory of relay marks nothing.
//! - The root of the file system and the user's home directory are found only by a command that is
//!   started right there, by a configuration or a repository. A stray `~/.git` swallows nothing.
//! - What holds the user's own directory of relay is found, but is no project ([`require_project`]): that directory
//!   would be among the project's files, and `~/.relaycode` its ledger.
//! - A mark above that belongs to somebody else is passed over. Somebody else is neither the current user
//!   nor root nor the owner of the directory that relay was started in (who could have put a mark there,
//!   too; so a checkout that belongs to another user works in all of its directories).

use std::path::{Path, PathBuf};
use std::{fs::Metadata, io, os::unix::fs::MetadataExt};

use relaycode_durable::private_files;

use crate::config::PROJECT_FILES;

/// Directories that are looked at.
const LEVELS: usize = 64;
/// The name of relay's state directory, and of the user's own directory in their home.
const STATE: &str = ".relaycode";

/// The directory that a project lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDirectory {
    /// Its path, without links.
    pub path: PathBuf,
    /// What says that it is one.
    pub marker: RootMarker,
}

impl ProjectDirectory {
    /// `path`, which is absolute and without links, as seen from here; `None` if it lies elsewhere.
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.path).ok()
    }
}

/// What marks a project's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMarker {
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
    Start { path: PathBuf, source: io::Error },
    /// It is everything there is.
    #[error("/ is the whole file system, not a project")]
    FileSystem,
    /// It is the user's home.
    #[error("{} is your home directory, not a project", .0.display())]
    UserHome(PathBuf),
    /// The user's own directory of relay lies in it.
    #[error("{} cannot be a project: relay keeps your own files inside it, in {}", root.display(), home.display())]
    HoldsRelayHome { root: PathBuf, home: PathBuf },
}

/// The root of the project that `start` lies in. `home` is the user's own directory of relay, which
/// marks nothing. `ceilings` are directories that, with everything above them, are not looked at unless
/// relay was started right there.
///
/// # Errors
/// If `start` is no directory that can be entered.
pub fn find(start: &Path, home: Option<&Path>, ceilings: &[PathBuf]) -> Result<ProjectDirectory, RootError> {
    let (path, metadata) = enter(start)?;
    let search = RootSearch {
        relay_home: home.and_then(|home| home.canonicalize().ok()),
        user_home: home
            .filter(|home| home.file_name().is_some_and(|name| name == STATE))
            .and_then(|home| home.parent()?.canonicalize().ok()),
        trusted: [0, rustix::process::getuid().as_raw(), metadata.uid()],
    };
    let ceilings: Vec<PathBuf> = ceilings.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let above = path.ancestors().skip(1).take_while(|directory| !ceilings.iter().any(|top| top == directory));
    let found =
        [path.as_path()].into_iter().chain(above).take(LEVELS).enumerate().find_map(|(level, directory)| {
            let marker = search.marker(directory, level > 0)?;
            Some(ProjectDirectory { path: directory.to_path_buf(), marker })
        });
    Ok(found.unwrap_or(ProjectDirectory { path, marker: RootMarker::Nothing }))
}

/// The directory that `start` is, as a project of its own, whatever lies around it.
///
/// # Errors
/// If `start` is no directory that can be entered.
pub fn here(start: &Path) -> Result<ProjectDirectory, RootError> {
    let path = enter(start)?.0;
    Ok(ProjectDirectory { path, marker: RootMarker::Nothing })
}

/// Whether what was found can be a project. `relay_home` is the user's own directory of relay, `user_home` the home
/// directory. Who keeps the one outside the other can have a project in the other, if something there marks it.
///
/// # Errors
/// If it cannot.
pub fn require_project(
    found: &ProjectDirectory,
    relay_home: Option<&Path>,
    user_home: Option<&Path>,
) -> Result<(), RootError> {
    let root = found.path.as_path();
    if root.parent().is_none() {
        return Err(RootError::FileSystem);
    }
    let holds = relay_home.filter(|home| private_files::require_outside(home, root).is_err());
    let users = user_home.and_then(|home| home.canonicalize().ok()).is_some_and(|home| home == root);
    match holds {
        _ if users && (holds.is_some() || found.marker == RootMarker::Nothing) => {
            Err(RootError::UserHome(root.to_path_buf()))
        }
        Some(home) => Err(RootError::HoldsRelayHome { root: root.to_path_buf(), home: home.to_path_buf() }),
        None => Ok(()),
    }
}

/// The directory at `start`, without links.
fn enter(start: &Path) -> Result<(PathBuf, Metadata), RootError> {
    let bad = |source| RootError::Start { path: start.to_path_buf(), source };
    let path = start.canonicalize().map_err(bad)?;
    let metadata = path.metadata().map_err(bad)?;
    if !metadata.is_dir() {
        return Err(bad(io::ErrorKind::NotADirectory.into()));
    }
    Ok((path, metadata))
}

struct RootSearch {
    /// The user's own directory of relay, if it exists.
    relay_home: Option<PathBuf>,
    /// The user's home, if it is known.
    user_home: Option<PathBuf>,
    /// The users whose marks count above the start.
    trusted: [u32; 3],
}

impl RootSearch {
    /// What marks `directory`, which is `above` the start or the start itself.
    fn marker(&self, directory: &Path, above: bool) -> Option<RootMarker> {
        let everyones = directory.parent().is_none() || self.user_home.as_deref() == Some(directory);
        if everyones && above {
            return None;
        }
        let counts = |metadata: &Metadata| !above || self.trusted.contains(&metadata.uid());
        let has = |name: &str, is: fn(&Metadata) -> bool| {
            directory.join(name).symlink_metadata().is_ok_and(|metadata| is(&metadata) && counts(&metadata))
        };
        if PROJECT_FILES.iter().any(|name| has(name, |metadata| metadata.is_file() || metadata.is_symlink()))
        {
            return Some(RootMarker::Config);
        }
        let relays = self.relay_home.as_ref().is_some_and(|relays| *relays == directory.join(STATE));
        if !everyones && !relays && has(STATE, Metadata::is_dir) {
            return Some(RootMarker::State);
        }
        has(".git", |metadata| metadata.is_dir() || metadata.is_file() || metadata.is_symlink())
            .then_some(RootMarker::Git)
    }
}

#[cfg(test)]
mod tests;
