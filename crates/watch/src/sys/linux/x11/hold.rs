//! Holding on X11: each reader names a window and a property that the text is put into; a long text in
//! parts, each after the previous one was taken (INCR).

use std::collections::VecDeque;
use std::time::Instant;

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::super::text_format::ClipboardFormat;
use super::super::{LINGER_TIME, MAX_READERS};
use super::connection::{NAME, X11Connection, X11WaitResult, connection_error};
use crate::clipboard::ClipboardResult;
use crate::clipboard::poll::deadline_after;
use crate::hold::HoldError;

/// Bytes put into a property at once. Every server accepts requests of this size.
const PART: usize = 64 * 1024;

/// A reader of a long text, and how much of it it has.
struct X11TextReader {
    window: Window,
    property: Atom,
    target: Atom,
    sent: usize,
}

struct X11SelectionHolder<'a> {
    link: &'a X11Connection,
    text: &'a str,
    /// Since when we own the clipboard, by the server's clock.
    since: Timestamp,
    readers: VecDeque<X11TextReader>,
}

pub(crate) fn serve(link: &X11Connection, text: &str, ready: impl FnOnce()) -> Result<(), HoldError> {
    let window = link.create_hidden_window()?;
    let since = server_time(link, window)?;
    link.server.set_selection_owner(window, link.atoms.clipboard, since).map_err(connection_error)?;
    if link.owner()? != Some(window) {
        return Err(HoldError::Refused { name: NAME });
    }
    ready();

    let mut holder = X11SelectionHolder { link, text, since, readers: VecDeque::new() };
    let mut end: Option<Instant> = None;
    loop {
        match link.next_event(end, None)? {
            X11WaitResult::Event(Event::SelectionRequest(asked)) => holder.answer_request(&asked)?,
            X11WaitResult::Event(Event::PropertyNotify(taken)) if taken.state == Property::DELETE => {
                holder.send_next_part(taken.window, taken.atom)?;
            }
            X11WaitResult::Event(Event::SelectionClear(lost)) if lost.owner == window => {
                end = deadline_after(LINGER_TIME);
            }
            // Errors concern windows of readers that are gone.
            X11WaitResult::Event(_) => {}
            X11WaitResult::TimedOut | X11WaitResult::Stopped => return Ok(()),
        }
        if end.is_some() && holder.readers.is_empty() {
            // A round trip: on close a server drops what it has not read yet, and the last reader would
            // wait forever.
            link.owner()?;
            return Ok(());
        }
    }
}

/// The server's time, from the event of a changed property: without it we could take the clipboard from
/// somebody who copied later.
fn server_time(link: &X11Connection, window: Window) -> ClipboardResult<Timestamp> {
    let property = link.atoms.transfer;
    link.server.change_property8(PropMode::APPEND, window, property, AtomEnum::STRING, &[])?;
    loop {
        match link.next_event(deadline_after(LINGER_TIME), None)? {
            X11WaitResult::Event(Event::PropertyNotify(changed)) if changed.window == window => {
                return Ok(changed.time);
            }
            X11WaitResult::Event(_) => {}
            X11WaitResult::TimedOut | X11WaitResult::Stopped => {
                return Err(connection_error("the server does not answer"));
            }
        }
    }
}

impl X11SelectionHolder<'_> {
    fn answer_request(&mut self, asked: &SelectionRequestEvent) -> ClipboardResult<()> {
        // Clients from before 1988 name no property.
        let property = if asked.property == x11rb::NONE { asked.target } else { asked.property };
        let put = asked.selection == self.link.atoms.clipboard
            && self.write_property(asked.requestor, property, asked.target)?;
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: if put { property } else { x11rb::NONE },
        };
        self.link.server.send_event(false, asked.requestor, EventMask::NO_EVENT, answer)?;
        Ok(())
    }

    /// Puts the requested form into the property; returns whether we have it.
    fn write_property(&mut self, window: Window, property: Atom, target: Atom) -> ClipboardResult<bool> {
        let (server, atoms) = (&self.link.server, &self.link.atoms);
        let replace = PropMode::REPLACE;
        if target == atoms.targets {
            let mut targets = vec![atoms.targets, atoms.timestamp, atoms.ours];
            let forms = ClipboardFormat::ALL.into_iter().filter(|&form| self.can_offer(form));
            targets.extend(forms.map(|form| atoms.atom_of_format(form)));
            server.change_property32(replace, window, property, AtomEnum::ATOM, &targets)?;
            return Ok(true);
        }
        if target == atoms.timestamp {
            server.change_property32(replace, window, property, AtomEnum::INTEGER, &[self.since])?;
            return Ok(true);
        }
        if target == atoms.ours {
            server.change_property8(replace, window, property, target, &[])?;
            return Ok(true);
        }
        if !ClipboardFormat::ALL
            .into_iter()
            .any(|form| atoms.atom_of_format(form) == target && self.can_offer(form))
        {
            return Ok(false);
        }
        if self.text.len() <= PART {
            server.change_property8(replace, window, property, target, self.text.as_bytes())?;
            return Ok(true);
        }
        if self.readers.len() == MAX_READERS {
            self.readers.pop_front();
        }
        let look = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        server.change_window_attributes(window, &look)?;
        let size = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        server.change_property32(replace, window, property, atoms.incr, &[size])?;
        self.readers.push_back(X11TextReader { window, property, target, sent: 0 });
        Ok(true)
    }

    /// The old form is Latin-1: our bytes are valid in it only if they are ASCII.
    fn can_offer(&self, form: ClipboardFormat) -> bool {
        form != ClipboardFormat::Latin1 || self.text.is_ascii()
    }

    /// The previous part was taken: send the next; after the text an empty one.
    fn send_next_part(&mut self, window: Window, property: Atom) -> ClipboardResult<()> {
        let at = self.readers.iter().position(|r| (r.window, r.property) == (window, property));
        let Some(reader) = at.and_then(|at| self.readers.get_mut(at)) else { return Ok(()) };
        let left = &self.text.as_bytes()[reader.sent..];
        let part = &left[..left.len().min(PART)];
        self.link.server.change_property8(PropMode::REPLACE, window, property, reader.target, part)?;
        reader.sent += part.len();
        if part.is_empty() {
            self.readers.retain(|reader| (reader.window, reader.property) != (window, property));
            // Other events of its window do not concern us.
            if !self.readers.iter().any(|reader| reader.window == window) {
                let look = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
                self.link.server.change_window_attributes(window, &look)?;
            }
        }
        Ok(())
    }
}
