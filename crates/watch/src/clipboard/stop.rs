//! Tells a waiting thread to end: a pipe that it can wait for together with everything else.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::poll::{deadline_after, poll_readable, poll_until};

/// Becomes readable when it is time to end.
#[derive(Debug)]
pub struct WatchStopSignal {
    receiver: PipeReader,
}

/// Dropping it sends the signal to the other half.
#[derive(Debug)]
pub struct WatchStopGuard {
    _open: PipeWriter,
}

/// # Errors
/// If the system has no pipe left.
pub fn stop_pair() -> io::Result<(WatchStopGuard, WatchStopSignal)> {
    let (receiver, open) = io::pipe()?;
    Ok((WatchStopGuard { _open: open }, WatchStopSignal { receiver }))
}

impl WatchStopSignal {
    /// Waits that long, or until it is time to end; returns whether it is.
    #[must_use]
    pub fn wait_timeout(&self, time: Duration) -> bool {
        let mut receiver = [poll_readable(self)];
        // A failing wait would turn the caller's loop into a spin, so it counts as the end.
        poll_until(&mut receiver, deadline_after(time)).is_err() || !receiver[0].revents().is_empty()
    }
}

impl AsFd for WatchStopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

/// A thread that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct WatchThread {
    stopper: Option<WatchStopGuard>,
    thread: Option<JoinHandle<()>>,
}

impl WatchThread {
    pub(crate) fn spawn(name: &str, run: impl FnOnce(&WatchStopSignal) + Send + 'static) -> io::Result<Self> {
        let (stopper, stop) = stop_pair()?;
        let thread = thread::Builder::new().name(name.to_string()).spawn(move || run(&stop))?;
        Ok(WatchThread { stopper: Some(stopper), thread: Some(thread) })
    }
}

impl Drop for WatchThread {
    fn drop(&mut self) {
        drop(self.stopper.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
