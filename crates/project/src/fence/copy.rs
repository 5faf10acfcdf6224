//! The fence for an agent that works in a copy of a project: it may change the copy, reach the network, and use what it keeps in
//! the user's home. What it changes there goes with the turn, but for its sign-in: a setting that it wrote would be obeyed
//! when the user runs it next, without a fence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use relaycode_exec::{FenceAccess, FenceLayer, FenceLevel, JobFence};

use super::{FencePlace, ProjectFence, caches, git_dirs, make_private, secrets};

/// What an agent keeps outside of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPlaces {
    /// Directories of its own, which exist. It sees them and changes a layer over them; at level 2, which has no layers, them.
    pub state: Vec<PathBuf>,
    /// Files by which it is signed in. What it writes there stays: a provider may take a renewed sign-in for the only valid one.
    pub sign_in: Vec<PathBuf>,
    /// Secrets that it may read.
    pub lent: Vec<PathBuf>,
}

/// The fence for an agent, and what the project has to do with it. The place's root is the project itself.
pub fn copy_fence(
    place: &FencePlace<'_>,
    copy: &CopyPlace<'_>,
    own: &AgentPlaces,
    level: FenceLevel,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> ProjectFence {
    let (mut layers, environment) = caches::find(place, variable);
    let mut directories = vec![copy.top.to_path_buf()];
    for (number, state) in canonical(&own.state).into_iter().enumerate() {
        let is_layered = layers.iter().any(|layer| state.starts_with(&layer.directory));
        let kept_in = copy.layers.join(number.to_string());
        if level != FenceLevel::Namespaces {
            directories.push(state);
        } else if !is_layered && make_private(&kept_in) {
            layers.push(FenceLayer { directory: state.into(), kept_in: kept_in.into() });
        }
    }
    let sign_in = canonical(&own.sign_in);
    let mut open = canonical(&own.lent);
    open.extend(canonical(&own.state));
    open.extend(sign_in.clone());
    open.push(copy.top.to_path_buf());
    let mut masked = secrets::find_except(place.user_home, place.relay_home, &open);
    // Whoever can read a lock can hold it.
    masked.push(place.root.join(".relaycode"));
    directories.extend(sign_in);
    let git = git_dirs::find(copy.top, place.user_home).protected;
    let read_only: Vec<PathBuf> = git.into_iter().filter(|path| path.starts_with(copy.top)).collect();
    // The copy borrows the objects of the project's repository, which may lie above it.
    let project = place.root.ancestors();
    let homes = [place.user_home, place.relay_home].into_iter().flatten();
    let path = variable("PATH").unwrap_or_default();
    let programs = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    let visible = project.chain(homes).map(Path::to_path_buf).chain(programs).collect();
    let fence = JobFence {
        level,
        access: FenceAccess::Workspace,
        directories,
        visible,
        layers,
        read_only,
        masked,
        temp: place.temp.into(),
        network: true,
        sockets: Vec::new(),
    };
    // Nobody but relay runs git in the copy, and it obeys nothing there.
    ProjectFence { fence, environment, git: None }
}

/// Where the copy of a project is.
#[derive(Debug, Clone, Copy)]
pub struct CopyPlace<'a> {
    /// The whole of it, with its repository; without links.
    pub top: &'a Path,
    /// For what the agent changes in its own directories.
    pub layers: &'a Path,
}

/// Those that exist, by their real names.
fn canonical(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
}
