//! How a thread that waits for something is told to end: a pipe, whose end it can wait for beside everything else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};

/// Who waits looks at this beside everything else: it becomes readable when it is time to end.
#[derive(Debug)]
pub struct Stop(OwnedFd);

/// Dropping it tells whoever has the other half to end.
#[derive(Debug)]
pub struct Stopper {
    _open: OwnedFd,
}

/// Both halves.
///
/// # Errors
/// If the system has no pipe left.
pub fn stop() -> io::Result<(Stopper, Stop)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Stopper { _open: write }, Stop(read)))
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
