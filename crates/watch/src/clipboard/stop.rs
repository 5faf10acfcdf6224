//! Tells a waiting thread to end: a pipe that it can wait for together with everything else (on Windows,
//! where a pipe cannot be waited for, a channel).

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

/// Becomes readable when it is time to end.
#[derive(Debug)]
pub struct WatchStopSignal {
    #[cfg(unix)]
    receiver: PipeReader,
    #[cfg(not(unix))]
    receiver: Mutex<Receiver<()>>,
}

/// Dropping it sends the signal to the other half.
#[derive(Debug)]
pub struct WatchStopGuard {
    #[cfg(unix)]
    _open: PipeWriter,
    #[cfg(not(unix))]
    _open: Sender<()>,
}

/// # Errors
/// If the system has no pipe left.
pub fn stop_pair() -> io::Result<(WatchStopGuard, WatchStopSignal)> {
    #[cfg(unix)]
    let (receiver, open) = io::pipe()?;
    #[cfg(not(unix))]
    let (open, receiver) = channel();
    #[cfg(not(unix))]
    let receiver = Mutex::new(receiver);
    Ok((WatchStopGuard { _open: open }, WatchStopSignal { receiver }))
}

impl WatchStopSignal {
    /// Waits that long, or until it is time to end; returns whether it is.
    #[cfg(unix)]
    #[must_use]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        use super::poll::{deadline_after, poll_readable, poll_until};
        let mut receiver = [poll_readable(self)];
        // A failing wait would turn the caller's loop into a spin, so it counts as the end.
        poll_until(&mut receiver, deadline_after(time)).is_err() || !receiver[0].revents().is_empty()
    }

    /// Waits that long, or until it is time to end; returns whether it is.
    #[cfg(not(unix))]
    #[must_use]
    pub fn within(&self, time: Duration) -> bool {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

#[cfg(unix)]
impl AsFd for WatchStopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}
