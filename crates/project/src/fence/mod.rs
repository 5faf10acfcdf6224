//! The fence for a project: what a command may write, what it must not see, and where it keeps its caches.
//!
//! Nothing here reads the environment or asks anybody. What a fence stops, at which level, is in docs/permissions.md.
//!
//! | module | what it is for |
//! |---|---|
//! | `git_dirs` | git's directories of a project, also of a worktree or submodule |
//! | `secrets` | what of the user's home no command sees |
//! | `caches` | directories outside of the project that tools write |
//! | `needs` | known commands that need more than the fence gives |
//! | `hits` | whether a command failed because of the fence |

mod caches;
mod git_dirs;
mod hits;
mod needs;
mod secrets;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use relaycode_exec::{FenceAccess, FenceLevel, JobFence, PrivateDir};

use crate::protected::ProtectedPaths;
pub use hits::{FenceHit, find_fence_hit};
pub use needs::{CommandNeed, FenceNeed, find_need, missing_needs};

/// Protected names that are looked for in a directory.
const MAX_PROTECTED: usize = 500;

/// Directories whose entries can be protected, beside the root's own.
const LOOKED_INTO: &[&str] = &[".github", ".config"];

/// Where a command runs.
#[derive(Debug, Clone, Copy)]
pub struct FencePlace<'a> {
    /// The project.
    pub root: &'a Path,
    /// The user's home directory.
    pub user_home: Option<&'a Path>,
    /// relay's own directory.
    pub relay_home: Option<&'a Path>,
    /// For temporary files.
    pub temp: &'a Path,
}

/// What a command is given beyond its access level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FenceGrants {
    /// The machine's network.
    pub network: bool,
    /// Sockets that have a path, whatever answers there.
    pub sockets: bool,
    /// Secrets in the project that it must not see, such as `.env`.
    pub hidden: Vec<PathBuf>,
}

/// A fence for one command in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFence {
    /// For the job; of the strongest level.
    pub fence: JobFence,
    /// Variables that the job gets.
    pub environment: Vec<(OsString, OsString)>,
    /// Protected names that do not exist: the command could make them.
    pub absent: Vec<PathBuf>,
}

impl ProjectFence {
    /// The protected names that exist now and did not before.
    pub fn made_names(&self) -> Vec<&Path> {
        self.absent.iter().map(PathBuf::as_path).filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

/// A fence, and the command's own directory for temporary files, which goes with it.
#[derive(Debug)]
pub struct CommandFence {
    pub project: ProjectFence,
    _temp: PrivateDir,
}

impl CommandFence {
    /// The fence for one command in this place, with a directory for temporary files of its own in the place's.
    ///
    /// # Errors
    /// If that directory cannot be made.
    pub fn new(
        place: &FencePlace<'_>,
        access: FenceAccess,
        grants: &FenceGrants,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> io::Result<CommandFence> {
        let temp = PrivateDir::new(place.temp)?;
        let place = FencePlace { temp: temp.path(), ..*place };
        Ok(CommandFence { project: project_fence(&place, access, grants, variable), _temp: temp })
    }
}

/// The fence for a command in this place, whose directory for temporary files is the command's own. `variable` says what the user's environment holds.
pub fn project_fence(
    place: &FencePlace<'_>,
    access: FenceAccess,
    grants: &FenceGrants,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> ProjectFence {
    let git = git_dirs::find(place.root, place.user_home);
    let mut directories = vec![place.root.to_path_buf()];
    directories.extend(git.writable);
    let mut read_only = protected_in(place.root);
    read_only.extend(git.protected);
    let absent = read_only.iter().filter(|path| path.symlink_metadata().is_err()).cloned().collect();
    let mut masked = secrets::find(place.user_home, place.relay_home);
    // Whoever can read a lock can hold it.
    masked.push(place.root.join(".relaycode"));
    masked.extend(grants.hidden.iter().map(|path| place.root.join(path)));
    let (layers, environment) = caches::find(place, variable);
    let fence = JobFence {
        level: FenceLevel::Namespaces,
        access,
        directories,
        layers,
        read_only,
        masked,
        temp: place.temp.into(),
        network: grants.network,
        sockets: grants.sockets,
    };
    ProjectFence { fence, environment, absent }
}

/// Protected files that are in the root, or where tools look for them there. Those further down are found afterwards: a look
/// at a whole tree before each command would cost more than the command.
fn protected_in(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in std::iter::once("").chain(LOOKED_INTO.iter().copied()) {
        for entry in fs::read_dir(root.join(directory)).into_iter().flatten().flatten() {
            let path = Path::new(directory).join(entry.file_name());
            // git's own is looked into apart, relay's own is hidden.
            if entry.file_name() != ".git"
                && entry.file_name() != ".relaycode"
                && ProtectedPaths.matching(&path).is_some()
                && found.len() < MAX_PROTECTED
            {
                found.push(root.join(path));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
