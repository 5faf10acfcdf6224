//! Wayland's clipboard: the selection of the first seat, which a data-control protocol shows to programs without
//! a window. A compositor without one lets only the focused window read.
//!
//! The content comes from its owner through a pipe, which ends the same way whether the text is complete or
//! the owner died: what was read counts only if the clipboard is still the same afterwards.

mod connection;
mod hold;
mod protocol;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::pipe::{PipeFlags, pipe_with};

use self::connection::{NAME, connection_error};
use super::bounded_deadline;
use super::text_format::ClipboardFormat;
use crate::clipboard::poll::poll_readable;
use crate::clipboard::{
    Clipboard, ClipboardContent, ClipboardResult, ClipboardUnavailable, ClipboardWake, WatchStopSignal,
};

pub(super) use self::connection::WaylandConnection;
pub(super) use self::hold::serve;

/// Bytes per read.
const SLICE: usize = 64 * 1024;

pub(super) struct WaylandClipboard {
    link: WaylandConnection,
    /// How many selections there had been at the last look.
    seen_selections: u64,
}

impl WaylandClipboard {
    pub(super) fn open(socket: &Path) -> Result<WaylandClipboard, ClipboardUnavailable> {
        let link = WaylandConnection::open(socket)?;
        let seen = link.state.selections;
        Ok(WaylandClipboard { link, seen_selections: seen })
    }

    /// `None` if the clipboard changed meanwhile.
    fn read_selection(&mut self, most: usize, until: Instant) -> ClipboardResult<Option<ClipboardContent>> {
        let Some((offer, offered)) = &self.link.state.selection else {
            return Ok(Some(ClipboardContent::Empty));
        };
        let form = match (offered.known_content(), offered.text) {
            (Some(known), _) => return Ok(Some(known)),
            (None, form) => form.unwrap_or(ClipboardFormat::Plain),
        };
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(connection_error)?;
        ioctl_fionbio(&ours, true).map_err(connection_error)?;
        offer.receive(form.name(), &theirs);
        drop(theirs);
        let read = self.read_pipe(&ours, most, until)?;
        if self.link.state.selections != self.seen_selections {
            // The owner is gone and nobody followed: what was read may be incomplete.
            return Ok(self.link.state.selection.is_none().then_some(ClipboardContent::Silent));
        }
        Ok(Some(read.map_or_else(|unread| unread, |bytes| form.decode(bytes, most))))
    }

    /// Reads what the owner writes, for as long as it owns the clipboard.
    fn read_pipe(
        &mut self,
        pipe: &OwnedFd,
        most: usize,
        until: Instant,
    ) -> ClipboardResult<Result<Vec<u8>, ClipboardContent>> {
        let mut bytes = Vec::new();
        let mut slice = vec![0; SLICE];
        while self.link.state.selections == self.seen_selections {
            match read(pipe, &mut slice) {
                Ok(0) => {
                    self.link.sync()?;
                    return Ok(Ok(bytes));
                }
                Ok(count) if bytes.len() + count > most => return Ok(Err(ClipboardContent::TooLarge)),
                Ok(count) => bytes.extend_from_slice(&slice[..count]),
                Err(Errno::AGAIN | Errno::INTR) => drop(self.link.pump(&[poll_readable(pipe)], Some(until))?),
                Err(error) => return Err(connection_error(io::Error::from(error))),
            }
            if Instant::now() >= until {
                break;
            }
        }
        Ok(Err(ClipboardContent::Silent))
    }
}

impl Clipboard for WaylandClipboard {
    fn name(&self) -> &'static str {
        NAME
    }

    fn notifies_changes(&self) -> bool {
        true
    }

    fn wait(&mut self, _: Duration, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake> {
        // A storm of changes must not drown out the stop signal.
        if stop.wait_timeout(Duration::ZERO) {
            return Ok(ClipboardWake::Stopped);
        }
        loop {
            let new = self.link.state.selections;
            if std::mem::replace(&mut self.seen_selections, new) != new {
                return Ok(ClipboardWake::Changed);
            }
            if self.link.pump(&[poll_readable(stop)], None)? {
                return Ok(ClipboardWake::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, patience: Duration) -> ClipboardResult<ClipboardContent> {
        let until = bounded_deadline(patience);
        loop {
            // Take in what the compositor sent meanwhile.
            self.link.sync()?;
            self.seen_selections = self.link.state.selections;
            if let Some(content) = self.read_selection(most, until)? {
                return Ok(content);
            }
            if Instant::now() >= until {
                return Ok(ClipboardContent::Silent);
            }
        }
    }
}
