//! Linux: subreapers, `/proc`, and flags that make a descriptor close on exec in the call that opens it.

mod descendants;
mod fence;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{RecvFlags, SendFlags};
use rustix::pty::{OpenptFlags, openpt};

pub(crate) use descendants::{DescendantRoots, DescendantSweep, count_keeper_ancestors, process_start_time};
pub(crate) use fence::{
    INIT_ARGUMENT, OPEN_FILES, create_inheritable_file, leave_for_fence, own_number, run_fence,
};

pub(crate) const ADOPTS_ORPHANS: bool = true;
pub(crate) const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;
pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// Also when the file was replaced since.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

pub(crate) fn open_pty_master() -> io::Result<OwnedFd> {
    Ok(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?)
}

/// [`SEND_FLAGS`] do it.
pub(crate) fn silence_sigpipe(_: impl AsFd) -> io::Result<()> {
    Ok(())
}

/// [`RECEIVE_FLAGS`] did it.
pub(crate) fn close_on_exec(_: impl AsFd) -> io::Result<()> {
    Ok(())
}

pub(crate) fn enlarge_pipe(end: impl AsFd, bytes: usize) {
    // Refused to a user with very many pipes, who gets a smaller one.
    let _ = rustix::pipe::fcntl_setpipe_size(end, bytes);
}
