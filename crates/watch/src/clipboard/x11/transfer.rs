//! One request to the clipboard's owner, answered through a property of a window made for it alone: what a late owner
//! still answers to an earlier request can so never be taken for the answer to this one.
//!
//! The answer comes whole or in parts (INCR). It is fetched in slices, and no further than its limit. A window is
//! destroyed only while the owner has nothing to do with it: one that touches a window that is gone gets an error, by
//! which simple owners die, and the user's clipboard with them (xsel does so after the last part). So a request that was
//! given up, and one that was answered in parts, leaves its window for a while.
//!
//! An owner that has begun to answer in parts hands nothing to anybody else until it is through (xclip does so). So
//! what is too large, or too late, is let come to its end, part by part as events tell of them, and thrown away.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use x11rb::CURRENT_TIME;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt, Property, Window};

use super::link::{Link, Next, gone};
use crate::clipboard::ClipboardError;
use crate::clipboard::waiting::after;

/// What is fetched from the server at once, in bytes.
const SLICE: u32 = 256 * 1024;
/// So many windows are left that an owner may still have to do with.
const LEFT: usize = 8;

/// So many parts of an answer that nobody wants any more are let come; then its window goes.
const UNWANTED: usize = 16_384;
/// How long they are left when nothing else is going to be read.
const FAREWELL: Duration = Duration::from_millis(100);
/// So many events are taken note of before going on: anybody can send more.
const CATCH_UP: usize = 4096;

/// What the owner handed over.
pub(super) enum Handed {
    /// Of which type, and what.
    Bytes(Atom, Vec<u8>),
    Refused,
    TooLarge,
    /// It did not answer in time, or is gone.
    Silent,
    /// There is a new owner.
    Replaced,
}

/// Asks, and keeps what must be kept between requests.
pub(super) struct Asker {
    pub(super) link: Link,
    /// The clipboard changed since this was last looked at.
    pub(super) changed: bool,
    /// Windows that an owner may still have to do with, and how many unwanted parts came to each.
    left: VecDeque<(Window, usize)>,
}

/// What an event says about a request that is on its way.
enum Heard {
    Nothing,
    Gone,
    Replaced,
}

impl Asker {
    pub(super) fn new(link: Link) -> Asker {
        Asker { link, changed: false, left: VecDeque::new() }
    }

    /// Takes note of what came already.
    pub(super) fn catch_up(&mut self) -> Result<(), ClipboardError> {
        for _ in 0..CATCH_UP {
            let Some(event) = self.link.pending()? else { break };
            self.hear(&event)?;
        }
        Ok(())
    }

    /// Takes note of an event that is about no running request.
    pub(super) fn note(&mut self, event: &Event) -> Result<(), ClipboardError> {
        self.hear(event).map(drop)
    }

    /// Asks for the clipboard in that form: at most so much, until that moment.
    pub(super) fn ask(
        &mut self,
        target: Atom,
        most: usize,
        until: Instant,
    ) -> Result<Handed, ClipboardError> {
        let window = self.link.window()?;
        let atoms = self.link.atoms;
        let server = &self.link.server;
        server
            .convert_selection(window, atoms.clipboard, target, atoms.transfer, CURRENT_TIME)
            .map_err(gone)?;
        let (handed, in_parts) = self.answer(window, target, most, until)?;
        let busy = match handed {
            // Whoever is late may still write.
            Handed::Silent | Handed::Replaced => true,
            Handed::Bytes(..) | Handed::TooLarge => in_parts,
            Handed::Refused => false,
        };
        if busy {
            self.left.push_back((window, 0));
        } else {
            self.link.destroy(window)?;
        }
        if self.left.len() > LEFT
            && let Some((oldest, _)) = self.left.pop_front()
        {
            self.link.destroy(oldest)?;
        }
        Ok(handed)
    }

    /// The answer, and whether it came in parts.
    fn answer(
        &mut self,
        window: Window,
        target: Atom,
        most: usize,
        until: Instant,
    ) -> Result<(Handed, bool), ClipboardError> {
        let atoms = self.link.atoms;
        let answered = |event: &Event| match event {
            Event::SelectionNotify(answer) => {
                (answer.requestor, answer.selection, answer.target) == (window, atoms.clipboard, target)
            }
            _ => false,
        };
        match self.expect(until, answered)? {
            Ok(Event::SelectionNotify(answer)) if answer.property == atoms.transfer => {}
            Ok(_) => return Ok((Handed::Refused, false)),
            Err(without) => return Ok((without, false)),
        }
        let (kind, size) = self.look(window)?;
        if kind == atoms.incr {
            return Ok((self.parts(window, most, until)?, true));
        }
        let mut bytes = Vec::new();
        let whole = self.fetch(window, &mut bytes, most, size)?;
        Ok((if whole { Handed::Bytes(kind, bytes) } else { Handed::TooLarge }, false))
    }

    /// The answer in parts: each is announced by the property's new value, wanted by its deletion, and the
    /// last is empty.
    fn parts(&mut self, window: Window, most: usize, until: Instant) -> Result<Handed, ClipboardError> {
        let atoms = self.link.atoms;
        let written = |event: &Event| match event {
            Event::PropertyNotify(new) => {
                (new.window, new.atom, new.state) == (window, atoms.transfer, Property::NEW_VALUE)
            }
            _ => false,
        };
        let mut bytes = Vec::new();
        loop {
            self.link.server.delete_property(window, atoms.transfer).map_err(gone)?;
            let (kind, size) = loop {
                if let Err(without) = self.expect(until, written)? {
                    return Ok(without);
                }
                // A value that is gone again was none.
                let new = self.look(window)?;
                if new.0 != x11rb::NONE {
                    break new;
                }
            };
            if size == 0 {
                self.link.server.delete_property(window, atoms.transfer).map_err(gone)?;
                return Ok(Handed::Bytes(kind, bytes));
            }
            if !self.fetch(window, &mut bytes, most, size)? {
                // The rest may come, and is thrown away.
                self.link.server.delete_property(window, atoms.transfer).map_err(gone)?;
                return Ok(Handed::TooLarge);
            }
        }
    }

    /// The type of what is in the property (none if nothing is), and its size in bytes.
    fn look(&self, window: Window) -> Result<(Atom, usize), ClipboardError> {
        let any = AtomEnum::ANY;
        let asked = self.link.server.get_property(false, window, self.link.atoms.transfer, any, 0, 0);
        let property = asked.map_err(gone)?.reply().map_err(gone)?;
        Ok((property.type_, property.bytes_after as usize))
    }

    /// Adds the property's bytes, unless that would be too much.
    fn fetch(
        &self,
        window: Window,
        bytes: &mut Vec<u8>,
        most: usize,
        size: usize,
    ) -> Result<bool, ClipboardError> {
        let mut left = size;
        let mut offset = 0;
        while left > 0 {
            if bytes.len().saturating_add(left) > most {
                return Ok(false);
            }
            let any = AtomEnum::ANY;
            let transfer = self.link.atoms.transfer;
            let asked = self.link.server.get_property(false, window, transfer, any, offset, SLICE / 4);
            let slice = asked.map_err(gone)?.reply().map_err(gone)?;
            bytes.extend_from_slice(&slice.value);
            // An owner may change it meanwhile: what counts is what is there now.
            left = slice.bytes_after as usize;
            offset += SLICE / 4;
        }
        Ok(bytes.len() <= most)
    }

    /// Waits for an event of our own; else what it ends with.
    fn expect(
        &mut self,
        until: Instant,
        ours: impl Fn(&Event) -> bool,
    ) -> Result<Result<Event, Handed>, ClipboardError> {
        loop {
            let event = match self.link.next(Some(until), None)? {
                Next::Event(event) => event,
                Next::Late | Next::Stopped => return Ok(Err(Handed::Silent)),
            };
            if ours(&event) {
                return Ok(Ok(event));
            }
            match self.hear(&event)? {
                Heard::Nothing => {}
                Heard::Gone => return Ok(Err(Handed::Silent)),
                Heard::Replaced => return Ok(Err(Handed::Replaced)),
            }
        }
    }

    fn hear(&mut self, event: &Event) -> Result<Heard, ClipboardError> {
        let atoms = self.link.atoms;
        match event {
            Event::XfixesSelectionNotify(new) if new.selection == atoms.clipboard => {
                self.changed = true;
                Ok(if new.owner == x11rb::NONE { Heard::Gone } else { Heard::Replaced })
            }
            // The late answer to a request that was given up: its owner waits until it is taken.
            Event::SelectionNotify(late) => self.throw_away(late.requestor),
            Event::PropertyNotify(late) if late.state == Property::NEW_VALUE => self.throw_away(late.window),
            _ => Ok(Heard::Nothing),
        }
    }

    /// Lets the owner go on with an answer that nobody wants any more.
    fn throw_away(&mut self, window: Window) -> Result<Heard, ClipboardError> {
        let Some(at) = self.left.iter().position(|(left, _)| *left == window) else {
            return Ok(Heard::Nothing);
        };
        self.left[at].1 += 1;
        if self.left[at].1 > UNWANTED {
            self.left.remove(at);
            self.link.destroy(window)?;
        } else {
            self.link.server.delete_property(window, self.link.atoms.transfer).map_err(gone)?;
        }
        Ok(Heard::Nothing)
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let until = after(FAREWELL);
        while !self.left.is_empty()
            && let Ok(Next::Event(event)) = self.link.next(until, None)
            && self.hear(&event).is_ok()
        {}
    }
}
