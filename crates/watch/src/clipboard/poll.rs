//! Waiting for several descriptors at once, until a moment or forever. Nothing runs meanwhile.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// `None` if that is further away than an instant can be.
pub(crate) fn deadline_after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Readable also means closed.
pub(crate) fn poll_readable<Fd: AsFd>(fd: &Fd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Waits until one of them is ready (see its `revents`), or until that moment.
pub(crate) fn poll_until(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<(), Errno> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // A duration too long for a Timespec is longer than anybody waits.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(fds, left.as_ref()) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}
