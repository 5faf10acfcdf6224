//! Leaving for new namespaces, and waiting for their first process.
//!
//! Inside, users are the same as outside and nobody else exists: the own number is mapped to itself. The rights to arrange
//! mounts and network come with the new user namespace and survive the start of the next process as *ambient*
//! capabilities; it gives them up before the command begins.
//!
//! Who leaves stays outside of what holds the command: its own process number, mounts and `/proc` are the machine's. Mostly that
//! is a keeper; a process of its own only where there is none, as when the levels are tried.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;

use nix::sched::CloneFlags;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use rustix::thread::CapabilitySet;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

use super::{INIT_ARGUMENT, Step, StepError, close_inherited, own_number};
use crate::fence::{FENCE_ARGUMENT, FENCE_FAILED_CODE, FenceChannel, FenceEnd, FenceReport, JobFence};

/// They are for the command, which gets them too. If this process ended by one, the command would be killed at once.
const OUTLIVED: [i32; 5] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP];

/// What the next process needs: mounts, the loopback device, and giving up.
const NEEDED: [CapabilitySet; 3] =
    [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::SETPCAP];

/// Level 1, the process outside.
pub(super) fn run(number: &str, channel: &mut FenceChannel) -> Result<ExitCode, StepError> {
    let spec = channel.spec().step("read the order")?;
    close_inherited(number.parse().ok())?;
    for signal in OUTLIVED {
        signal_hook::flag::register(signal, Arc::default()).step("catch signals")?;
    }
    leave(&spec.fence)?;
    let mut init = Command::new("/proc/self/exe");
    init.arg(FENCE_ARGUMENT).arg(number).arg(INIT_ARGUMENT);
    init.arg(own_number().step("look what number this process has")?);
    let mut child = init.spawn().step("start the first process of the namespaces")?;
    let status = child.wait().step("wait for the command")?;
    Ok(end_like_command(channel, status))
}

/// Makes the namespaces that the next process of this one is the first of. Mounts it makes its own by itself: this process keeps
/// the machine's, and with them a `/proc` that has everybody.
pub(super) fn leave(fence: &JobFence) -> Result<(), StepError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let network = if fence.network { CloneFlags::empty() } else { CloneFlags::CLONE_NEWNET };
    let others = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER | others | network)
        .step("make namespaces (may unprivileged users?)")?;
    // Without this a group list cannot be given up to gain access, so the kernel allows the map.
    std::fs::write("/proc/self/setgroups", "deny").step("map users")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).step("map users")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).step("map groups")?;
    keep_capabilities()?;
    // The command is this user in this user namespace. It has no name for this process; if it had, it could not trace it either.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step("become unreadable")
}

/// In the first process of the new namespaces.
pub(super) fn leave_mounts() -> Result<(), StepError> {
    nix::sched::unshare(CloneFlags::CLONE_NEWNS).step("make a mount namespace")
}

/// Hands the needed capabilities on to the next program.
fn keep_capabilities() -> Result<(), StepError> {
    let mut sets = rustix::thread::capabilities(None).step("keep capabilities")?;
    sets.inheritable = NEEDED.into_iter().collect();
    rustix::thread::set_capabilities(None, sets).step("keep capabilities")?;
    for needed in NEEDED {
        rustix::thread::configure_capability_in_ambient_set(needed, true).step("keep capabilities")?;
    }
    Ok(())
}

/// Whoever waits for this process sees the end that the command had, also if that was a signal, which the first process of
/// a namespace cannot send itself.
fn end_like_command(channel: &mut FenceChannel, status: ExitStatus) -> ExitCode {
    let signal = match channel.report() {
        Ok(FenceReport::Entered { end: Some(FenceEnd { signal: Some(signal), .. }), .. }) => Some(signal),
        Ok(FenceReport::Entered { end: Some(end), .. }) => return ExitCode::from(end.code as u8),
        _ => status.signal(),
    };
    if let Some(signal) = signal {
        // The command has left its core, if it did; this process has nothing to say in one.
        let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        if signal == Signal::KILL.as_raw() {
            let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
        }
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    ExitCode::from(FENCE_FAILED_CODE)
}
