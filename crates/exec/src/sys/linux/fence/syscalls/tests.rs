//! Which calls each order refuses.

use super::*;

fn fence(level: FenceLevel, access: FenceAccess, network: bool) -> JobFence {
    JobFence {
        level,
        access,
        directories: Vec::new(),
        visible: Vec::new(),
        layers: Vec::new(),
        read_only: Vec::new(),
        masked: Vec::new(),
        temp: "/t".into(),
        network,
        sockets: Vec::new(),
    }
}

fn calls(level: FenceLevel, access: FenceAccess, network: bool) -> CallRules {
    refused_calls(&fence(level, access, network)).unwrap()
}

/// Refused whatever its arguments are.
fn always(calls: &CallRules, call: i64) -> bool {
    calls.get(&call).is_some_and(Vec::is_empty)
}

#[test]
fn every_order_refuses_what_no_command_needs() {
    for level in [FenceLevel::Namespaces, FenceLevel::Rules] {
        for access in [FenceAccess::ReadOnly, FenceAccess::Workspace] {
            let calls = calls(level, access, true);
            assert!(NEVER.iter().all(|call| always(&calls, *call)));
            for judged in [libc::SYS_clone, libc::SYS_unshare, libc::SYS_ioctl, libc::SYS_socketpair] {
                assert!(!calls[&judged].is_empty(), "{judged} would be refused always");
            }
            for needed in
                [libc::SYS_execve, libc::SYS_openat, libc::SYS_wait4, libc::SYS_ptrace, libc::SYS_kill]
            {
                assert!(!calls.contains_key(&needed), "{needed}");
            }
        }
    }
}

#[test]
fn level_two_refuses_what_namespaces_would_keep_apart() {
    let (one, two) = (
        calls(FenceLevel::Namespaces, FenceAccess::Workspace, false),
        calls(FenceLevel::Rules, FenceAccess::Workspace, false),
    );
    assert!(!always(&one, libc::SYS_socket) && always(&two, libc::SYS_socket));
    assert!(!one.contains_key(&libc::SYS_shmat) && always(&two, libc::SYS_shmat));
    assert!(!one.contains_key(&libc::SYS_prlimit64) && !always(&two, libc::SYS_prlimit64));
    let with_network = calls(FenceLevel::Rules, FenceAccess::Workspace, true);
    assert!(!always(&with_network, libc::SYS_socket));
}

#[test]
fn metadata_is_refused_only_where_nothing_may_be_written_and_no_mount_helps() {
    for (level, access, refused) in [
        (FenceLevel::Namespaces, FenceAccess::ReadOnly, false),
        (FenceLevel::Rules, FenceAccess::Workspace, false),
        (FenceLevel::Rules, FenceAccess::ReadOnly, true),
    ] {
        let calls = calls(level, access, false);
        assert!(METADATA.iter().all(|call| always(&calls, *call) == refused), "{level:?} {access:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_second_way_to_make_a_call_is_refused_as_the_first_is() {
    let calls = calls(FenceLevel::Rules, FenceAccess::ReadOnly, false);
    let bit = SHORT_POINTERS.unwrap();
    for call in calls.keys().filter(|call| **call & bit == 0) {
        assert_eq!(calls.get(call), calls.get(&(call | bit)), "{call}");
    }
}
