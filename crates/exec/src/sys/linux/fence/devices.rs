//! A `/dev` with what programs need: the machine's disks, terminals and logs are not in it. A read-only mount would not keep
//! root from writing to them.

use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{MountFlags, OpenTreeFlags, mount, open_tree};

use super::mounts::attach;
use super::{Step, StepError};

/// Devices that only talk to whoever opens them.
pub(super) const NODES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// New file systems of the command's own: terminals that it makes, memory that its processes share.
pub(super) const OWN: [&str; 2] = ["/dev/pts", "/dev/shm"];

/// Names that scripts use.
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
];

/// Puts it in place of the machine's.
pub(super) fn replace_dev() -> Result<(), StepError> {
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let nodes: Vec<(&str, OwnedFd)> =
        NODES.into_iter().filter_map(|node| Some((node, open_tree(CWD, node, clone).ok()?))).collect();
    let quiet = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("tmpfs", "/dev", "tmpfs", quiet, c"mode=0755,size=64k").step("make a /dev")?;
    for (path, node) in nodes {
        std::fs::write(path, "").step("make a /dev")?;
        attach(&node, Path::new(path)).step("make a /dev")?;
    }
    for directory in OWN {
        std::fs::create_dir(directory).step("make a /dev")?;
    }
    mount("devpts", "/dev/pts", "devpts", quiet, c"newinstance,ptmxmode=0666,mode=0600")
        .step("make a /dev/pts")?;
    mount("tmpfs", "/dev/shm", "tmpfs", quiet | MountFlags::NODEV, c"mode=1777").step("make a /dev/shm")?;
    for (target, name) in LINKS {
        symlink(target, name).step("make a /dev")?;
    }
    Ok(())
}
