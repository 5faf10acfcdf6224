//! Wayland's clipboard: the selection of the first seat, which a data-control protocol shows to programs without
//! a window. A compositor without one lets only the focused window read.
//!
//! Its content comes from its owner through a pipe, which ends the same way whether all was said or the owner died: what
//! was read counts only if the clipboard is still the same afterwards.

mod link;
mod protocol;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::pipe::{PipeFlags, pipe_with};

use super::target::Form;
use super::waiting::{end_of, readable};
use super::{Clipboard, ClipboardError, Content, NoClipboard, Stop, Woken};

pub(crate) use self::link::{Link, NAME, gone};

/// What is read at once.
const SLICE: usize = 64 * 1024;

/// Wayland's clipboard.
pub(super) struct Wayland {
    link: Link,
    /// How many selections there had been when it was last looked at.
    seen: u64,
}

impl Wayland {
    pub(super) fn open(socket: &Path) -> Result<Wayland, NoClipboard> {
        let link = Link::open(socket)?;
        let seen = link.state.selections;
        Ok(Wayland { link, seen })
    }

    /// What is there; none if something new is.
    fn look(&mut self, most: usize, until: Instant) -> Result<Option<Content>, ClipboardError> {
        let Some((offer, offered)) = &self.link.state.selection else { return Ok(Some(Content::Empty)) };
        let form = match (offered.known(), offered.text) {
            (Some(known), _) => return Ok(Some(known)),
            (None, form) => form.unwrap_or(Form::Plain),
        };
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(gone)?;
        ioctl_fionbio(&ours, true).map_err(gone)?;
        offer.receive(form.name(), &theirs);
        drop(theirs);
        let read = self.take(&ours, most, until)?;
        if self.link.state.selections != self.seen {
            // Its owner is gone, and nobody came after it: what was read may be a part.
            return Ok(self.link.state.selection.is_none().then_some(Content::Silent));
        }
        Ok(Some(match read {
            Taken::All(bytes) => form.content(bytes, most),
            Taken::TooLarge => Content::TooLarge,
            Taken::Silent => Content::Silent,
        }))
    }

    /// Reads what the owner writes, as long as it is still the clipboard's.
    fn take(&mut self, pipe: &OwnedFd, most: usize, until: Instant) -> Result<Taken, ClipboardError> {
        let mut bytes = Vec::new();
        let mut slice = vec![0; SLICE];
        while self.link.state.selections == self.seen {
            match read(pipe, &mut slice) {
                Ok(0) => {
                    self.link.sync()?;
                    return Ok(Taken::All(bytes));
                }
                Ok(count) if bytes.len() + count > most => return Ok(Taken::TooLarge),
                Ok(count) => bytes.extend_from_slice(&slice[..count]),
                Err(Errno::AGAIN | Errno::INTR) => drop(self.link.pump(&[readable(pipe)], Some(until))?),
                Err(error) => return Err(gone(io::Error::from(error))),
            }
            if Instant::now() >= until {
                break;
            }
        }
        Ok(Taken::Silent)
    }
}

enum Taken {
    All(Vec<u8>),
    TooLarge,
    Silent,
}

impl Clipboard for Wayland {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tells(&self) -> bool {
        true
    }

    fn wait(&mut self, _: Duration, stop: &Stop) -> Result<Woken, ClipboardError> {
        // A storm of changes must not outshout the end.
        if stop.within(Duration::ZERO) {
            return Ok(Woken::Stopped);
        }
        loop {
            let new = self.link.state.selections;
            if std::mem::replace(&mut self.seen, new) != new {
                return Ok(Woken::Changed);
            }
            if self.link.pump(&[readable(stop)], None)? {
                return Ok(Woken::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, patience: Duration) -> Result<Content, ClipboardError> {
        let until = end_of(patience);
        loop {
            // What the compositor has said meanwhile.
            self.link.sync()?;
            self.seen = self.link.state.selections;
            if let Some(content) = self.look(most, until)? {
                return Ok(content);
            }
            if Instant::now() >= until {
                return Ok(Content::Silent);
            }
        }
    }
}
