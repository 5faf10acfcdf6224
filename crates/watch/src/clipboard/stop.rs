//! How a thread that waits for something is told to end: a pipe, whose end it can wait for beside everything else.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::poll::{deadline_after, poll_readable, poll_until};

/// Who waits looks at this beside everything else: it becomes readable when it is time to end.
#[derive(Debug)]
pub struct WatchStopSignal {
    told: PipeReader,
}

/// Dropping it tells whoever has the other half to end.
#[derive(Debug)]
pub struct WatchStopGuard {
    _open: PipeWriter,
}

/// Both halves.
///
/// # Errors
/// If the system has no pipe left.
pub fn stop_pair() -> io::Result<(WatchStopGuard, WatchStopSignal)> {
    let (told, open) = io::pipe()?;
    Ok((WatchStopGuard { _open: open }, WatchStopSignal { told }))
}

impl WatchStopSignal {
    /// Waits that long, or until it is time to end: whether it is.
    #[must_use]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        let mut told = [poll_readable(self)];
        // A wait that fails would turn the caller's loop into a spin: it is taken for the end.
        poll_until(&mut told, deadline_after(time)).is_err() || !told[0].revents().is_empty()
    }
}

impl AsFd for WatchStopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }
}
