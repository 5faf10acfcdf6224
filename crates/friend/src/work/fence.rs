//! relay's fence around a friend that works in a copy and has no sandbox of its own.
//!
//! Everything that its program starts runs in it, too. What it may touch outside of the copy, its own file says
//! ([`Friend::agent_places`]); what the fence stops, docs/permissions.md.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use relaycode_exec::{FenceLevel, Job, JobFence};
use relaycode_project::access::Access;
use relaycode_project::fence::{CopyPlace, FencePlace, copy_fence};

use super::scratch::{ScratchError, system_error};
use crate::friend::FriendSandbox;
use crate::{Friend, FriendContext, ScratchCopy};

/// What keeps a friend in its copy, beside what it asks before it does it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CopySandbox {
    /// Nothing: it has no hands, or the user gave it full access.
    #[default]
    None,
    /// Its own sandbox.
    Own,
    /// relay's fence.
    Fence(FenceLevel),
    /// Nothing, because the machine has no fence; why.
    NoFence(String),
}

/// The fence for one turn.
#[derive(Debug)]
pub struct FriendFence {
    fence: JobFence,
    environment: Vec<(OsString, OsString)>,
}

impl FriendFence {
    /// Puts a job of the friend's into the fence.
    pub(crate) fn enclose(&self, job: &mut Job) {
        job.environment.set.extend(self.environment.iter().cloned());
        job.fence = Some(Box::new(self.fence.clone()));
    }
}

/// The fence for a friend in this copy, if it needs one and there is one, and what that makes.
pub(super) fn fence_for(
    friend: &dyn Friend,
    access: Access,
    copy: &ScratchCopy,
    root: &Path,
    world: &FriendContext<'_>,
) -> Result<(Option<FriendFence>, CopySandbox), ScratchError> {
    match friend.abilities().sandbox {
        _ if access == Access::Full => return Ok((None, CopySandbox::None)),
        FriendSandbox::None => return Ok((None, CopySandbox::None)),
        FriendSandbox::Own => return Ok((None, CopySandbox::Own)),
        FriendSandbox::Fence => {}
    }
    let temp = copy.dir_beside("temp")?;
    let probe = world.runner.probe_fence(&temp);
    if probe.level == FenceLevel::Open {
        let why: Vec<&str> = probe.reasons.iter().map(|(_, why)| why.as_str()).collect();
        return Ok((None, CopySandbox::NoFence(why.join("; "))));
    }
    let user_home = (world.env_var)("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let (user_home, relay_home) = (user_home.as_deref(), world.home.as_deref());
    let place = FencePlace { root, user_home, relay_home, temp: &temp, listings: None };
    let places = friend.agent_places(world);
    for state in &places.state {
        // As the program would make it. Where that is not possible, it has none.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(state);
    }
    let layers = copy.dir_beside("layers")?;
    let copy_place = CopyPlace { top: copy.top(), layers: &layers };
    let made = copy_fence(&place, &copy_place, &places, probe.level, world.env_var);
    let fence = FriendFence { fence: made.fence, environment: made.environment };
    Ok((Some(fence), CopySandbox::Fence(probe.level)))
}

impl ScratchCopy {
    /// A directory beside the copy, which goes with it.
    fn dir_beside(&self, name: &str) -> Result<PathBuf, ScratchError> {
        let mut directory = self.top().as_os_str().to_owned();
        // Longer than the copy's own name, whatever the project is called.
        directory.push(format!(".{name}"));
        let directory = PathBuf::from(directory);
        let made = DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(system_error(&directory, "made"))?;
        Ok(directory)
    }
}
