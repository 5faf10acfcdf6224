//! A connection to a Wayland compositor that cannot hang: one that does not answer within
//! [`COMPOSITOR_TIMEOUT`] counts as gone.
//!
//! Events are waited for without limit and without polling, together with whatever else the caller waits
//! for.

use std::fmt::Display;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use wayland_client::backend::WaylandError;
use wayland_client::{Connection, EventQueue};

use super::protocol::{WaylandDevice, WaylandDeviceError, WaylandState};
use crate::clipboard::poll::{deadline_after, poll_readable, poll_until};
use crate::clipboard::{ClipboardError, ClipboardResult, ClipboardUnavailable};

const COMPOSITOR_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const NAME: &str = "Wayland";

/// A connection and the clipboard of its first seat.
pub(crate) struct WaylandConnection {
    connection: Connection,
    queue: EventQueue<WaylandState>,
    pub(crate) state: WaylandState,
    device: Option<WaylandDevice>,
}

impl WaylandConnection {
    /// Connects; afterwards the current content of the clipboard is known.
    pub(crate) fn open(socket: &Path) -> Result<WaylandConnection, ClipboardUnavailable> {
        let no = |why: String| ClipboardUnavailable::Unreachable { name: NAME, why };
        let stream = UnixStream::connect(socket).map_err(|e| no(format!("{}: {e}", socket.display())))?;
        let connection = Connection::from_socket(stream).map_err(|error| no(error.to_string()))?;
        let queue = connection.new_event_queue();
        let registry = connection.display().get_registry(&queue.handle(), ());
        let mut link = WaylandConnection { connection, queue, state: WaylandState::default(), device: None };
        let gone = |error: ClipboardError| no(error.why);
        link.sync().map_err(gone)?;
        let device =
            WaylandDevice::bind(&link.state, &registry, &link.queue.handle()).map_err(|none| match none {
                WaylandDeviceError::NoSeat => no("the compositor has no seat".into()),
                WaylandDeviceError::NoProtocol => ClipboardUnavailable::NoDataControl,
            })?;
        link.device = Some(device);
        // The first selection event is the content from before.
        link.sync().map_err(gone)?;
        Ok(link)
    }

    /// Offers something on the clipboard in these forms.
    pub(crate) fn set_selection(&self, forms: &[&str]) {
        if let Some(device) = &self.device {
            device.put(forms, &self.queue.handle());
        }
    }

    /// Waits until the compositor has answered everything up to now.
    pub(crate) fn sync(&mut self) -> ClipboardResult<()> {
        self.state.synced = false;
        self.connection.display().sync(&self.queue.handle(), ());
        let until = deadline_after(COMPOSITOR_TIMEOUT);
        while !self.state.synced {
            self.pump(&[], until)?;
            if !self.state.synced && until.is_some_and(|until| Instant::now() >= until) {
                return Err(connection_error("the compositor does not answer"));
            }
        }
        Ok(())
    }

    /// Processes the compositor's events; if there are none, waits for one, for one of `others`, or for
    /// that moment. Returns whether one of the others is ready.
    pub(crate) fn pump(&mut self, others: &[PollFd<'_>], until: Option<Instant>) -> ClipboardResult<bool> {
        let mut ready = false;
        if self.queue.dispatch_pending(&mut self.state).map_err(connection_error)? == 0 {
            ignore_would_block(self.connection.flush())?;
            // Without a guard there are events already.
            if let Some(guard) = self.queue.prepare_read() {
                let socket = guard.connection_fd();
                let mut fds = vec![poll_readable(&socket)];
                fds.extend_from_slice(others);
                poll_until(&mut fds, until).map_err(connection_error)?;
                ready = fds[1..].iter().any(|fd| !fd.revents().is_empty());
                let said = !fds[0].revents().is_empty();
                drop(fds);
                if said {
                    ignore_would_block(guard.read().map(drop))?;
                }
            }
            self.queue.dispatch_pending(&mut self.state).map_err(connection_error)?;
        }
        if self.state.finished {
            return Err(connection_error("its seat was taken away"));
        }
        Ok(ready)
    }
}

/// A full or empty socket is not a failure.
fn ignore_would_block(done: Result<(), WaylandError>) -> ClipboardResult<()> {
    match done {
        Err(WaylandError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        other => other.map_err(connection_error),
    }
}

pub(crate) fn connection_error(why: impl Display) -> ClipboardError {
    ClipboardError { name: NAME, why: why.to_string() }
}
