//! One request to the clipboard's owner, answered through a property of a window made for this request
//! alone: so a late answer to an earlier request can never be taken for the answer to this one.
//!
//! The answer comes whole or in parts (INCR). It is fetched in slices, and no further than its limit. A
//! window is destroyed only when the owner is done with it: touching a destroyed window is an error that
//! kills simple owners, and the user's clipboard with them (xsel, after the last part). So a request that
//! was given up, or answered in parts, leaves its window for a while.
//!
//! An owner that has begun to answer in parts serves nobody else until it is done (xclip). So what is too
//! large or too late is received to its end, part by part as events come in, and thrown away.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use x11rb::CURRENT_TIME;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt, Property, Window};

use super::connection::{X11Connection, X11WaitResult};
use crate::clipboard::ClipboardResult;
use crate::clipboard::poll::deadline_after;

/// Bytes fetched from the server at once.
const SLICE: u32 = 256 * 1024;
/// Most windows kept because an owner may still use them.
const MAX_ABANDONED_WINDOWS: usize = 8;

/// Most parts received of an unwanted answer; then its window goes.
const MAX_UNWANTED_PARTS: usize = 16_384;
/// How long windows are kept when nothing else is going to be read.
const CLOSE_GRACE: Duration = Duration::from_millis(100);
/// Most events processed before going on: anybody can send more.
const MAX_DRAINED_EVENTS: usize = 4096;

pub(super) enum X11TransferResult {
    /// Type and content.
    Bytes(Atom, Vec<u8>),
    Refused,
    TooLarge,
    /// No answer in time, or the owner is gone.
    Silent,
    /// The clipboard has a new owner.
    Replaced,
}

/// Makes requests, and keeps what must survive between them.
pub(super) struct X11Requestor {
    pub(super) link: X11Connection,
    /// The clipboard changed since the last look.
    pub(super) changed: bool,
    /// Windows that an owner may still use, and how many unwanted parts each received.
    abandoned_windows: VecDeque<(Window, usize)>,
}

/// What an event means for the running request.
enum X11OwnerChange {
    Unchanged,
    Gone,
    Replaced,
}

impl X11Requestor {
    pub(super) fn new(link: X11Connection) -> X11Requestor {
        X11Requestor { link, changed: false, abandoned_windows: VecDeque::new() }
    }

    pub(super) fn drain_events(&mut self) -> ClipboardResult<()> {
        for _ in 0..MAX_DRAINED_EVENTS {
            let Some(event) = self.link.poll_event()? else { break };
            self.handle_event(&event)?;
        }
        Ok(())
    }

    pub(super) fn note_event(&mut self, event: &Event) -> ClipboardResult<()> {
        self.handle_event(event).map(drop)
    }

    /// Asks for the clipboard in that form: at most `most` bytes, until that moment.
    pub(super) fn request(
        &mut self,
        target: Atom,
        most: usize,
        until: Instant,
    ) -> ClipboardResult<X11TransferResult> {
        let window = self.link.create_hidden_window()?;
        let atoms = self.link.atoms;
        let server = &self.link.server;
        server.convert_selection(window, atoms.clipboard, target, atoms.transfer, CURRENT_TIME)?;
        let (handed, in_parts) = self.receive_answer(window, target, most, until)?;
        let busy = match handed {
            // A late owner may still write.
            X11TransferResult::Silent | X11TransferResult::Replaced => true,
            X11TransferResult::Bytes(..) | X11TransferResult::TooLarge => in_parts,
            X11TransferResult::Refused => false,
        };
        if busy {
            self.abandoned_windows.push_back((window, 0));
        } else {
            self.link.destroy_hidden_window(window)?;
        }
        if self.abandoned_windows.len() > MAX_ABANDONED_WINDOWS
            && let Some((oldest, _)) = self.abandoned_windows.pop_front()
        {
            self.link.destroy_hidden_window(oldest)?;
        }
        Ok(handed)
    }

    /// The answer, and whether it came in parts.
    fn receive_answer(
        &mut self,
        window: Window,
        target: Atom,
        most: usize,
        until: Instant,
    ) -> ClipboardResult<(X11TransferResult, bool)> {
        let atoms = self.link.atoms;
        let answered = |event: &Event| match event {
            Event::SelectionNotify(answer) => {
                (answer.requestor, answer.selection, answer.target) == (window, atoms.clipboard, target)
            }
            _ => false,
        };
        match self.wait_for_event(until, answered)? {
            Ok(Event::SelectionNotify(answer)) if answer.property == atoms.transfer => {}
            Ok(_) => return Ok((X11TransferResult::Refused, false)),
            Err(without) => return Ok((without, false)),
        }
        let (kind, size) = self.property_type_and_size(window)?;
        if kind == atoms.incr {
            return Ok((self.receive_parts(window, most, until)?, true));
        }
        let mut bytes = Vec::new();
        let whole = self.fetch(window, &mut bytes, most, size)?;
        Ok((if whole { X11TransferResult::Bytes(kind, bytes) } else { X11TransferResult::TooLarge }, false))
    }

    /// Each part is announced by the property's new value and requested by its deletion; the last is empty.
    fn receive_parts(
        &mut self,
        window: Window,
        most: usize,
        until: Instant,
    ) -> ClipboardResult<X11TransferResult> {
        let atoms = self.link.atoms;
        let written = |event: &Event| match event {
            Event::PropertyNotify(new) => {
                (new.window, new.atom, new.state) == (window, atoms.transfer, Property::NEW_VALUE)
            }
            _ => false,
        };
        let mut bytes = Vec::new();
        loop {
            self.link.server.delete_property(window, atoms.transfer)?;
            let (kind, size) = loop {
                if let Err(without) = self.wait_for_event(until, written)? {
                    return Ok(without);
                }
                // A value that is gone again does not count.
                let new = self.property_type_and_size(window)?;
                if new.0 != x11rb::NONE {
                    break new;
                }
            };
            if size == 0 {
                self.link.server.delete_property(window, atoms.transfer)?;
                return Ok(X11TransferResult::Bytes(kind, bytes));
            }
            if !self.fetch(window, &mut bytes, most, size)? {
                // The rest is received and thrown away.
                self.link.server.delete_property(window, atoms.transfer)?;
                return Ok(X11TransferResult::TooLarge);
            }
        }
    }

    /// Type (none if the property is empty) and size in bytes.
    fn property_type_and_size(&self, window: Window) -> ClipboardResult<(Atom, usize)> {
        let any = AtomEnum::ANY;
        let asked = self.link.server.get_property(false, window, self.link.atoms.transfer, any, 0, 0);
        let property = asked?.reply()?;
        Ok((property.type_, property.bytes_after as usize))
    }

    /// Adds the property's bytes, unless that would be too much.
    fn fetch(&self, window: Window, bytes: &mut Vec<u8>, most: usize, size: usize) -> ClipboardResult<bool> {
        let mut left = size;
        let mut offset = 0;
        while left > 0 {
            if bytes.len().saturating_add(left) > most {
                return Ok(false);
            }
            let any = AtomEnum::ANY;
            let transfer = self.link.atoms.transfer;
            let asked = self.link.server.get_property(false, window, transfer, any, offset, SLICE / 4);
            let slice = asked?.reply()?;
            bytes.extend_from_slice(&slice.value);
            // The owner may change it meanwhile: only what is there now counts.
            left = slice.bytes_after as usize;
            offset += SLICE / 4;
        }
        Ok(bytes.len() <= most)
    }

    /// Waits for an event about this request; `Err` with the result if there will be none.
    fn wait_for_event(
        &mut self,
        until: Instant,
        ours: impl Fn(&Event) -> bool,
    ) -> ClipboardResult<Result<Event, X11TransferResult>> {
        loop {
            let event = match self.link.next_event(Some(until), None)? {
                X11WaitResult::Event(event) => event,
                X11WaitResult::TimedOut | X11WaitResult::Stopped => {
                    return Ok(Err(X11TransferResult::Silent));
                }
            };
            if ours(&event) {
                return Ok(Ok(event));
            }
            match self.handle_event(&event)? {
                X11OwnerChange::Unchanged => {}
                X11OwnerChange::Gone => return Ok(Err(X11TransferResult::Silent)),
                X11OwnerChange::Replaced => return Ok(Err(X11TransferResult::Replaced)),
            }
        }
    }

    fn handle_event(&mut self, event: &Event) -> ClipboardResult<X11OwnerChange> {
        let atoms = self.link.atoms;
        match event {
            Event::XfixesSelectionNotify(new) if new.selection == atoms.clipboard => {
                self.changed = true;
                Ok(if new.owner == x11rb::NONE { X11OwnerChange::Gone } else { X11OwnerChange::Replaced })
            }
            // The late answer to a request that was given up: its owner waits until it is taken.
            Event::SelectionNotify(late) => self.discard_part(late.requestor),
            Event::PropertyNotify(late) if late.state == Property::NEW_VALUE => {
                self.discard_part(late.window)
            }
            _ => Ok(X11OwnerChange::Unchanged),
        }
    }

    /// Lets the owner continue an answer that nobody wants any more.
    fn discard_part(&mut self, window: Window) -> ClipboardResult<X11OwnerChange> {
        let Some(at) = self.abandoned_windows.iter().position(|(left, _)| *left == window) else {
            return Ok(X11OwnerChange::Unchanged);
        };
        self.abandoned_windows[at].1 += 1;
        if self.abandoned_windows[at].1 > MAX_UNWANTED_PARTS {
            self.abandoned_windows.remove(at);
            self.link.destroy_hidden_window(window)?;
        } else {
            self.link.server.delete_property(window, self.link.atoms.transfer)?;
        }
        Ok(X11OwnerChange::Unchanged)
    }
}

impl Drop for X11Requestor {
    fn drop(&mut self) {
        let until = deadline_after(CLOSE_GRACE);
        while !self.abandoned_windows.is_empty()
            && let Ok(X11WaitResult::Event(event)) = self.link.next_event(until, None)
            && self.handle_event(&event).is_ok()
        {}
    }
}
