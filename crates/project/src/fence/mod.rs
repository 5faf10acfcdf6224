//! The fence for a project: what a command may write, what it must not see, and where it keeps its caches.
//!
//! Nothing here reads the environment or asks anybody. What a fence stops, at which level, is in docs/permissions.md.
//!
//! | module | what it is for |
//! |---|---|
//! | `git_dirs` | git's directories of a project, also of a worktree or submodule |
//! | `git_guard` | what makes git run something, before a command and after it |
//! | `secrets` | what of the user's home no command sees |
//! | `sockets` | where services of the machine listen |
//! | `caches` | directories outside of the project that tools write |
//! | `copy` | the fence for an agent that works in a copy of the project |
//! | `needs` | known commands that need more than the fence gives |
//! | `hits` | whether a command failed because of the fence |

mod caches;
mod copy;
mod git_dirs;
mod git_guard;
mod hits;
mod needs;
mod secrets;
mod sockets;

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use relaycode_exec::{FenceAccess, FenceLevel, JobFence, PrivateDir};

use crate::protected::ProtectedPaths;
pub use copy::{AgentPlaces, CopyPlace, copy_fence};
pub use git_guard::{DirectoryListings, GitControl, GitControlChange, GitControlChanges, GitGuard};
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
    /// What the look before an earlier command here found, and where this one leaves what it finds.
    pub listings: Option<&'a Arc<DirectoryListings>>,
}

/// What a command is given beyond its access level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FenceGrants {
    /// The machine's network.
    pub network: bool,
    /// Sockets that have a path and that it may connect to.
    pub sockets: Vec<PathBuf>,
    /// What else it must not see, such as `.env` where a rule says so.
    pub hidden: Vec<PathBuf>,
}

/// A fence for one command in a project.
#[derive(Debug, Clone)]
pub struct ProjectFence {
    /// For the job; of the strongest level.
    pub fence: JobFence,
    /// Variables that the job gets.
    pub environment: Vec<(OsString, OsString)>,
    /// How git stands before the command; `None`: the command cannot change it.
    pub git: Option<GitGuard>,
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
    let git = (access == FenceAccess::Workspace).then(|| {
        let listings = place.listings.map_or_else(Arc::default, Arc::clone);
        GitGuard::new(place.root, place.user_home, listings)
    });
    read_only.extend(git.iter().flat_map(GitGuard::protected));
    // A copy of a project lies beneath relay's own directory.
    let open = [place.root.to_path_buf()];
    let mut masked = secrets::find_except(place.user_home, place.relay_home, &open);
    // Whoever can read a lock can hold it.
    masked.push(place.root.join(".relaycode"));
    masked.extend(grants.hidden.iter().map(|path| place.root.join(path)));
    if !grants.sockets.is_empty() {
        masked.extend(sockets::others(place, &grants.sockets, variable));
    }
    let (layers, environment) = caches::find(place, variable);
    let fence = JobFence {
        level: FenceLevel::Namespaces,
        access,
        directories,
        visible: Vec::new(),
        layers,
        read_only,
        masked,
        temp: place.temp.into(),
        network: grants.network,
        sockets: grants.sockets.clone(),
    };
    ProjectFence { fence, environment, git }
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
                let path = root.join(path);
                // A link is set aside when it was replaced; what it leads to has a name of its own.
                let target =
                    path.canonicalize().ok().filter(|target| *target != path && target.starts_with(root));
                found.extend(target.filter(|target| target != root));
                found.push(path);
            }
        }
    }
    found
}

/// Whether there is such a directory now, for the user alone. Where there is not, what it would be over is read-only.
fn make_private(path: &Path) -> bool {
    DirBuilder::new().mode(0o700).recursive(true).create(path).is_ok()
}

#[cfg(test)]
mod tests;
