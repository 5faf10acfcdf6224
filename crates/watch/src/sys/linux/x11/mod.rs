//! X11's clipboard: the selection CLIPBOARD. XFIXES reports a new owner; a server without it is polled for
//! the time at which the selection was taken.
//!
//! The content belongs not to the server but to its owner, a program like any other: it is asked for a form
//! it claims to have, and may answer late, in part, or never.

mod connection;
mod hold;
mod transfer;

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use x11rb::protocol::xfixes::{ConnectionExt, SelectionEventMask};
use x11rb::protocol::xproto::Window;

use self::connection::{NAME, X11WaitResult};
use self::transfer::{X11Requestor, X11TransferResult};
use super::bounded_deadline;
use super::text_format::{ClipboardFormat, OfferedFormats};
use crate::clipboard::{
    Clipboard, ClipboardContent, ClipboardError, ClipboardResult, ClipboardUnavailable, ClipboardWake,
    WatchStopSignal,
};

pub(super) use self::connection::X11Connection;
pub(super) use self::hold::serve;

/// Bytes of a list of targets, four each.
const TARGETS_MOST: usize = 16 * 1024;
/// Limits for a read that only checks whether the content is new.
const PROBE_MAX_BYTES: usize = 4 * 1024 * 1024;
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct X11Clipboard {
    requestor: X11Requestor,
    tells: bool,
    /// Identifies the last content, if the server does not report changes.
    last: Option<X11SelectionStamp>,
    keys: RandomState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum X11SelectionStamp {
    Nobody,
    /// The owner, and since when by the server's clock.
    OwnedSince(Window, [u8; 4]),
    /// The owner, and a hash of its text.
    ContentHash(Window, u64),
}

impl X11Clipboard {
    pub(super) fn open(display: &str) -> Result<X11Clipboard, ClipboardUnavailable> {
        let link = X11Connection::open(display)?;
        let no = |error: ClipboardError| ClipboardUnavailable::Unreachable { name: NAME, why: error.why };
        let tells = subscribe_changes(&link).map_err(no)?;
        Ok(X11Clipboard { requestor: X11Requestor::new(link), tells, last: None, keys: RandomState::new() })
    }

    fn read_owner(&mut self, most: usize, until: Instant) -> ClipboardResult<Option<ClipboardContent>> {
        let atoms = self.requestor.link.atoms;
        let forms = match self.requestor.request(atoms.targets, TARGETS_MOST, until)? {
            X11TransferResult::Bytes(_, list) => {
                let mut offered = OfferedFormats::default();
                let names = list.as_chunks::<4>().0.iter().map(|atom| u32::from_ne_bytes(*atom));
                names.filter_map(|atom| atoms.mark_name(atom)).for_each(|name| offered.add_name(name));
                if let Some(known) = offered.known_content() {
                    return Ok(Some(known));
                }
                offered.text.into_iter().collect()
            }
            // An owner that does not list its forms may still have the most common one.
            X11TransferResult::Refused | X11TransferResult::TooLarge => {
                vec![ClipboardFormat::Utf8String, ClipboardFormat::Latin1]
            }
            X11TransferResult::Silent => return Ok(Some(ClipboardContent::Silent)),
            X11TransferResult::Replaced => return Ok(None),
        };
        for form in forms {
            match self.requestor.request(atoms.atom_of_format(form), most, until)? {
                X11TransferResult::Bytes(kind, bytes) => {
                    // Simple owners answer with what they have, whatever was asked for.
                    let form = atoms.format_of_atom(kind);
                    return Ok(Some(form.map_or(ClipboardContent::NotText, |form| form.decode(bytes, most))));
                }
                X11TransferResult::TooLarge => return Ok(Some(ClipboardContent::TooLarge)),
                X11TransferResult::Silent => return Ok(Some(ClipboardContent::Silent)),
                X11TransferResult::Replaced => return Ok(None),
                X11TransferResult::Refused => {}
            }
        }
        // If the owner has just gone, the server itself refuses.
        Ok((!self.requestor.changed).then_some(ClipboardContent::NotText))
    }

    /// Identifies the present content; `None` if its owner does not answer.
    fn current_stamp(&mut self) -> ClipboardResult<Option<X11SelectionStamp>> {
        let Some(owner) = self.requestor.link.owner()? else { return Ok(Some(X11SelectionStamp::Nobody)) };
        let timestamp = self.requestor.link.atoms.timestamp;
        let until = Instant::now() + PROBE_TIMEOUT;
        if let X11TransferResult::Bytes(_, time) =
            self.requestor.request(timestamp, size_of::<u32>(), until)?
            && let Ok(time) = time.try_into()
        {
            return Ok(Some(X11SelectionStamp::OwnedSince(owner, time)));
        }
        Ok(match self.read(PROBE_MAX_BYTES, PROBE_TIMEOUT)? {
            ClipboardContent::Silent => None,
            ClipboardContent::Text(text) => {
                Some(X11SelectionStamp::ContentHash(owner, self.keys.hash_one(text)))
            }
            other => Some(X11SelectionStamp::ContentHash(
                owner,
                self.keys.hash_one(std::mem::discriminant(&other)),
            )),
        })
    }

    fn wait_for_change(&mut self, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake> {
        loop {
            if std::mem::take(&mut self.requestor.changed) {
                return Ok(ClipboardWake::Changed);
            }
            match self.requestor.link.next_event(None, Some(stop))? {
                X11WaitResult::Event(event) => self.requestor.note_event(&event)?,
                X11WaitResult::TimedOut | X11WaitResult::Stopped => return Ok(ClipboardWake::Stopped),
            }
        }
    }
}

impl Clipboard for X11Clipboard {
    fn name(&self) -> &'static str {
        NAME
    }

    fn notifies_changes(&self) -> bool {
        self.tells
    }

    fn wait(&mut self, interval: Duration, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake> {
        if stop.wait_timeout(Duration::ZERO) {
            return Ok(ClipboardWake::Stopped);
        }
        if self.tells {
            return self.wait_for_change(stop);
        }
        loop {
            if let Some(now) = self.current_stamp()?
                && let Some(before) = self.last.replace(now)
                && before != now
            {
                return Ok(ClipboardWake::Changed);
            }
            if stop.wait_timeout(interval) {
                return Ok(ClipboardWake::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, patience: Duration) -> ClipboardResult<ClipboardContent> {
        let until = bounded_deadline(patience);
        loop {
            // The reply comes after every event up to now, so those events are about the content to be
            // read.
            self.requestor.link.owner()?;
            self.requestor.drain_events()?;
            self.requestor.changed = false;
            if self.requestor.link.owner()?.is_none() {
                return Ok(ClipboardContent::Empty);
            }
            if let Some(content) = self.read_owner(most, until)? {
                return Ok(content);
            }
            if Instant::now() >= until {
                return Ok(ClipboardContent::Silent);
            }
        }
    }
}

/// Asks the server to report changes; returns whether it can.
fn subscribe_changes(link: &X11Connection) -> ClipboardResult<bool> {
    use x11rb::connection::RequestConnection;
    let extension = link.server.extension_information(x11rb::protocol::xfixes::X11_EXTENSION_NAME);
    if extension?.is_none() {
        return Ok(false);
    }
    link.server.xfixes_query_version(1, 0)?.reply()?;
    let all = SelectionEventMask::SET_SELECTION_OWNER
        | SelectionEventMask::SELECTION_WINDOW_DESTROY
        | SelectionEventMask::SELECTION_CLIENT_CLOSE;
    let window = link.create_hidden_window()?;
    let told = link.server.xfixes_select_selection_input(window, link.atoms.clipboard, all)?;
    told.check()?;
    Ok(true)
}
