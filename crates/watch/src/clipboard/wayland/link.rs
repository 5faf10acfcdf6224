//! A connection to a Wayland compositor that cannot hang: one that does not answer within [`COMPOSITOR_PATIENCE`] is gone.
//!
//! Events are waited for without limit and without running, beside whatever else is waited for.

use std::fmt::Display;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use wayland_client::backend::WaylandError;
use wayland_client::{Connection, EventQueue};

use super::protocol::{Device, NoDevice, State};
use crate::clipboard::waiting::{after, poll_until, readable};
use crate::clipboard::{ClipboardError, NoClipboard};

/// How long the compositor may take to answer.
const COMPOSITOR_PATIENCE: Duration = Duration::from_secs(10);

pub(crate) const NAME: &str = "Wayland";

/// A connection, and the clipboard of its first seat.
pub(crate) struct Link {
    connection: Connection,
    queue: EventQueue<State>,
    pub(crate) state: State,
    device: Option<Device>,
}

impl Link {
    /// Connects; what is on the clipboard now is known after that.
    pub(crate) fn open(socket: &Path) -> Result<Link, NoClipboard> {
        let no = |why: String| NoClipboard::Unreachable { name: NAME, why };
        let stream =
            UnixStream::connect(socket).map_err(|error| no(format!("{}: {error}", socket.display())))?;
        let connection = Connection::from_socket(stream).map_err(|error| no(error.to_string()))?;
        let queue = connection.new_event_queue();
        let registry = connection.display().get_registry(&queue.handle(), ());
        let mut link = Link { connection, queue, state: State::default(), device: None };
        let gone = |error: ClipboardError| no(error.why);
        link.sync().map_err(gone)?;
        let device =
            Device::bind(&link.state, &registry, &link.queue.handle()).map_err(|none| match none {
                NoDevice::NoSeat => no("the compositor has no seat".into()),
                NoDevice::NoProtocol => NoClipboard::NoDataControl,
            })?;
        link.device = Some(device);
        // The first selection event is what was there before.
        link.sync().map_err(gone)?;
        Ok(link)
    }

    /// Puts something on the clipboard that can be had in these forms.
    pub(crate) fn put(&self, forms: &[&str]) {
        if let Some(device) = &self.device {
            device.put(forms, &self.queue.handle());
        }
    }

    /// Waits until the compositor has answered everything up to now.
    pub(crate) fn sync(&mut self) -> Result<(), ClipboardError> {
        self.state.synced = false;
        self.connection.display().sync(&self.queue.handle(), ());
        let until = after(COMPOSITOR_PATIENCE);
        while !self.state.synced {
            self.pump(&[], until)?;
            if !self.state.synced && until.is_some_and(|until| Instant::now() >= until) {
                return Err(gone("the compositor does not answer"));
            }
        }
        Ok(())
    }

    /// Takes in what the compositor says; if it has said nothing yet, waits for it, for one of the others, or
    /// for that moment. Whether one of the others is ready.
    pub(crate) fn pump(
        &mut self,
        others: &[PollFd<'_>],
        until: Option<Instant>,
    ) -> Result<bool, ClipboardError> {
        let mut ready = false;
        if self.queue.dispatch_pending(&mut self.state).map_err(gone)? == 0 {
            may_wait(self.connection.flush())?;
            // No guard: there are events already.
            if let Some(guard) = self.queue.prepare_read() {
                let socket = guard.connection_fd();
                let mut fds = vec![readable(&socket)];
                fds.extend_from_slice(others);
                poll_until(&mut fds, until).map_err(gone)?;
                ready = fds[1..].iter().any(|fd| !fd.revents().is_empty());
                let said = !fds[0].revents().is_empty();
                drop(fds);
                if said {
                    may_wait(guard.read().map(drop))?;
                }
            }
            self.queue.dispatch_pending(&mut self.state).map_err(gone)?;
        }
        if self.state.finished {
            return Err(gone("its seat was taken away"));
        }
        Ok(ready)
    }
}

/// A full or empty socket is no failure.
fn may_wait(done: Result<(), WaylandError>) -> Result<(), ClipboardError> {
    match done {
        Err(WaylandError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        other => other.map_err(gone),
    }
}

/// The connection to the compositor failed.
pub(crate) fn gone(why: impl Display) -> ClipboardError {
    ClipboardError { name: NAME, why: why.to_string() }
}
