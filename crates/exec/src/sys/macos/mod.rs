//! macOS: no subreapers and no `/proc`, so a job is its process group; descriptors are closed on exec by a second call.

mod descendants;
mod fence;

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::sockopt::set_socket_nosigpipe;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pty::{OpenptFlags, openpt};

pub(crate) use descendants::{DescendantRoots, DescendantSweep, count_keeper_ancestors, process_start_time};
pub(crate) use fence::{
    INIT_ARGUMENT, OPEN_FILES, create_inheritable_file, leave_for_fence, own_number, run_fence,
};

pub(crate) const ADOPTS_ORPHANS: bool = false;
pub(crate) const SEND_FLAGS: SendFlags = SendFlags::empty();
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();

pub(crate) fn own_program() -> io::Result<std::path::PathBuf> {
    std::env::current_exe()
}

/// Orphans go to the first process of the system here.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

pub(crate) fn open_pty_master() -> io::Result<OwnedFd> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    close_on_exec(&master)?;
    Ok(master)
}

pub(crate) fn silence_sigpipe(socket: impl AsFd) -> io::Result<()> {
    Ok(set_socket_nosigpipe(socket, true)?)
}

pub(crate) fn close_on_exec(descriptor: impl AsFd) -> io::Result<()> {
    Ok(fcntl_setfd(descriptor, FdFlags::CLOEXEC)?)
}

/// Pipes grow by themselves here, up to a bound that cannot be set.
pub(crate) fn enlarge_pipe(_: impl AsFd, _: usize) {}
