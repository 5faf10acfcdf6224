//! Holding on X11: each who asks names a window and a property, into which the text is put; if it is long, part by
//! part, each after the last was taken away (INCR).

use std::collections::VecDeque;
use std::time::Instant;

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::{HoldError, LINGER, READERS};
use crate::clipboard::ClipboardError;
use crate::clipboard::target::Form;
use crate::clipboard::waiting::after;
use crate::clipboard::x11::{Link, NAME, Next, gone};

/// What is put into a property at once. Every server takes requests of this size.
const PART: usize = 64 * 1024;

/// One who asked for a long text, and how much it has.
struct Reader {
    window: Window,
    property: Atom,
    target: Atom,
    given: usize,
}

struct Holder<'a> {
    link: &'a Link,
    text: &'a str,
    /// Since when the clipboard is ours, by the server's clock.
    since: Timestamp,
    readers: VecDeque<Reader>,
}

pub(super) fn serve(link: &Link, text: &str, ready: impl FnOnce()) -> Result<(), HoldError> {
    let window = link.window()?;
    let since = now(link, window)?;
    link.server.set_selection_owner(window, link.atoms.clipboard, since).map_err(gone)?;
    if link.owner()? != Some(window) {
        return Err(HoldError::Refused { name: NAME });
    }
    ready();

    let mut holder = Holder { link, text, since, readers: VecDeque::new() };
    let mut end: Option<Instant> = None;
    loop {
        match link.next(end, None)? {
            Next::Event(Event::SelectionRequest(asked)) => holder.answer(&asked)?,
            Next::Event(Event::PropertyNotify(taken)) if taken.state == Property::DELETE => {
                holder.go_on(taken.window, taken.atom)?;
            }
            Next::Event(Event::SelectionClear(lost)) if lost.owner == window => {
                end = after(LINGER);
            }
            // Errors are about windows of readers that are gone.
            Next::Event(_) => {}
            Next::Late | Next::Stopped => return Ok(()),
        }
        if end.is_some() && holder.readers.is_empty() {
            // Asked and answered: a server forgets what it has not read yet when a client closes, and whoever was
            // answered last would wait for ever.
            link.owner()?;
            return Ok(());
        }
    }
}

/// The server's time, told by a property that changes: to take the clipboard without it could take it from
/// somebody who copied later.
fn now(link: &Link, window: Window) -> Result<Timestamp, ClipboardError> {
    let property = link.atoms.transfer;
    link.server.change_property8(PropMode::APPEND, window, property, AtomEnum::STRING, &[]).map_err(gone)?;
    loop {
        match link.next(after(LINGER), None)? {
            Next::Event(Event::PropertyNotify(changed)) if changed.window == window => {
                return Ok(changed.time);
            }
            Next::Event(_) => {}
            Next::Late | Next::Stopped => return Err(gone("the server does not answer")),
        }
    }
}

impl Holder<'_> {
    fn answer(&mut self, asked: &SelectionRequestEvent) -> Result<(), ClipboardError> {
        // Clients from before 1988 name no property.
        let property = if asked.property == x11rb::NONE { asked.target } else { asked.property };
        let put = asked.selection == self.link.atoms.clipboard
            && self.put(asked.requestor, property, asked.target)?;
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: if put { property } else { x11rb::NONE },
        };
        self.link
            .server
            .send_event(false, asked.requestor, EventMask::NO_EVENT, answer)
            .map(drop)
            .map_err(gone)
    }

    /// Puts what was asked for there; whether we have it.
    fn put(&mut self, window: Window, property: Atom, target: Atom) -> Result<bool, ClipboardError> {
        let (server, atoms) = (&self.link.server, &self.link.atoms);
        let replace = PropMode::REPLACE;
        if target == atoms.targets {
            let mut targets = vec![atoms.targets, atoms.timestamp, atoms.ours];
            let forms = Form::ALL.into_iter().filter(|&form| self.has(form));
            targets.extend(forms.map(|form| atoms.of_form(form)));
            server.change_property32(replace, window, property, AtomEnum::ATOM, &targets).map_err(gone)?;
            return Ok(true);
        }
        if target == atoms.timestamp {
            server
                .change_property32(replace, window, property, AtomEnum::INTEGER, &[self.since])
                .map_err(gone)?;
            return Ok(true);
        }
        if target == atoms.ours {
            server.change_property8(replace, window, property, target, &[]).map_err(gone)?;
            return Ok(true);
        }
        if !Form::ALL.into_iter().any(|form| atoms.of_form(form) == target && self.has(form)) {
            return Ok(false);
        }
        if self.text.len() <= PART {
            server.change_property8(replace, window, property, target, self.text.as_bytes()).map_err(gone)?;
            return Ok(true);
        }
        if self.readers.len() == READERS {
            self.readers.pop_front();
        }
        let look = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        server.change_window_attributes(window, &look).map_err(gone)?;
        let size = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        server.change_property32(replace, window, property, atoms.incr, &[size]).map_err(gone)?;
        self.readers.push_back(Reader { window, property, target, given: 0 });
        Ok(true)
    }

    /// The old form is Latin-1: only of ASCII are its bytes ours.
    fn has(&self, form: Form) -> bool {
        form != Form::Latin1 || self.text.is_ascii()
    }

    /// The last part was taken: the next; after the text an empty one.
    fn go_on(&mut self, window: Window, property: Atom) -> Result<(), ClipboardError> {
        let at =
            self.readers.iter().position(|reader| (reader.window, reader.property) == (window, property));
        let Some(reader) = at.and_then(|at| self.readers.get_mut(at)) else { return Ok(()) };
        let left = &self.text.as_bytes()[reader.given..];
        let part = &left[..left.len().min(PART)];
        self.link
            .server
            .change_property8(PropMode::REPLACE, window, property, reader.target, part)
            .map_err(gone)?;
        reader.given += part.len();
        if part.is_empty() {
            self.readers.retain(|reader| (reader.window, reader.property) != (window, property));
            // What else happens to its window is none of our business.
            if !self.readers.iter().any(|reader| reader.window == window) {
                let look = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
                self.link.server.change_window_attributes(window, &look).map_err(gone)?;
            }
        }
        Ok(())
    }
}
