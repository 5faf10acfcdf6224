//! Waiting for several descriptors at once, until a moment or for ever. Nothing runs meanwhile.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Longer than anybody's patience, and short enough to be added to any moment.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The moment that is so far from now; none if there is no such moment.
pub(crate) fn deadline_after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// The moment at which patience ends.
pub(crate) fn bounded_deadline(patience: Duration) -> Instant {
    deadline_after(patience.min(MAX_TIMEOUT)).unwrap_or_else(Instant::now)
}

/// Waits for it to have something to read, or to be closed.
pub(crate) fn poll_readable<Fd: AsFd>(fd: &Fd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Waits until one of them is ready (its `revents` say which), or until that moment.
pub(crate) fn poll_until(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<(), Errno> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // Durations that no Timespec can hold are longer than anybody waits.
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(fds, left.as_ref()) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}
