//! How a thread that waits for something is told to end: a pipe, whose end it can wait for beside everything else
//! (on Windows, where a pipe cannot be waited for, a channel).

use std::io;
use std::time::Duration;

#[cfg(unix)]
use std::io::{PipeReader, PipeWriter};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(not(unix))]
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
#[cfg(not(unix))]
use std::sync::{Mutex, PoisonError};

/// Who waits looks at this beside everything else: it becomes readable when it is time to end.
#[derive(Debug)]
pub struct WatchStopSignal {
    #[cfg(unix)]
    told: PipeReader,
    #[cfg(not(unix))]
    told: Mutex<Receiver<()>>,
}

/// Dropping it tells whoever has the other half to end.
#[derive(Debug)]
pub struct WatchStopGuard {
    #[cfg(unix)]
    _open: PipeWriter,
    #[cfg(not(unix))]
    _open: Sender<()>,
}

/// Both halves.
///
/// # Errors
/// If the system has no pipe left.
pub fn stop_pair() -> io::Result<(WatchStopGuard, WatchStopSignal)> {
    #[cfg(unix)]
    let (told, open) = io::pipe()?;
    #[cfg(not(unix))]
    let (open, told) = channel();
    #[cfg(not(unix))]
    let told = Mutex::new(told);
    Ok((WatchStopGuard { _open: open }, WatchStopSignal { told }))
}

impl WatchStopSignal {
    /// Waits that long, or until it is time to end: whether it is.
    #[cfg(unix)]
    #[must_use]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        use super::poll::{deadline_after, poll_readable, poll_until};
        let mut told = [poll_readable(self)];
        // A wait that fails would turn the caller's loop into a spin: it is taken for the end.
        poll_until(&mut told, deadline_after(time)).is_err() || !told[0].revents().is_empty()
    }

    /// Waits that long, or until it is time to end: whether it is.
    #[cfg(not(unix))]
    #[must_use]
    pub fn within(&self, time: Duration) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

#[cfg(unix)]
impl AsFd for WatchStopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }
}
