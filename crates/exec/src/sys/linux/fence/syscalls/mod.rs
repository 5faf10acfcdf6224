//! The filter of system calls: a list of what no command needs and what neither mounts nor Landlock can judge.
//!
//! It is a list of refusals, as a list of permissions would have to know every program. What it refuses fails with "not
//! permitted", as a program expects of a call that it may not make. Only numbers can be judged: a path is in memory that
//! the program can change after it was looked at. Calls of another machine's kind (32 bits) end the program.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Step, StepError};
use crate::fence::{FenceAccess, FenceLevel, JobFence};

mod lists;

use lists::{IOCTLS, METADATA, NAMESPACE_FLAGS, NEVER, PROCESS_OF_OTHERS, SHARED_WITH_OTHERS, UNSHARE_FLAGS};

/// Rules by the number of a call. Any of a call's rules refuses it; none at all means: always.
type CallRules = BTreeMap<i64, Vec<SeccompRule>>;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// The second way to make each call on x86-64, for programs with short pointers.
#[cfg(target_arch = "x86_64")]
const SHORT_POINTERS: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SHORT_POINTERS: Option<i64> = None;

/// `ioctl` has a number of its own there.
const SHORT_POINTER_IOCTL: i64 = 514;

pub(super) fn restrict(fence: &JobFence) -> Result<(), StepError> {
    let step = "filter system calls";
    let refused = refused_calls(fence).step(step)?;
    // Its flags are in memory. Whoever is told that it does not exist takes the older call, whose flags are not.
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    for (rules, error) in [(refused, libc::EPERM), (absent, libc::ENOSYS)] {
        let action = SeccompAction::Errno(error as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, ARCHITECTURE).step(step)?;
        let program: seccompiler::BpfProgram = filter.try_into().step(step)?;
        seccompiler::apply_filter(&program).step(step)?;
    }
    Ok(())
}

fn refused_calls(fence: &JobFence) -> Result<CallRules, BackendError> {
    let alone = fence.level != FenceLevel::Namespaces;
    let mut calls: CallRules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    for flag in NAMESPACE_FLAGS {
        calls.entry(libc::SYS_clone).or_default().push(has_flag(0, *flag)?);
    }
    for flag in NAMESPACE_FLAGS.iter().chain(UNSHARE_FLAGS) {
        calls.entry(libc::SYS_unshare).or_default().push(has_flag(0, *flag)?);
    }
    calls.insert(libc::SYS_ioctl, IOCTLS.iter().map(|request| is(1, *request)).collect::<Result<_, _>>()?);
    calls.insert(libc::SYS_socket, refused_sockets(alone && !fence.network, !fence.sockets.is_empty())?);
    calls.insert(libc::SYS_socketpair, refused_pairs()?);
    if alone {
        calls.extend(SHARED_WITH_OTHERS.iter().map(|call| (*call, Vec::new())));
        for (call, argument) in PROCESS_OF_OTHERS {
            calls.insert(*call, vec![SeccompRule::new(vec![not(*argument, 0)?])?]);
        }
        if fence.access == FenceAccess::ReadOnly {
            calls.extend(METADATA.iter().map(|call| (*call, Vec::new())));
        }
    }
    if let Some(bit) = SHORT_POINTERS {
        let mut short: CallRules = calls.iter().map(|(call, rules)| (call | bit, rules.clone())).collect();
        short.insert(libc::SYS_clone3 | bit, Vec::new());
        short.extend(calls.get(&libc::SYS_ioctl).map(|rules| (SHORT_POINTER_IOCTL | bit, rules.clone())));
        calls.extend(short);
    }
    Ok(calls)
}

/// Which sockets are refused: all but those of the network, unless there is none of its own, and those with a path, where
/// they are allowed.
fn refused_sockets(without_network: bool, with_paths: bool) -> Result<Vec<SeccompRule>, BackendError> {
    let mut allowed = Vec::new();
    if !without_network {
        allowed.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if with_paths {
        allowed.push(libc::AF_UNIX);
    }
    if allowed.is_empty() {
        return Ok(Vec::new());
    }
    let others = allowed.into_iter().map(|family| not(0, family as u64)).collect::<Result<_, _>>()?;
    Ok(vec![SeccompRule::new(others)?])
}

/// A pair that is not connected for good could be connected to a socket of others: of any kind but `SOCK_STREAM` (1) and
/// `SOCK_SEQPACKET` (5), as the kernel takes `SOCK_RAW` for datagrams, too. Of the four bits that leaves the first set and the second and
/// the last clear.
fn refused_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    let bits = [(1, 0), (2, 2), (8, 8)].into_iter().map(|(bit, value)| {
        let kind = SeccompCmpOp::MaskedEq(bit);
        SeccompRule::new(vec![SeccompCondition::new(1, SeccompCmpArgLen::Dword, kind, value)?])
    });
    bits.chain([SeccompRule::new(vec![not(0, libc::AF_UNIX as u64)?])]).collect()
}

fn not(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn is(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?])
}

fn has_flag(argument: u8, flag: u64) -> Result<SeccompRule, BackendError> {
    let set = SeccompCmpOp::MaskedEq(flag);
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, set, flag)?])
}

#[cfg(test)]
mod tests;
