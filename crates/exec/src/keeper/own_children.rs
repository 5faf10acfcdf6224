//! Which children of this process are its own: keepers, and those on the way to outlive it ([`crate::detach`]).
//!
//! relay is a subreaper like every keeper: what a keeper leaves behind when it is killed becomes relay's child. So a child
//! that is not on this list, and is no older than the keeper, is what a lost keeper kept. Starting a child and looking for
//! strangers exclude each other: a child that has just begun is never taken for one.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, WaitOptions, waitpgid};

use crate::sys;

/// The children that this process started itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnChildren {
    /// Keepers that are not waited for yet.
    keepers: Vec<i32>,
    /// Each leads, or led, the session of a process that outlives relay.
    detached: Vec<i32>,
}

static OWN_CHILDREN: Mutex<OwnChildren> =
    Mutex::new(OwnChildren { keepers: Vec::new(), detached: Vec::new() });

/// While this is held no child is started, and none of them leaves the list.
pub(crate) fn lock() -> MutexGuard<'static, OwnChildren> {
    // Whoever panicked had only added or removed a number.
    OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a keeper. From then on this process adopts whoever loses its keeper.
pub(crate) fn spawn_keeper(command: &mut Command) -> io::Result<Child> {
    let mut own = lock();
    sys::adopt_orphans()?;
    let child = command.spawn()?;
    own.keepers.extend(i32::try_from(child.id()));
    Ok(child)
}

/// Waits for a keeper that has ended or is about to; its number may be another's afterwards.
pub(crate) fn wait_for_keeper(child: &mut Child) {
    let mut own = lock();
    let _ = child.wait();
    own.keepers.retain(|keeper| i32::try_from(child.id()) != Ok(*keeper));
}

/// Starts the first process of one that outlives relay. The second becomes relay's child as well, in a session by that
/// number, and is waited for when the next is started.
pub(crate) fn spawn_detached_leader(command: &mut Command) -> io::Result<Child> {
    let mut own = lock();
    own.detached.retain(|leader| {
        let ended = Pid::from_raw(*leader).map(|group| waitpgid(group, WaitOptions::NOHANG));
        matches!(ended, Some(Ok(None)))
    });
    let child = command.spawn()?;
    own.detached.extend(i32::try_from(child.id()));
    Ok(child)
}

impl OwnChildren {
    /// Whether this process, in this session, is one of them.
    pub(crate) fn contains(&self, number: i32, session: i32) -> bool {
        self.keepers.contains(&number) || self.detached.contains(&number) || self.detached.contains(&session)
    }
}
